"""The database: SQLite with WAL, foreign keys and a busy timeout, or whatever the URL names."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, Executable, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlmodel import Session

BUSY_TIMEOUT_MS = 10_000
WRITE = "turnfold_write"
"""The execution option that makes a connection begin with BEGIN IMMEDIATE."""


class Database:
    """Hands out transactions. A use case opens one, and it commits when the block ends without an error."""

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        # SQLite has one writer. Threads of this process queue here, where they wake at once, not in its busy timeout.
        self._turn: AbstractContextManager[Any] = Lock() if self.engine.dialect.name == "sqlite" else nullcontext()

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A snapshot; nothing is written."""
        with self.engine.connect() as connection, Session(connection) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that holds SQLite's write lock from its start, so that what it read is still true."""
        with (
            self._turn,
            self.engine.connect().execution_options(**{WRITE: True}) as connection,
            connection.begin(),
            Session(connection, join_transaction_mode="control_fully") as session,
        ):
            yield session
            session.commit()

    def dispose(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def rows(session: Session, statement: Executable, values: Mapping[str, Any]) -> CursorResult[*tuple[Any, ...]]:
    """Run a statement on the session's transaction without the ORM in between: half the cost of a small query."""
    return session.connection().execute(statement, values)


def make_engine(url: str) -> Engine:
    """An engine for the URL of TURNFOLD_DATABASE_URL."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True, hide_parameters=True)
    # Parameters are chat text: no error message may repeat them.
    engine = create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}, hide_parameters=True)
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
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -16000",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    if connection.get_execution_options().get(WRITE, False):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        # Waits for nobody and cannot fail, so the driver may do it itself: SQLAlchemy takes as long as for a query.
        connection.connection.driver_connection.execute("BEGIN")
