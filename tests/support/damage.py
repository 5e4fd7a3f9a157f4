"""Hurting a database in ways its own rules forbid."""

import sqlite3
from contextlib import closing
from pathlib import Path


def hurt(database: Path, *statements: str) -> None:
    """Run SQL with foreign keys and checks turned off."""
    with closing(sqlite3.connect(database, timeout=10, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute("COMMIT")


def texts(database: Path) -> list[tuple[str, str, str, str]]:
    """What every message says, in order, with its chat and id."""
    with closing(sqlite3.connect(database, timeout=10)) as connection:
        return connection.execute(
            "SELECT c.id, m.id, m.role, m.content FROM messages m JOIN chats c ON c.key = m.chat_key ORDER BY m.key"
        ).fetchall()


def backups(database: Path, why: str = "before-repair") -> list[Path]:
    """The copies beside it."""
    return sorted(database.parent.glob(f"{database.name}.{why}-*"))
