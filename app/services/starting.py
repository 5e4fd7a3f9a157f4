"""Queueing work on a chat, inside the transaction that causes it."""

from dataclasses import dataclass

from sqlmodel import Session

from app.services.folding import stronger
from app.services.reading import ChatState, read_head, read_state
from app.services.retiring import retire
from app.store import chats, jobs
from app.store.engine import Database
from app.store.tables import Chat, Job


def queue(session: Session, state: ChatState, kind: str, batches: int) -> Job:
    """A job on the chat: a new one, or the one that is active, which then does this too."""
    job = jobs.active(session, state.chat.key)
    if job is None:
        return jobs.add(session, state.chat.key, kind, batches)
    job.kind = stronger(job.kind, kind)
    job.total = max(job.total, job.done + batches)
    return job


def queue_if_due(session: Session, state: ChatState) -> tuple[Job | None, str | None]:
    """A job if folding is due and goes on by itself, else the reason why not.

    A chat whose folding falls due before it holds a backlog never asks about one: what piles up later piles up behind
    an outage or a pause (layered.md, Backlog).
    """
    state = retire(session, state)
    due = state.fold() is not None
    if due and not state.has_backlog and state.chat.backlog_answer is None:
        state.chat.backlog_answer = "began"
    reason = state.idle_reason()
    if reason is not None:
        return None, reason
    if not due:
        return None, "below_threshold"
    return queue(session, state, "fold", max(1, state.backlog.batches)), None


def queue_after_append(session: Session, chat: Chat) -> tuple[Job | None, str | None]:
    """The same where only new messages came: that a backlog waits for an answer, its oldest turns say."""
    state = read_head(session, chat)
    if state.choice_needed:
        return None, "choice_needed"
    return queue_if_due(session, read_state(session, chat) if state.later else state)


@dataclass(frozen=True)
class Starting:
    """Takes up work that was left: after a failure, a restart or a dead process."""

    db: Database
    resume_jobs: bool

    def resume(self, chat_key: int) -> str | None:
        """Queue what is due on a chat; the job's id, or None."""
        with self.db.write() as session:
            chat = chats.get(session, chat_key)
            if chat is None:
                return None
            job, _ = queue_if_due(session, read_state(session, chat))
            return job.id if job else None

    def recover(self, *, first: bool) -> list[str]:
        """Mark jobs of dead processes as interrupted; ids of the jobs to run now, queued ones and their successors.

        The first time, work that an earlier process left goes on too, where RESUME_JOBS says so.
        """
        with self.db.read() as session:
            if not first and not jobs.needs_recovery(session):
                return []
        with self.db.write() as session:
            dead = jobs.expire(session)
            session.flush()
            if self.resume_jobs:
                for job in jobs.left_interrupted(session) if first else dead:
                    _succeed(session, job)
                for chat in chats.with_error(session) if first else ():
                    queue_if_due(session, read_state(session, chat))
            session.flush()
            return [job.id for job in jobs.waiting(session)]


def _succeed(session: Session, job: Job) -> None:
    if jobs.active(session, job.chat_key) is None:
        jobs.add(session, job.chat_key, job.kind, max(0, job.total - job.done))
