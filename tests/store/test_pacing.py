"""How long jobs still take, read from the lines they stored."""

from collections.abc import Sequence

import pytest
from sqlmodel import Session

from app.store import jobs
from app.store.engine import Database
from app.store.pacing import seconds_for
from app.store.tables import Chat, Job
from tests.support.rows import add_chat, snippet

BEGAN = 1_000_000


@pytest.fixture
def chat(db: Database) -> int:
    """The key of a chat that has no snippets yet."""
    with db.write() as session:
        return add_chat(session).key


def _job(session: Session, chat_key: int, done: int, total: int, began: int = BEGAN) -> Job:
    job = Job(id=f"j{began}", chat_key=chat_key, kind="backlog", state="running", created_at=began, started_at=began)
    job.done, job.total = done, total
    session.add(job)
    session.flush()
    return job


def _lines(session: Session, chat_key: int, times: Sequence[int], calls: int = 1, first: int = 0) -> None:
    """Folds stored at these times (epoch ms)."""
    usage = {"calls": calls, "prompt_tokens": 100, "completion_tokens": 10}
    for place, at in enumerate(times, first):
        session.add(snippet(chat_key, 0, place, created_at=at, usage=usage))
    session.flush()


def _left(job: Job, at: int) -> float | None:
    return jobs.progress_of(job, at).eta_s


def test_what_is_left_goes_by_the_newest_lines(db: Database, chat: int) -> None:
    """Two seconds a line, six batches left: twelve seconds, less what has passed since; nothing before the first."""
    with db.write() as session:
        job = _job(session, chat, 0, 10)
        assert _left(job, BEGAN + 1000) is None
        _lines(session, chat, [BEGAN + 2000 * place for place in range(1, 5)])
        job.done = 4
        assert [_left(job, BEGAN + 8000 + late) for late in (0, 500, 90_000)] == [12.0, 11.5, 10.0]


def test_merges_to_come_take_their_time(db: Database, chat: int) -> None:
    """A full layer makes a merge with batches 32, 35 and 38 (layered.md, Promotion): these are calls as well."""
    with db.write() as session:
        job = _job(session, chat, 30, 39)
        _lines(session, chat, [BEGAN + 1000 * place for place in range(1, 31)])
        assert _left(job, BEGAN + 30_000) == 9 + 3


def test_an_outage_is_not_the_pace_of_the_model(db: Database, chat: int) -> None:
    """A job that takes up what an outage left is as fast as its own lines, whatever the ones before it waited for."""
    with db.write() as session:
        _lines(session, chat, [BEGAN - 900_000, BEGAN - 600_000])
        job = _job(session, chat, 0, 5)
        assert _left(job, BEGAN + 1000) is None
        _lines(session, chat, [BEGAN + 2000], first=2)
        job.done = 1
        assert _left(job, BEGAN + 2000) == 8.0


def test_a_first_line_that_waited_tells_nothing(db: Database, chat: int) -> None:
    """A call that was tried again may have waited for a minute."""
    with db.write() as session:
        job = _job(session, chat, 1, 5)
        _lines(session, chat, [BEGAN + 61_000], calls=2)
        assert _left(job, BEGAN + 61_000) is None
        _lines(session, chat, [BEGAN + 63_000], first=1)
        job.done = 2
        assert _left(job, BEGAN + 63_000) == 6.0


def test_several_calls_at_once(db: Database, chat: int) -> None:
    """Eight lines every four seconds are two a second."""
    with db.write() as session:
        found = session.get(Chat, chat)
        assert found is not None
        found.settings = {"layered": {"backlog_concurrency": 8, "snippets_per_layer": 500}}
        job = _job(session, chat, 40, 60)
        _lines(session, chat, [BEGAN + 4000 * (place // 8 + 1) + place % 8 for place in range(40)])
        assert _left(job, BEGAN + 20_007) == pytest.approx(10, abs=0.1)


def test_a_job_that_ended_tells_the_pace_of_the_next(db: Database, chat: int) -> None:
    """What it stored counts, what came after it does not; what has ended itself takes no time any more."""
    with db.write() as session:
        job = _job(session, chat, 2, 2)
        _lines(session, chat, [BEGAN + 3000, BEGAN + 6000, BEGAN + 500_000])
        jobs.finish(session, job, "succeeded", None)
        job.finished_at = BEGAN + 6000
        found = session.get(Chat, chat)
        assert found is not None
        assert seconds_for(session, found, job, 10, BEGAN + 900_000) == 30.0
        assert _left(job, BEGAN + 900_000) is None
