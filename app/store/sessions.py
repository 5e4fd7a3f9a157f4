"""Sessions of a chat: each is a row among the chats, which no route reaches (rolling-and-buffer.md, `scope`)."""

from hashlib import sha256
from typing import Any

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from app.store import chats
from app.store.clock import now_ms
from app.store.tables import Chat

IDLE_MS = 30 * 60 * 1000
"""How long a session is remembered that nobody asks for."""
_LONGEST = 200
_OVER = select(col(Chat.key)).where(col(Chat.session_of).is_not(None), col(Chat.used_at) < bindparam("before"))


def find(session: Session, chat: Chat, session_id: str) -> Chat | None:
    """The session of a chat, forgotten or not: see `is_over`."""
    return chats.find(session, _name(chat, session_id))


def is_over(found: Chat) -> bool:
    """Whether it has been idle for so long that it counts as forgotten."""
    return (found.used_at or 0) < now_ms() - IDLE_MS


def add(session: Session, chat: Chat, session_id: str, fields: dict[str, Any]) -> Chat:
    """A new session of a chat."""
    return chats.add(session, _name(chat, session_id), {"session_of": chat.key, "used_at": now_ms(), **fields})


def any_over(session: Session) -> bool:
    """Whether a session has been idle long enough to be forgotten; a look that locks nothing."""
    return session.execute(_OVER.limit(1), {"before": now_ms() - IDLE_MS}).first() is not None


def purge(session: Session) -> None:
    """Forget sessions that have been idle long enough."""
    for key in list(session.execute(_OVER, {"before": now_ms() - IDLE_MS}).scalars()):
        chats.remove(session, key)


def _name(chat: Chat, session_id: str) -> str:
    """Ids hold no slash, so that no other chat has this one."""
    name = f"{chat.id}/session/{session_id}"
    return name if len(name) <= _LONGEST else f"{chat.key}/session/{sha256(session_id.encode()).hexdigest()}"
