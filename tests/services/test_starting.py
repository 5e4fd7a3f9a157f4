"""What each beat of a process looks for besides work."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.starting import Starting
from app.store import events
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import add_chat

HOUR_MS = 60 * 60 * 1000


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'turnfold.db'}", busy_timeout_s=0.1)
    migrate(database.engine)
    yield database
    database.dispose()


def newest(db: Database, chat_key: int) -> int:
    with db.read() as session:
        return events.newest(session, [chat_key])[chat_key]


def test_old_events_go(db: Database) -> None:
    """Events of more than a day ago are forgotten; where none are, nothing is written."""
    with db.write() as session:
        chat_key = add_chat(session).key
        events.add(session, chat_key, "summarized", {})
    starting = Starting(db, resume_jobs=True)
    with db.write():  # whoever would write now would fail
        assert starting.recover("me") == []
    assert newest(db, chat_key) > 0
    with db.write() as session:
        session.connection().exec_driver_sql(f"UPDATE events SET created_at = {now_ms() - 26 * HOUR_MS}")
    starting.recover("me")
    assert newest(db, chat_key) == 0
