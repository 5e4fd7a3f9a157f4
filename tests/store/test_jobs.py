"""Jobs: one per chat, and leases."""

import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from app.core.model import Usage
from app.store import jobs
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.tables import Chat
from tests.support.rows import add_chat

LEASE_MS = 60_000


def queued(session: Session, chat_id: str = "c") -> str:
    """The id of a new job on a new chat."""
    return jobs.add(session, add_chat(session, chat_id).key, "fold", 1).id


def claimed(session: Session, owner: str, lease_ms: int = LEASE_MS, chat_id: str = "c") -> str:
    """The id of a job that an owner runs."""
    job_id = queued(session, chat_id)
    assert jobs.claim(session, job_id, owner, lease_ms)
    return job_id


@pytest.mark.parametrize("state", ["queued", "running"])
def test_one_active_job_on_a_chat(db: Database, state: str) -> None:
    """The database refuses a second job that waits or runs on a chat; when the first has ended there may be one."""
    with db.write() as session:
        first = jobs.by_id(session, queued(session))
        assert first is not None
        first.state = state
        session.flush()
        with pytest.raises(IntegrityError), session.begin_nested():
            jobs.add(session, first.chat_key, "fold", 1)
        jobs.finish(session, first, "succeeded", None)
        second = jobs.add(session, first.chat_key, "fold", 1)
        assert jobs.active(session, first.chat_key) is second
        assert jobs.latest(session, first.chat_key) is second


def test_only_one_owner_wins(db: Database) -> None:
    """Of two processes that claim a job one has it; the other is told that it no longer waits."""
    with db.write() as session:
        job_id = queued(session)
    with db.write() as session:
        assert jobs.waiting(session) == [job_id]
        assert jobs.claim(session, job_id, "first", LEASE_MS)
    with db.write() as session:
        assert jobs.claim(session, job_id, "second", LEASE_MS) is None
        assert jobs.waiting(session) == []
        assert jobs.owned(session, job_id, "first")
        assert jobs.owned(session, job_id, "second") is None
        assert [job.id for job in jobs.owned_by(session, "first")] == [job_id]


def test_a_lost_lease(db: Database) -> None:
    """A job whose lease ran out is interrupted, its chat is to be taken up, and its former owner has lost it."""
    with db.write() as session:
        dead, alive = claimed(session, "gone", -1), claimed(session, "here", chat_id="d")
    with db.write() as session:
        assert jobs.any_dead(session)
        assert jobs.expire(session) == [1]
        session.flush()
        assert not jobs.any_dead(session)
        assert jobs.lost(session, [dead, alive], "gone") == [dead, alive]
        assert jobs.lost(session, [dead, alive], "here") == [dead]
        assert jobs.owned(session, dead, "gone") is None
        interrupted = jobs.by_id(session, dead)
        assert interrupted is not None
        assert (interrupted.state, interrupted.finished_at is not None) == ("interrupted", True)
        assert (session.get_one(Chat, 1).retry_at or 0) <= now_ms()
        assert session.get_one(Chat, 2).retry_at is None


def test_a_lease_is_renewed_by_its_owner_alone(db: Database) -> None:
    """Saying that a job still runs helps only whoever runs it."""
    with db.write() as session:
        job_id = claimed(session, "owner", -1)
        jobs.renew(session, [job_id], "other", LEASE_MS)
        assert jobs.any_dead(session)
        jobs.renew(session, [job_id], "owner", LEASE_MS)
        assert not jobs.any_dead(session)
        assert jobs.expire(session) == []


def test_a_job_that_ended_is_not_renewed(db: Database) -> None:
    """A lease on a job that somebody stopped stays as it was."""
    with db.write() as session:
        job = jobs.by_id(session, claimed(session, "owner", 0))
        assert job is not None
        lease = job.lease_until
        jobs.finish(session, job, "cancelled", "Stopped on request.")
        session.flush()
        jobs.renew(session, [job.id], "owner", LEASE_MS)
        session.refresh(job)
        assert job.lease_until == lease


def test_lists(db: Database) -> None:
    """Jobs are listed newest first, by state and chat, from a place on."""
    with db.write() as session:
        ids = [queued(session, name) for name in "abc"]
        jobs.claim(session, ids[1], "owner", LEASE_MS)
        assert [job.id for job in jobs.matching(session, [], None, 2)] == [ids[2], ids[1]]
        assert [job.id for job in jobs.matching(session, [], 3, 9)] == [ids[1], ids[0]]
        assert [job.id for job in jobs.matching(session, [jobs.in_state("running")], None, 9)] == [ids[1]]
        assert [job.id for job in jobs.matching(session, [jobs.of_chat(1)], None, 9)] == [ids[0]]


def test_usage_adds_up() -> None:
    """What summaries cost is summed in the stored form."""
    assert jobs.read_usage(None) == jobs.read_usage({}) == Usage()
    stored = jobs.add_usage(jobs.add_usage({}, Usage(1, 20, 3)), Usage(2, 10, 4))
    assert jobs.read_usage(stored) == Usage(3, 30, 7)
