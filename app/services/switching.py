"""Switching a chat from one kind of memory to another. History stays, and so does each kind's own memory, dormant."""

from dataclasses import dataclass

from sqlmodel import Session

from app.services.reading import read_state
from app.services.retiring import retire
from app.services.rewriting import note_skipped
from app.services.settling import one_step
from app.store import counting, jobs, snippets
from app.store.tables import Chat


@dataclass(frozen=True, slots=True)
class Switched:
    """What a switch means for the next prompt, in messages and their tokens.

    `visible_*`: told by the former memory until now, and sent word for word again; `ghosted_*`: the other way round.
    `memory_tokens`: of the summaries that are sent now.
    """

    before: str
    after: str
    visible_messages: int
    visible_tokens: int
    ghosted_messages: int
    ghosted_tokens: int
    memory_tokens: int


def switch(session: Session, chat: Chat, strategy: str) -> Switched | None:
    """Let a chat use another kind of memory, as it stands; None if it does already. memory_version rises by one.

    What runs for the former one ends. Layered memory that slept while messages went gives turns back (promise 3).
    """
    before = chat.strategy
    if before == strategy:
        return None
    _cut(session, chat, strategy)
    with one_step(chat):
        chat.strategy = strategy
        chat.memory_version += 1
        chat.last_error = chat.retry_at = None
        session.flush()
        retire(session, read_state(session, chat))
    visible = counting.count_differing(session, chat.key, before, strategy)
    ghosted = counting.count_differing(session, chat.key, strategy, before)
    memory = sum(one.core.tokens for one in snippets.live(session, chat.key, strategy))
    return Switched(before, strategy, *visible, *ghosted, memory)


def _cut(session: Session, chat: Chat, strategy: str) -> None:
    """End the chat's job in the store: nothing of it can be committed any more, and its call is cut."""
    job = jobs.active(session, chat.key)
    if job is not None:
        jobs.finish(session, job, "cancelled", f"The chat's strategy was switched to {strategy}.")
        note_skipped(session, chat, "cancelled")
        session.flush()
