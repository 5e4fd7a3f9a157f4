"""Reading and writing jobs. At most one per chat is queued or running: the table refuses a second."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import uuid4

from sqlalchemy import ColumnElement, bindparam, literal, select, update
from sqlalchemy.orm import object_session
from sqlmodel import Session, col

from app.core.model import Usage
from app.core.progress import Progress, progress
from app.store import client_calls, events
from app.store.clock import now_ms
from app.store.copies import Copies
from app.store.engine import changed
from app.store.pacing import seconds_left
from app.store.tables import Chat, Job

ACTIVE = ("queued", "running")
GRACE_MS = 60_000
"""How long after its lease a job is thought to go on: whoever runs it may have had to wait for the database."""

_TOLD = (
    *("id", "kind", "state", "done", "total", "failed", "usage", "reason", "error"),
    *("created_at", "started_at", "finished_at"),
)
# As the index of active jobs says it: SQLite sees that it serves only if the words are the same.
_IS_ACTIVE = col(Job.state).in_([literal(state, literal_execute=True) for state in ACTIVE])
_ACTIVE = select(Job).where(col(Job.chat_key) == bindparam("chat_key"), col(Job.state).in_(ACTIVE))
_BY_ID = select(Job).where(col(Job.id) == bindparam("id"))
_COPIES = Copies(Job, col(Job.id) == bindparam("id"))


def active(session: Session, chat_key: int) -> Job | None:
    """The job that is queued or running on a chat."""
    return session.execute(_ACTIVE, {"chat_key": chat_key}).scalar_one_or_none()


def latest(session: Session, chat_key: int) -> Job | None:
    """The chat's newest job, whatever its state."""
    query = select(Job).where(col(Job.chat_key) == chat_key).order_by(col(Job.key).desc()).limit(1)
    return session.execute(query).scalar_one_or_none()


def add(session: Session, chat_key: int, kind: str, total: int) -> Job:
    """Queue a job; `total` is the number of batches it is expected to fold."""
    job = Job(id=str(uuid4()), chat_key=chat_key, kind=kind, total=total, created_at=now_ms())
    session.add(job)
    session.flush()
    _tell(session, job)
    return job


def by_id(session: Session, job_id: str) -> Job | None:
    """One job."""
    return session.execute(_BY_ID, {"id": job_id}).scalar_one_or_none()


def matching(session: Session, where: Sequence[ColumnElement[bool]], before: int | None, limit: int) -> list[Job]:
    """Jobs, newest first, with keys under `before`."""
    query = select(Job).where(*where).order_by(col(Job.key).desc()).limit(limit)
    if before is not None:
        query = query.where(col(Job.key) < before)
    return list(session.execute(query).scalars())


def in_state(state: str) -> ColumnElement[bool]:
    """Selects jobs in one state."""
    return col(Job.state) == state


def of_chat(chat_key: int) -> ColumnElement[bool]:
    """Selects the jobs of one chat."""
    return col(Job.chat_key) == chat_key


def claim(session: Session, job_id: str, owner: str, lease_ms: int) -> Job | None:
    """Make a queued job ours; None if it is no longer waiting."""
    now = now_ms()
    values = {"state": "running", "started_at": now, "lease_owner": owner, "lease_until": now + lease_ms}
    mine = update(Job).where(col(Job.id) == job_id, col(Job.state) == "queued").values(**values)
    job = by_id(session, job_id) if changed(session, mine) else None
    if job is not None:
        _tell(session, job)
    return job


def renew(session: Session, job_ids: Sequence[str], owner: str, lease_ms: int) -> None:
    """Say that this process still runs these jobs; one it lost is not renewed, and so found."""
    running = (col(Job.id).in_(job_ids), col(Job.state) == "running", col(Job.lease_owner) == owner)
    session.execute(update(Job).where(*running).values(lease_until=now_ms() + lease_ms))


def owned(session: Session, job_id: str, owner: str) -> Job | None:
    """The job, if this process still runs it: nobody stopped it and no lease ran out."""
    job = by_id(session, job_id)
    return job if job is not None and runs(job, owner) else None


