"""A whole database is examined, and put right where there is one right way."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from cryptography.fernet import Fernet

from app.services.checkup import Checkup, Report
from app.store.migrate import is_current, schema_change
from app.store.vault import open_vault
from tests.support.checks import assert_promises
from tests.support.damage import backups, hurt, texts
from tests.support.folded import folded_database, repairing

SHUT = open_vault("another secret", None).lock("sk-lost")
UNDONE = "INSERT INTO undo_steps (chat_key, kind, snippet_key, made_at) VALUES (1, 'edit', 7777, 0)"
KEPT = (
    "INSERT INTO kept_messages (chat_key, id, why, position, kept_at, snapshot)"
    " VALUES ({}, 'gone', 'deleted', 0, {}, '{{}}')"
)
TOLD = "INSERT INTO events (chat_key, kind, data, created_at) VALUES (7777, 'promoted', '{}', 0)"
VIEWED = (
    "INSERT INTO views (chat_key, name, options, revision, created_at, updated_at) VALUES (7777, 'a', '{}', 0, 0, 0)",
    "INSERT INTO diagnostics (chat_key, turn, data, created_at) VALUES (7777, 0, '{}', 0)",
)
DOUBLED = ("DROP INDEX uq_messages_place", "UPDATE messages SET position = 7 WHERE position = 8")


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folded_database(tmp_path_factory.mktemp("folded"))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "turnfold.db"


@pytest.fixture
def checkup(folded: Path, database: Path) -> Iterator[Checkup]:
    with repairing(folded, database) as repairs:
        yield Checkup(repairs.db, repairs, open_vault("secret", database))


def outcome(report: Report) -> dict[str, bool]:
    """Codes of what was found, and whether it is fixed."""
    return {found.what.code: found.what.fixed for found in report.found}


def test_a_database_that_is_well(checkup: Checkup, database: Path) -> None:
    """Nothing is found, nothing copied, and every chat is looked at."""
    seen: list[tuple[int, int]] = []
    assert checkup.run(fix=True, watch=lambda done, total: seen.append((done, total))) == Report([], None)
    assert backups(database) == []
    assert seen == [(0, 1)]


def _cripple_index(database: Path) -> None:
    """Change rows while an index of theirs is not noticed."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        [row] = connection.execute("SELECT * FROM sqlite_master WHERE name = 'ix_messages_name'").fetchall()
        connection.execute("DELETE FROM sqlite_master WHERE name = 'ix_messages_name'")
    hurt(database, "UPDATE messages SET name = 'Somebody else' WHERE position = 3")
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)


def running(*statements: str) -> Callable[[Path], None]:
    return lambda database: hurt(database, *statements)


JOB = (
    "INSERT INTO jobs (id, chat_key, kind, state, done, total, failed, usage, lease_owner, lease_until, created_at)"
    " VALUES ('j', 1, 'fold', 'running', 0, 1, 0, '{}', 'nobody', 1000, 1000)"
)
DAMAGES: dict[str, Callable[[Path], None]] = {
    "indexes_damaged": _cripple_index,
    "indexes_missing": running("DROP INDEX ix_messages_name"),
    "indexes_missing, whose rows are double": running(*DOUBLED),
    "rows_left_over": running(UNDONE),
    "rows_left_over, of a chat that was watched": running(TOLD),
    "rows_left_over, of a chat that was seen in views": running(*VIEWED),
    "rows_wrong": running("UPDATE messages SET hidden = 1 WHERE position = 9"),
    "search_damaged": running(
        "DELETE FROM search_words_docsize WHERE id IN (SELECT id FROM search_words_docsize LIMIT 3)"
    ),
    "jobs_dead": running(JOB),
    "kept_overdue": running(KEPT.format(1, 1000)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found_and_put_right(checkup: Checkup, database: Path, damage: str) -> None:
    """A look finds each kind of damage and leaves it; a repair copies the database once, mends all, loses no text."""
    DAMAGES[damage](database)
    said = texts(database)
    found = checkup.run()
    assert found.backup is None
    assert damage.split(",")[0] in outcome(found)
    assert not any(outcome(found).values())
    assert backups(database) == []
    repaired = checkup.run(fix=True)
    assert outcome(repaired) == dict.fromkeys(outcome(found), True)
    assert repaired.backup == backups(database)[0]
    assert checkup.run().found == []
    assert_promises(database, "c", 2)
    assert texts(database) == said


UNFIXED = {
    "rows_lost": KEPT.format(99, 2**53),
    "keys_unreadable": (
        "INSERT INTO connections (name, provider, encrypted_api_key, updated_at)"
        f" VALUES ('remote', 'openai', '{SHUT}', 0)"
    ),
    "unreadable": "UPDATE chats SET settings = json_set(settings, '$.layered.snippets_per_layer', 'many')",
    "schema_unknown": "UPDATE alembic_version SET version_num = '9999'",
}


@pytest.mark.parametrize("damage", UNFIXED)
def test_what_only_a_person_can_mend_is_left(checkup: Checkup, database: Path, damage: str) -> None:
    """It is told, and nothing is copied for it."""
    hurt(database, UNFIXED[damage])
    assert outcome(checkup.run(fix=True)) == {damage: False}
    assert backups(database) == []


def test_a_file_with_broken_pages(checkup: Checkup, database: Path) -> None:
    """A damaged file is told with what to do, and nothing is written to it."""
    checkup.db.dispose()
    size = database.stat().st_size
    with database.open("rb+") as file:
        file.seek(size - 30 * 4096)
        file.write(b"\xff" * 30 * 4096)
    before = database.read_bytes()
    report = checkup.run(fix=True)
    assert "database_damaged" in outcome(report)
    assert not any(outcome(report).values())
    assert "turnfold restore" in next(one for one in report.found if one.chat_id is None).what.detail
    checkup.db.dispose()
    assert database.read_bytes() == before


def test_a_file_that_is_no_database(checkup: Checkup, database: Path) -> None:
    """What has no header of SQLite's is damaged too."""
    checkup.db.dispose()
    database.write_bytes(Fernet.generate_key() * 200)
    assert outcome(checkup.run(fix=True)) == {"database_damaged": False}


def test_an_older_schema(checkup: Checkup, database: Path) -> None:
    """A database that was never migrated is told, and migrated by a repair; the copy is of before."""
    with schema_change(checkup.db.engine) as config:
        command.downgrade(config, "0001")
    assert outcome(checkup.run()) == {"schema_old": False}
    report = checkup.run(fix=True)
    assert outcome(report)["schema_old"]
    assert report.backup in backups(database)
    assert is_current(checkup.db.engine)
