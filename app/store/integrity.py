"""What SQLite says of a database, and what in it belongs to nothing."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Index, func, select
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlmodel import Session, SQLModel, col

from app.resources import resource_dir
from app.store import jobs
from app.store.clock import now_ms
from app.store.kept import KEPT_MS
from app.store.kept_tables import KeptMessage
from app.store.tables import Chat, Job

_MOST = 100
_KINDS = {
    "indexes": ("missing from index", "wrong # of entries in index", "non-unique entry in index"),
    "search": ("FTS5",),  # from SQLite 3.44 on
    "rows": ("CHECK constraint failed", "NULL value in", "NUMERIC value in", "TEXT value in"),
}
"""Words of SQLite's lines, and what they are about."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Lines of SQLite's integrity check: of `indexes` that can be built anew, of the index of words for `search`, of
    `rows` that break a rule of their table, and of all that is `broken` for good.
    """

    indexes: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def sort_lines(lines: Iterable[str]) -> Damage:
    """The answer of PRAGMA integrity_check, sorted."""
    found: dict[str, list[str]] = {"indexes": [], "search": [], "rows": [], "broken": []}
    for line in lines:
        if line != "ok":
            found[next((kind for kind, words in _KINDS.items() if any(word in line for word in words)), "broken")] += [
                line
            ]
    return Damage(**{kind: tuple(some) for kind, some in found.items()})


def check(connection: Connection) -> Damage:
    """Read the whole database, and see whether it is one."""
    return sort_lines(str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})"))


def check_raw(connection: sqlite3.Connection) -> Damage:
    """The same on a connection of the driver's own."""
    return sort_lines(str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_MOST})"))


Orphan = tuple[str, int | None, str]
"""A row that points at nothing: its table, its number, and the table it points into."""


def orphans(connection: Connection) -> list[Orphan]:
    """Rows that point at rows that are not there."""
    found: list[Any] = list(connection.exec_driver_sql("PRAGMA foreign_key_check"))
    return [(row[0], row[1], row[2]) for row in found]


def rebuild_indexes(connection: Connection) -> None:
    """Build every index anew from its table. Raises IntegrityError where rows are not unique that must be."""
    connection.exec_driver_sql("REINDEX")


def missing_indexes(connection: Connection) -> list[Index]:
    """The indexes that the tables should have and do not."""
    there = {row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'index'")}
    tables = SQLModel.metadata.sorted_tables
    return [index for table in tables for index in table.indexes if index.name not in there]


def build_indexes(indexes: Iterable[Index], connection: Connection) -> None:
    """Build indexes that are missing. Raises IntegrityError where rows are not unique that must be."""
    for index in indexes:
        index.create(connection)


def delete_rows(connection: Connection, found: Iterable[Orphan]) -> None:
    """Take rows out of their tables."""
    for table, number, _ in found:
        connection.exec_driver_sql(f"DELETE FROM {table} WHERE rowid = ?", (number,))


def revision(connection: Connection) -> str | None:
    """Which schema the database says it has; None if it says nothing."""
    return MigrationContext.configure(connection).get_current_revision()


def known_revisions() -> set[str]:
    """The schemas that this version can bring to its own."""
    scripts = ScriptDirectory(str(resource_dir("migrations")))
    return {script.revision for script in scripts.walk_revisions()}


def chat_ids(session: Session) -> list[str]:
    """The ids of all chats, the oldest first. Sessions are none."""
    return list(
        session.execute(select(col(Chat.id)).where(col(Chat.session_of).is_(None)).order_by(col(Chat.key))).scalars()
    )


def count_overdue(session: Session) -> int:
    """How many deleted or overwritten messages have been kept longer than they are to be."""
    old = select(func.count()).select_from(KeptMessage).where(col(KeptMessage.kept_at) < now_ms() - KEPT_MS)
    return int(session.execute(old).scalar_one())


def dead_jobs(session: Session) -> list[Job]:
    """Jobs that count as running though their process has ended."""
    running = select(Job).where(col(Job.state) == "running")
    return [job for job in session.execute(running).scalars() if jobs.is_dead(job)]


# What the index of words must hold (migrations/versions/0003_search.py): the rows with a text, by even and odd numbers.
_TEXTS = (
    "SELECT 2 * key AS number, chat_key, content AS said FROM messages WHERE content <> ''"
    " UNION ALL SELECT 2 * key + 1, chat_key, text FROM snippets WHERE text <> ''"
)
_HELD = "SELECT id FROM search_words_docsize"


def has_search(connection: Connection) -> bool:
    """Whether there is an index of words."""
    return connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'search_words'").first() is not None


def is_search_sound(connection: Connection) -> bool:
    """Whether the index of words is whole and holds each text. It takes a transaction that may write to ask that.

    Which words it holds of a text it cannot be asked: it has no texts of its own.
    """
    try:
        connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('integrity-check')")
    except DatabaseError as error:
        if isinstance(error, OperationalError):
            raise
        return False
    numbers = f"SELECT number FROM ({_TEXTS})"
    for one, other in ((numbers, _HELD), (_HELD, numbers)):
        if connection.exec_driver_sql(f"SELECT 1 FROM ({one} EXCEPT {other}) LIMIT 1").first() is not None:
            return False
    return True


def refill_search(connection: Connection) -> None:
    """Fill the index of words anew."""
    connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('delete-all')")
    texts = f"SELECT number, 'c' || chat_key, turnfold_words(said) FROM ({_TEXTS}) ORDER BY number"
    connection.exec_driver_sql(f"INSERT INTO search_words (rowid, chat, words) {texts}")