def look(session: Session, job_id: str, owner: str) -> Job | None:
    """The same for reading alone: a copy that no session watches."""
    job = _COPIES.one(session, {"id": job_id})
    return job if job is not None and runs(job, owner) else None


def runs(job: Job, owner: str) -> bool:
    """Whether a process still runs a job."""
    return job.state == "running" and job.lease_owner == owner


def lost(session: Session, job_ids: Sequence[str], owner: str) -> list[str]:
    """Which of these a process may not run any more: they ended, were deleted, or another process has them."""
    found = session.execute(select(col(Job.id), col(Job.state), col(Job.lease_owner)).where(col(Job.id).in_(job_ids)))
    ours = {row.id for row in found if row.state == "queued" or (row.state == "running" and row.lease_owner == owner)}
    return [job_id for job_id in job_ids if job_id not in ours]


def owned_by(session: Session, owner: str) -> list[Job]:
    """The jobs a process runs."""
    query = select(Job).where(col(Job.state) == "running", col(Job.lease_owner) == owner)
    return list(session.execute(query).scalars())


def finish(session: Session, job: Job, state: str, reason: str | None, error: dict[str, Any] | None = None) -> None:
    """End a job."""
    job.state, job.reason, job.error, job.finished_at = state, reason, error, now_ms()
    _tell(session, job)


def interrupt(session: Session, job: Job, reason: str) -> None:
    """End a job whose process ended; its chat says that work was left, and nobody answers what it had asked."""
    finish(session, job, "interrupted", reason)
    client_calls.withdraw(session, client_calls.of_summary(job.chat_key), "orphaned")
    chat = session.get(Chat, job.chat_key)
    if chat is not None:
        chat.retry_at = now_ms()


def expire(session: Session) -> list[int]:
    """Interrupt the jobs whose process died; the keys of their chats."""
    found = list(session.execute(select(Job).where(*_dead())).scalars())
    for job in found:
        interrupt(session, job, "The process that ran it ended.")
    return [job.chat_key for job in found]


def any_dead(session: Session) -> bool:
    """Whether the process of a job died; a look that locks nothing."""
    return session.execute(select(col(Job.key)).where(*_dead()).limit(1)).first() is not None


def is_dead(job: Job) -> bool:
    """Whether nobody can run an active job any more, though nobody has said so."""
    return job.state == "running" and (job.lease_until or 0) < now_ms() - GRACE_MS


def waiting(session: Session) -> list[str]:
    """The ids of the jobs nobody runs yet."""
    return list(session.execute(select(col(Job.id)).where(_IS_ACTIVE, col(Job.state) == "queued")).scalars())


def as_told(job: Job) -> dict[str, Any]:
    """A job as an event tells of it: its columns but those that are about rows and processes."""
    return {name: getattr(job, name) for name in _TOLD}


def progress_of(job: Job, at: int) -> Progress:
    """How far a job is at a moment (epoch ms); of one that was not read in a session, nothing is known of its pace."""
    session = cast("Session | None", object_session(job))  # every session is one of ours
    return progress(job.state, job.done, job.total, job.failed, seconds_left(session, job, at) if session else None)


def _tell(session: Session, job: Job) -> None:
    """Note the state that a job has come into."""
    events.add(session, job.chat_key, "job", as_told(job), job.key)


def _dead() -> tuple[ColumnElement[bool], ...]:
    return _IS_ACTIVE, col(Job.state) == "running", col(Job.lease_until) < now_ms()


def add_usage(stored: dict[str, Any], usage: Usage) -> dict[str, Any]:
    """A stored usage with another added to it."""
    total = read_usage(stored) + usage
    return write_usage(total)


def read_usage(stored: dict[str, Any] | None) -> Usage:
    """The usage in a JSON column."""
    return Usage(**stored) if stored else Usage()


def usages(session: Session) -> list[Usage]:
    """What the summaries of each chat have cost; sessions are counted on theirs."""
    found = session.execute(select(col(Chat.usage)).where(col(Chat.session_of).is_(None)))
    return [read_usage(stored) for stored in found.scalars()]


def write_usage(usage: Usage) -> dict[str, Any]:
    """A usage for a JSON column."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
