"""What SQLite itself says about a database."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

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


def orphans(connection: Connection) -> list[tuple[str, int | None, str]]:
    """Rows that point at rows that are not there: their table, their number and the other table."""
    found: list[Any] = list(connection.exec_driver_sql("PRAGMA foreign_key_check"))
    return [(row[0], row[1], row[2]) for row in found]


def rebuild_indexes(connection: Connection) -> None:
    """Build every index anew from its table. Raises IntegrityError where rows are not unique that must be."""
    connection.exec_driver_sql("REINDEX")
