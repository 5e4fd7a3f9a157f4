"""What happened, as rows: read in order after a key, gone with their chat, kept for a day."""

from typing import Any

import pytest
from sqlalchemy import ClauseElement, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col

from app.store import chats, events, jobs
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.tables import Event
from tests.support.rows import add_chat

HOUR_MS = 60 * 60 * 1000


def kinds(found: list[events.Noted]) -> list[str]:
    return [one.kind for one in found]


def note_twice(session: Session, chat_key: int, no_chat: int) -> None:
    """An event of a chat, and one that the database refuses."""
    for key in (chat_key, no_chat):
        events.add(session, key, "summarized", {})


def age(session: Session, up_to: int, hours: float) -> None:
    """Make the events up to a key so old."""
    old = update(Event).where(col(Event.key) <= up_to).values(created_at=now_ms() - round(hours * HOUR_MS))
    session.execute(old)


def test_reading_on_after_a_key(db: Database) -> None:
    """A chat's events come in the order of their keys, those after a key alone, and no more than asked for; those of
    another chat do not.
    """
    with db.write() as session:
        chat, other = add_chat(session).key, add_chat(session, "other").key
        created = events.newest(session, [chat])[chat]
        for kind in ("summarized", "promoted", "error"):
            events.add(session, chat, kind, {"of": kind})
            events.add(session, other, "job", {})
    with db.read() as session:
        found = events.of_chat(session, chat, created, 100)
        assert kinds(found) == ["summarized", "promoted", "error"]
        assert found[0].data == {"of": "summarized"}
        assert events.of_chat(session, chat, found[0].key, 100) == found[1:]
        assert events.of_chat(session, chat, created, 2) == found[:2]
        assert events.newest(session, [chat]) == {chat: found[-1].key}


def test_reading_on_of_all(db: Database) -> None:
    """The events of all chats and of the server come in the order of their keys, with their chats; progress and
    sessions are passed over, and what was passed over is not looked at again.
    """
    with db.write() as session:
        start = events.newest_of_all(session)
        chat = add_chat(session).key
        other = chats.add(session, "other", {"session_of": chat}).key
        told = [(chat, "summarized"), (None, "settings"), (chat, events.PROGRESS), (other, "job")]
        for chat_key, kind in told:
            events.add(session, chat_key, kind, {"n": 1})
    with db.read() as session:
        found = events.of_all(session, start, 100)
        mine = [(one.chat_id, one.kind) for one in found.found if one.data == {"n": 1}]
        assert mine == [("c", "summarized"), (None, "settings")]
        assert (found.through, found.full) == (events.newest_of_all(session), False)
        assert events.of_all(session, found.through, 100) == events.Stretch([], found.through, full=False)
        first = events.of_all(session, found.through - 4, 2)
        assert ([one.kind for one in first.found], first.full) == (["summarized", "settings"], True)
        rest = events.of_all(session, first.through, 2)
        assert (rest.found, rest.through, rest.full) == ([], found.through, True)


class Server:
    """A connection to PostgreSQL, and a session on it, that note what they are told to do."""

    dialect = make_url("postgresql://").get_dialect()()

    def __init__(self) -> None:
        self.told: list[str] = []

    def connection(self) -> "Server":
        return self

    def execute(self, statement: ClauseElement, _values: object) -> None:
        self.told.append(str(statement.compile(dialect=self.dialect)))


def test_keys_are_drawn_in_turn() -> None:
    """Where transactions write beside each other, each waits for its turn before it draws a key: a reader of all that
    has seen a key has seen all before it.
    """
    server: Any = Server()
    events.add(server, 1, "summarized", {})
    turn, row = server.told
    assert turn.startswith("SELECT pg_advisory_xact_lock(")
    assert row.startswith("INSERT INTO events")


def test_progress_is_for_those_who_watch_the_job(db: Database) -> None:
    """The progress of a job is among the job's events alone, all else that happens in it among the chat's alone."""
    with db.write() as session:
        chat = add_chat(session).key
        job = jobs.add(session, chat, "fold", 1).key
        events.add(session, chat, "summarized", {}, job)
        events.add(session, chat, events.PROGRESS, {"done": 1}, job)
    with db.read() as session:
        assert events.PROGRESS not in kinds(events.of_chat(session, chat, 0, 100))
        assert kinds(events.of_job(session, job, 0, 100)) == [events.PROGRESS]


def test_what_is_rolled_back_has_not_happened(db: Database) -> None:
    """An event of a transaction that fails is never seen."""
    with db.write() as session:
        chat = add_chat(session).key
        created = events.newest(session, [chat])
    with pytest.raises(IntegrityError), db.write() as session:
        note_twice(session, chat, no_chat=chat + 1)
    with db.read() as session:
        assert events.newest(session, [chat]) == created


def test_events_go_with_their_chat(db: Database) -> None:
    """A deleted chat leaves no events behind but that it was deleted, which is nobody's, and its absence is told; no
    later event has one of their keys.
    """
    with db.write() as session:
        chat, other = add_chat(session), add_chat(session, "other")
        chat_key, other_key = chat.key, other.key
        events.add(session, chat_key, "summarized", {})
        before = events.newest(session, [chat_key])[chat_key]
    with db.write() as session:
        chats.remove(session, chat_key)
        events.add(session, other_key, "summarized", {})
    with db.read() as session:
        assert events.of_chat(session, chat_key, 0, 100) == []
        assert events.newest(session, [chat_key, other_key]) == {other_key: before + 2}
        [deleted, _] = events.of_all(session, before, 100).found
        assert (deleted.kind, deleted.data, deleted.chat_id) == ("chat", {"why": "deleted", "chat_id": "c"}, None)


def test_a_session_comes_and_goes_in_silence(db: Database) -> None:
    """Of sessions, which no route reaches, nothing is told."""
    with db.write() as session:
        chat = add_chat(session).key
        before = events.newest_of_all(session)
        chats.remove(session, chats.add(session, "c/session/s", {"session_of": chat}).key)
        assert events.newest_of_all(session) == before


def test_a_day_old_is_old_enough(db: Database) -> None:
    """What is older than a day goes, the rest stays; only once something is an hour overdue is a purge asked for."""
    with db.write() as session:
        chat = add_chat(session).key
        for _ in range(3):
            events.add(session, chat, "summarized", {})
        keys = [one.key for one in events.of_chat(session, chat, 0, 100)]
        age(session, keys[1], 24.5)
        assert not events.any_overdue(session)
        age(session, keys[0], 25.5)
        assert events.any_overdue(session)
        events.purge(session)
        assert [one.key for one in events.of_chat(session, chat, 0, 100)] == keys[2:]
        age(session, keys[3], 48)
        events.purge(session)
        assert events.newest(session, [chat]) == {chat: 0}
