"""Stored rows as objects for reading alone."""

from app.store import chats, jobs
from app.store.engine import Database
from tests.support.rows import add_chat


def test_a_look_at_a_chat_shows_what_is_stored(db: Database) -> None:
    """A chat for reading alone has the columns of the stored one, and none of its changes is stored."""
    with db.write() as session:
        add_chat(session)
    with db.read() as session:
        seen, stored = chats.look(session, "c"), chats.find(session, "c")
        assert seen is not None
        assert stored is not None
        assert seen.model_dump(exclude={"extra"}) == stored.model_dump(exclude={"extra"})
        assert chats.look_by_key(session, stored.key) == seen
        assert chats.look(session, "unknown") is chats.look_by_key(session, stored.key + 1) is None
        assert seen not in session


def test_a_look_at_a_job_shows_what_is_stored(db: Database) -> None:
    """A job for reading alone has all columns of the stored one, and is seen by the process alone that runs it."""
    with db.write() as session:
        job_id = jobs.add(session, add_chat(session).key, "fold", 3).id
        assert jobs.look(session, job_id, "me") is None
        jobs.claim(session, job_id, "me", 1000)
    with db.read() as session:
        seen, stored = jobs.look(session, job_id, "me"), jobs.owned(session, job_id, "me")
        assert seen is not None
        assert stored is not None
        assert seen.model_dump() == stored.model_dump()
        assert seen not in session
        assert jobs.look(session, job_id, "another") is None
