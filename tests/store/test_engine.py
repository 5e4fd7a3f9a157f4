"""Transactions and connections."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlmodel import col

from app.store import chats
from app.store.engine import Database, make_engine, rows, sqlite_file
from app.store.tables import Chat
from tests.support.rows import add_chat, add_messages

ROUTE_THREADS, AWAITED_THREADS = 40, 32
WRITER = """
import sys
from app.store import chats, messages
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import message

db, name = Database(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
migrate(db.engine)
for number in range(50):
    with db.write() as session:
        chat = chats.find(session, "c") or chats.add(session, "c", {})
        place = chats.count_messages(session, chat.key)
        messages.insert_many(session, [message(chat.key, place, id=f"{name}{number}")])
"""


@pytest.fixture
def impatient(db: Database) -> Iterator[Database]:
    """The same database for one that waits for a hundredth of a second only."""
    database = Database(str(db.engine.url), busy_timeout_s=0.01)
    yield database
    database.dispose()


def titles(db: Database) -> list[str | None]:
    with db.read() as session:
        return list(session.execute(select(col(Chat.title))).scalars())


def test_a_block_commits(db: Database) -> None:
    """What a block wrote is there after it."""
    with db.write() as session:
        chats.add(session, "c", {"title": "kept"})
    assert titles(db) == ["kept"]


def fail_after_writing(db: Database) -> None:
    with db.write() as session:
        chats.add(session, "c", {"title": "lost"})
        raise KeyError


def test_an_error_undoes_all(db: Database) -> None:
    """A block that ends with an error has written nothing, and the next one can begin."""
    with pytest.raises(KeyError):
        fail_after_writing(db)
    assert titles(db) == []
    test_a_block_commits(db)


def test_a_read_sees_one_moment(db: Database) -> None:
    """What is committed while a read goes on is not seen by it, and does not wait for it."""
    with db.read() as session:
        assert chats.find(session, "c") is None
        test_a_block_commits(db)
        assert chats.find(session, "c") is None
    assert titles(db) == ["kept"]


def test_a_writer_of_this_process_that_does_not_end(impatient: Database) -> None:
    """Whoever waits too long for another thread's transaction is told that the database is locked."""
    with impatient.write(), pytest.raises(OperationalError, match="database is locked"), impatient.write():
        pass
    with impatient.write() as session:
        add_chat(session)


def test_a_writer_of_another_process_that_does_not_end(impatient: Database, tmp_path: Path) -> None:
    """The same where the lock is another process's; reading goes on."""
    other = sqlite3.connect(tmp_path / "turnfold.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="database is locked"), impatient.write():
        pass
    assert titles(impatient) == []
    other.close()
    with impatient.write() as session:
        add_chat(session)


def test_every_thread_finds_a_connection(impatient: Database) -> None:
    """All threads that routes and awaited calls can use may read at once, and few connections stay open after."""
    with ExitStack() as reading:
        for _ in range(ROUTE_THREADS + AWAITED_THREADS):
            reading.enter_context(impatient.read()).execute(text("SELECT count(*) FROM chats"))
    with impatient.write():
        pass
    pool = impatient.engine.pool
    assert pool.status().startswith("Pool size: 8  Connections in pool: 8")


def test_how_connections_are_set(db: Database) -> None:
    """Every connection minds foreign keys and waits for the disk; its cache holds 4 MB."""
    expected = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "cache_size": -4000, "busy_timeout": 30_000}
    with db.read() as session:
        found = {name: session.execute(text(f"PRAGMA {name}")).scalar_one() for name in expected}
    assert found == expected


def test_errors_tell_no_text(db: Database) -> None:
    """What was to be stored is not in the message of an error."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 1)
        with pytest.raises(IntegrityError) as caught, session.begin_nested():
            rows(session, text("UPDATE messages SET role = :secret"), {"secret": "my love"})
    assert "my love" not in str(caught.value)


def test_rows_sees_what_was_flushed(db: Database) -> None:
    """Running a statement past the ORM flushes nothing: a change must be flushed to be seen by it."""
    query = text("SELECT title FROM chats")
    with db.write() as session:
        chat = add_chat(session)
        chat.title = "new"
        assert rows(session, query, {}).scalar() is None
        session.flush()
        assert rows(session, query, {}).scalar() == "new"


def test_two_processes_write(tmp_path: Path) -> None:
    """Two processes that make, migrate and fill one database at once do so without an error or a lost message."""
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    folder = Path(__file__).parents[2]
    command = [sys.executable, "-W", "error", "-c", WRITER, url]
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    running = [subprocess.Popen([*command, name], cwd=folder, **pipes) for name in ("first", "second")]
    for process in running:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[1] for process in running]
    assert said == ["", ""]
    db = Database(url)
    with db.read() as session:
        assert chats.count_messages(session, 1) == 100
        ids = set(session.execute(text("SELECT id FROM messages")).scalars())
    assert ids == {f"{name}{number}" for name in ("first", "second") for number in range(50)}
    db.dispose()


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///chats.db", Path("chats.db")),
        ("sqlite:////data/chats.db", Path("/data/chats.db")),
        ("sqlite://", None),
        ("sqlite:///:memory:", None),
        ("postgresql://localhost/chats", None),
    ],
)
def test_the_file_of_a_url(url: str, file: Path | None) -> None:
    """Only SQLite in a file has a file."""
    assert sqlite_file(url) == file


def test_a_database_in_memory() -> None:
    """SQLite in memory opens too."""
    engine = make_engine("sqlite://")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1
    engine.dispose()
