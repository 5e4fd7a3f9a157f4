"""Sessions of a chat whose summary buffer has the scope `session` (rolling-and-buffer.md): each has messages and a
summary of its own, follows the chat in all else, and is forgotten.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlmodel import Session

from app.core.model import Message, Role, Strategy
from app.core.resolving import resolve
from app.core.turns import outline
from app.errors import NotFound
from app.services.ports import Runner
from app.services.projection_query import ProjectionQuery, under_view
from app.services.reading import require_chat
from app.services.viewing import read_view
from app.store import chats, jobs, messages, sessions
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.tables import Chat

_HEAD = 16
"""How many messages are read at first to find a system prompt."""


@dataclass(frozen=True)
class Sessions:
    """Forgets sessions."""

    db: Database
    runner: Runner

    async def forget(self, chat_id: str, session_id: str) -> None:
        """Forget a session, its messages and its summary for good; what runs on it is cut. Raises NotFound."""
        job_id = await asyncio.to_thread(self._remove, chat_id, session_id)
        if job_id is not None:
            await self.runner.cancel(job_id)

    def _remove(self, chat_id: str, session_id: str) -> str | None:
        with self.db.write() as session:
            found = sessions.find(session, require_chat(session, chat_id), session_id)
            if found is None or sessions.is_over(found):
                raise NotFound(f"Chat {chat_id!r} has no session {session_id!r}: it is forgotten, or never began.")
            job = jobs.active(session, found.key)
            chats.remove(session, found.key)
            return job.id if job else None


def open_session(session: Session, chat: Chat, session_id: str | None) -> Chat:
    """Where a request with this session's id belongs: the session, which begins here if it is new or was forgotten, or
    the chat itself where sessions are nothing to its memory.
    """
    if session_id is None or not has_sessions(session, chat):
        return chat
    follows = {name: getattr(chat, name) for name in ("strategy", "settings", "user_name", "character_name")}
    found = sessions.find(session, chat, session_id)
    if found is not None and sessions.is_over(found):
        chats.remove(session, found.key)
        session.expunge(found)
        found = None
    if found is None:
        return sessions.add(session, chat, session_id, follows)
    _follow(found, follows)
    return found


def is_open(session: Session, chat: Chat, session_id: str | None) -> bool:
    """Whether `open_session` would find it begun."""
    if session_id is None or not has_sessions(session, chat):
        return True
    found = sessions.find(session, chat, session_id)
    return found is not None and not sessions.is_over(found)


def has_sessions(session: Session, chat: Chat) -> bool:
    """Whether a chat's memory is kept session by session."""
    if chat.strategy != Strategy.SUMMARY_BUFFER:
        return False
    return resolve(chats.server_settings(session), chat.settings)[0].summary_buffer.scope == "session"


def for_session(session: Session, chat: Chat, query: ProjectionQuery) -> ProjectionQuery:
    """What a request asks of a session: the options of the chat's view and the chat's own system prompt are its too.

    A view's window is one of the chat's own history, which a session does not have.
    """
    if query.view is not None:
        query = replace(under_view(query, read_view(session, chat, query.view).options), view=None)
    own = [one.key for one in _prompt(session, chat) if one.visible and not one.blank]
    texts = messages.contents(session, own)
    said = [texts[key].content for key in own if key in texts]
    prompt = "\n\n".join(text for text in (query.system_prompt, *said) if text)
    return replace(query, system_prompt=prompt or None)


def _prompt(session: Session, chat: Chat) -> Sequence[Message]:
    """The chat's own system prompt, which is what it begins with: no more of a long history is read."""
    head = messages.uncovered(session, chat.key, chat.strategy, _HEAD)
    if len(head) == _HEAD and not any(one.role in (Role.USER, Role.ASSISTANT) for one in head):
        head = messages.uncovered(session, chat.key, chat.strategy)
    return outline(head, len(head)).prompt


def _follow(found: Chat, follows: dict[str, Any]) -> None:
    for name, value in follows.items():
        if getattr(found, name) != value:
            setattr(found, name, value)
    found.used_at = now_ms()
