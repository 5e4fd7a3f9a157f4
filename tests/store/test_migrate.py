"""Bringing databases to the present schema without losing a row."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlmodel import SQLModel

from app.errors import Conflict
from app.store import events, jobs, messages, search
from app.store.engine import Database, make_engine
from app.store.migrate import is_current, migrate, schema_change
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at
from tests.support.searched import add_texts, found

TABLES = sorted(SQLModel.metadata.tables)
INDEX = {search.INDEX, *(f"{search.INDEX}_{part}" for part in ("config", "data", "docsize", "idx"))}
TRIGGERS = {f"search_{table}_{event}" for table in ("messages", "snippets") for event in ("insert", "update", "delete")}


@pytest.fixture
def blank(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{tmp_path / 'blank.db'}")
    yield engine
    engine.dispose()


def fill(db: Database) -> None:
    """A chat with a message under a part of a merged snippet, a deleted newest snippet, a job and settings."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 4)
        merged = add_snippet(session, chat.key, 1, 0)
        part = add_snippet(session, chat.key, 0, 0, state="absorbed", parent_key=merged)
        messages.cover(session, keys_at(session, chat.key, [0, 1]), LAYERED, part)
        jobs.add(session, chat.key, "fold", 1)


def counted(engine: Engine) -> dict[str, int]:
    """How many rows each table has."""
    with engine.connect() as connection:
        return {table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in TABLES}


def drop_twice(connection: Connection) -> None:
    """A migration that works at first, then fails."""
    for _ in range(2):
        connection.exec_driver_sql("DROP TABLE jobs")


def enforced(engine: Engine) -> bool:
    """Whether the connection that the pool hands out minds foreign keys."""
    with engine.connect() as connection:
        return bool(connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one())


def created(engine: Engine) -> dict[str, set[str]]:
    """What each table was made with, clause by clause: reflection sees neither AUTOINCREMENT nor partial indexes."""
    statement = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT IN ('alembic_version')"
    with engine.connect() as connection:
        found = connection.exec_driver_sql(statement).all()
    return {name: clauses(" ".join(sql.replace('"', "").split())) for name, sql in found}


def clauses(sql: str) -> set[str]:
    """What stands between the commas of a statement, those in brackets apart: a column that was added comes last."""
    head, _, rest = sql.partition("(")
    body, _, tail = rest.rpartition(")")
    depth, parts = 0, [""]
    for letter in body:
        depth += (letter == "(") - (letter == ")")
        parts = [*parts, ""] if letter == "," and not depth else [*parts[:-1], parts[-1] + letter]
    return {head.strip(), tail.strip(), *(part.strip() for part in parts)}


def test_from_nothing_to_what_the_tables_say(blank: Engine) -> None:
    """A blank database becomes exactly what tables.py describes, constraints and partial indexes included, and beside
    that has the search index and the triggers that keep it.
    """
    migrate(blank)
    assert is_current(blank)
    with blank.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": search.is_described})
        assert compare_metadata(context, SQLModel.metadata) == []
    direct = create_engine("sqlite://")
    SQLModel.metadata.create_all(direct)
    made, described = created(blank), created(direct)
    assert {name: made[name] for name in described} == described
    assert made.keys() - described.keys() == INDEX | TRIGGERS
    direct.dispose()


def test_alembic_finds_nothing_to_do(db: Database) -> None:
    """`alembic check` has nothing to add to the migrations."""
    with schema_change(db.engine) as config:
        command.check(config)


def test_down_and_up_again(blank: Engine) -> None:
    """Every migration can be taken back, and run again."""
    migrate(blank)
    first = created(blank)
    with schema_change(blank) as config:
        command.downgrade(config, "base")
    assert not is_current(blank)
    assert set(created(blank)) <= {"sqlite_sequence"}
    migrate(blank)
    assert is_current(blank)
    assert created(blank) == first


def test_texts_of_older_databases_are_found(db: Database) -> None:
    """What was said before there was an index is in it after the migration, in every script."""
    with db.write() as session:
        chat_key = add_chat(session).key
    with schema_change(db.engine) as config:
        command.downgrade(config, "0002")
    with db.write() as session:
        add_texts(session, chat_key, "the gate", "我们去东京了", None, "")
        add_snippet(session, chat_key, 0, 0, id="s", text="An old gate.")
    migrate(db.engine)
    with db.read() as session:
        assert sorted(found(session, chat_key, "gate")) == ["m0", "s"]
        assert found(session, chat_key, "东京") == ["m1"]


@pytest.mark.parametrize("table", ["chats", "snippets", "jobs", "messages"])
def test_a_rebuilt_table_loses_nothing(db: Database, table: str) -> None:
    """A table that is built anew, as SQLite changes tables, keeps its rows and those that point at them."""
    fill(db)
    before = counted(db.engine)
    with schema_change(db.engine) as config:
        operations = Operations(MigrationContext.configure(config.attributes["connection"]))
        with operations.batch_alter_table(table, recreate="always"):
            pass
    assert counted(db.engine) == before
    assert enforced(db.engine)


def test_no_key_of_an_event_comes_again(db: Database) -> None:
    """Events are kept with their keys both ways, but for those without a chat on the way back; the next key is new
    though all of them are gone.
    """
    with db.write() as session:
        chat_key = add_chat(session).key
        for key in (chat_key, None, None):
            events.add(session, key, "summarized", {})
        newest = events.newest_of_all(session)
    with schema_change(db.engine) as config:
        command.downgrade(config, "0007")
    with db.engine.begin() as connection:
        assert connection.execute(text("SELECT max(key) FROM events")).scalar() == newest - 2
        connection.execute(text("DELETE FROM events"))
    migrate(db.engine)
    with db.write() as session:
        events.add(session, chat_key, "summarized", {})
        assert events.newest_of_all(session) == newest + 1


def test_a_migration_that_leaves_orphans_is_undone(db: Database) -> None:
    """A change after which a row points at nothing is refused, and the database is as it was."""
    fill(db)
    before = counted(db.engine)
    with pytest.raises(Conflict, match="Nothing was changed"), schema_change(db.engine) as config:
        config.attributes["connection"].exec_driver_sql("DELETE FROM chats")
    assert counted(db.engine) == before
    assert enforced(db.engine)


def test_a_migration_that_fails_is_undone(db: Database) -> None:
    """All migrations are one transaction: after an error the schema is as it was, and foreign keys are minded."""
    before = created(db.engine)
    with pytest.raises(OperationalError, match="no such table"), schema_change(db.engine) as config:
        drop_twice(config.attributes["connection"])
    assert created(db.engine) == before
    assert enforced(db.engine)


def test_a_database_of_a_newer_version(db: Database, tmp_path: Path) -> None:
    """A schema this version does not know is left alone, with the advice to update."""
    with sqlite3.connect(tmp_path / "turnfold.db") as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    other.close()
    assert not is_current(db.engine)
    with pytest.raises(Conflict, match=r"9999.*update Turnfold"):
        migrate(db.engine)


def test_migrating_a_current_database_waits_for_nobody(db: Database) -> None:
    """Where nothing is to be done no lock is asked for: another process may be writing."""
    with db.write():
        migrate(db.engine)
