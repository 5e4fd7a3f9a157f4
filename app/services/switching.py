"""Switching a chat from one kind of memory to another. History stays, and so does each kind's own memory, dormant."""

from dataclasses import dataclass

from sqlmodel import Session

from app.store import counting, snippets
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
    """Let a chat use another kind of memory, as it stands; None if it does already. memory_version rises by one."""
    before = chat.strategy
    if before == strategy:
        return None
    chat.strategy = strategy
    chat.memory_version += 1
    chat.last_error = chat.retry_at = None
    session.flush()
    visible = counting.count_differing(session, chat.key, before, strategy)
    ghosted = counting.count_differing(session, chat.key, strategy, before)
    memory = sum(one.core.tokens for one in snippets.live(session, chat.key, strategy))
    return Switched(before, strategy, *visible, *ghosted, memory)
