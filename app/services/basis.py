"""What a plan stands on, and what every commit does first: look whether it still stands (DESIGN, decision 4)."""

from dataclasses import dataclass

from sqlalchemy.orm import object_session
from sqlmodel import Session

from app.core.model import Usage
from app.store import chats, jobs
from app.store.tables import Chat, Job


@dataclass(frozen=True, slots=True)
class Basis:
    """What a plan was made on: the chat, its epoch and strategy, and the job that made it."""

    chat_key: int
    epoch: int
    strategy: str
    job_id: str
    owner: str


def still_ours(session: Session, basis: Basis, cost: Usage) -> tuple[Chat, Job] | None:
    """The chat and the job, unless memory was forgotten, the strategy switched or the job taken away meanwhile.

    The cost is noted whatever became of the job: it was paid.
    """
    chat = chats.get(session, basis.chat_key)
    job = jobs.by_id(session, basis.job_id)
    note_usage(chat, job, cost)
    if chat is None or job is None or not jobs.runs(job, basis.owner):
        return None
    return (chat, job) if (chat.epoch, chat.strategy) == (basis.epoch, basis.strategy) else None


def note_usage(chat: Chat | None, job: Job | None, usage: Usage) -> None:
    """Count what a summary cost, used or not, on what of the two still exists; a session's on its chat too."""
    if usage == Usage():
        return
    for row in (job, chat, parent_of(chat)):
        if row is not None:
            row.usage = jobs.add_usage(row.usage, usage)


def note_success(chat: Chat, *, changed: bool = True) -> None:
    """The connection works again; `changed`: the memory that is sent is another one now."""
    chat.memory_version += 1 if changed else 0
    chat.last_error = chat.retry_at = None
    parent = parent_of(chat)
    if parent is not None:
        parent.last_error = None


def parent_of(chat: Chat | None) -> Chat | None:
    """The chat that a session belongs to; None of what is none."""
    session = object_session(chat) if chat is not None and chat.session_of is not None else None
    return session.get(Chat, chat.session_of) if session is not None and chat is not None else None
