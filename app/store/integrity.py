"""What SQLite says of a database, and what in it belongs to nothing."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Index, func, select
from sqlmodel import Session, SQLModel, col

from app.resources import resource_dir
from app.store import jobs
from app.store.clock import now_ms
from app.store.history import KEPT_MS
from app.store.kept_tables import KeptMessage
from app.store.tables import Chat, Job

_MOST = 100
_INDEX = ("missing from index", "wrong # of entries in index", "non-unique entry in index")
_ROWS = ("CHECK constraint failed", "NULL value in", "NUMERIC value in", "TEXT value in")


@dataclass(frozen=True, slots=True)
class Damage:
    """Lines of SQLite's integrity check: of `indexes` that can be built anew, of `rows` that break a rule of their
    table, and of all that is `broken` for good.
    """

    indexes: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def sort_lines(lines: Iterable[str]) -> Damage:
    """The answer of PRAGMA integrity_check, sorted."""
    indexes, rows, broken = [], [], []
    for line in lines:
        if line == "ok":
            continue
        if any(words in line for words in _INDEX):
            indexes.append(line)
        elif any(words in line for words in _ROWS):
            rows.append(line)
        else:
            broken.append(line)
    return Damage(tuple(indexes), tuple(rows), tuple(broken))


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
    """The ids of all chats, the oldest first."""
    return list(session.execute(select(col(Chat.id)).order_by(col(Chat.key))).scalars())


def count_overdue(session: Session) -> int:
    """How many deleted or overwritten messages have been kept longer than they are to be."""
    old = select(func.count()).select_from(KeptMessage).where(col(KeptMessage.kept_at) < now_ms() - KEPT_MS)
    return int(session.execute(old).scalar_one())


def dead_jobs(session: Session) -> list[Job]:
    """Jobs that count as running though their process has ended."""
    running = select(Job).where(col(Job.state) == "running")
    return [job for job in session.execute(running).scalars() if jobs.is_dead(job)]
