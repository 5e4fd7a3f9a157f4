"""The database: SQLite with WAL, foreign keys and a busy timeout, or whatever the URL names."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, Executable, UpdateBase, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import OperationalError
from sqlmodel import Session

from app.store import words
from app.store.queueing import FairLock

BUSY_TIMEOUT_S = 30.0
"""How long a transaction waits for SQLite's write lock, or for a connection, before it fails: longer than a slow disk
or a large sync holds it, shorter than clients wait for an answer."""

WRITE = "turnfold_write"
"""The execution option that makes a connection begin with BEGIN IMMEDIATE."""

# 40 threads carry routes and 32 at most what is awaited: each finds a connection at once. Few stay open between.
_SQLITE_POOL = {"pool_size": 8, "max_overflow": 72, "pool_use_lifo": True}
# A server takes 100 by default, of all its clients.
_SERVER_POOL = {"pool_size": 10, "max_overflow": 30, "pool_use_lifo": True, "pool_pre_ping": True}


class Database:
    """Hands out transactions. A use case opens one, and it commits when the block ends without an error."""

    def __init__(self, url: str, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.engine = make_engine(url, busy_timeout_s)
        self._busy_timeout_s = busy_timeout_s
        self._turn = FairLock()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that writes nothing.

        SQLite shows it one moment, whatever is committed meanwhile, and makes it wait for nobody. On PostgreSQL each
        statement sees its own moment; before that database is served, this must ask for REPEATABLE READ.
        """
        with self.engine.connect() as connection, Session(connection) as session:
            connection.begin()  # nobody commits it; the session itself takes long to begin one, and is not always asked
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction whose reads are still true when it commits.

        On SQLite it holds the write lock from its start: no other transaction writes meanwhile, in no process.
        Raises OperationalError ("database is locked") when that lock is not to be had in time. On PostgreSQL others
        write beside it; before that database is served, it must lock the chat's row first (SELECT … FOR UPDATE).
        """
        with (
            self._alone(),
            self.engine.connect().execution_options(**{WRITE: True}) as connection,
            connection.begin(),
            Session(connection, join_transaction_mode="control_fully") as session,
        ):
            yield session
            session.commit()

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """SQLite has one writer. Threads of this process queue here, in turn; its own timeout knows no order."""
        if self.engine.dialect.name != "sqlite":
            yield
            return
        if not self._turn.acquire(self._busy_timeout_s):
            raise OperationalError("BEGIN IMMEDIATE", None, sqlite3.OperationalError("database is locked"))
        try:
            yield
        finally:
            self._turn.release()


def rows(session: Session, statement: Executable, values: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
    """Run a statement on the session's transaction without the ORM in between: half the cost of a small query.

    Nothing is flushed before it: changes to objects that this statement is to see need a `session.flush()`. And the
    objects a session holds do not notice what it changes.
    """
    return session.connection().execute(statement, values)


def changed(session: Session, statement: UpdateBase) -> int:
    """Run an UPDATE or DELETE through the ORM; how many rows it changed."""
    result = session.execute(statement)
    assert isinstance(result, CursorResult)  # as for every statement that gives back no rows
    return result.rowcount


def make_engine(url: str, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Engine:
    """An engine for the URL of TURNFOLD_DATABASE_URL."""
    parsed = make_url(url)
    # Parameters are chat text: no error message may repeat them.
    options: dict[str, Any] = {"hide_parameters": True, "pool_timeout": busy_timeout_s}
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, **options, **_SERVER_POOL)
    if sqlite_file(url) is None:
        del options["pool_timeout"]  # in memory each thread has its own database, and no pool
    else:
        options |= _SQLITE_POOL
    engine = create_engine(parsed, connect_args={"timeout": busy_timeout_s}, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def execute_outside(connection: Connection, statement: str) -> None:
    """Run a statement on SQLite while no transaction is open, and open none for it as SQLAlchemy would."""
    raw: Any = connection.connection.driver_connection
    raw.execute(statement)


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite database; None for others and for one in memory."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def _prepare_sqlite(connection: DBAPIConnection, _record: object) -> None:
    # The driver's own transaction control begins late; ours begins where the block begins.
    raw: Any = connection
    raw.isolation_level = None
    cursor = connection.cursor()
    # The cache is each connection's own. Above 4 MB nothing gets faster: the system keeps the file's pages too.
    # Mapping the file (mmap_size) reads more slowly, and counts its pages again for every connection.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -4000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    words.teach(raw)


def _begin_sqlite(connection: Any) -> None:
    if connection.get_execution_options().get(WRITE, False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        # Waits for nobody and cannot fail, so the driver may do it itself: SQLAlchemy takes as long as for a query.
        connection.connection.driver_connection.execute("BEGIN")
