"""Reading and writing chats and the server-wide settings."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, inspect, select, tuple_, update
from sqlalchemy.orm import defer
from sqlmodel import Session, SQLModel, col

from app.core.finding import holds_all
from app.store import events
from app.store.clock import now_ms
from app.store.copies import Copies
from app.store.engine import changed, rows
from app.store.prepared import Prepared
from app.store.tables import Chat, Job, Message, ServerSettings

# What an imported file said of a chat may be long, and is wanted by exports alone.
_LIGHT = defer(inspect(Chat).attrs["extra"].class_attribute)
_NEWEST_FIRST = (col(Chat.updated_at).desc(), col(Chat.key).desc())
_AT_ONCE = 500
_BY_ID = select(Chat).options(_LIGHT).where(col(Chat.id) == bindparam("id"))
_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["server_settings"].c
_ID_UNLESS_SESSION = select(col(Chat.id)).where(col(Chat.key) == bindparam("key"), col(Chat.session_of).is_(None))
_COPIES = Copies(Chat, col(Chat.id) == bindparam("id"), without=("extra",))
_COPIES_BY_KEY = Copies(Chat, col(Chat.key) == bindparam("key"), without=("extra",))
_SETTINGS = select(col(ServerSettings.settings))
_SERVER_SETTINGS = Prepared(_SETTINGS)
_OWN = select(col(Chat.settings), _SETTINGS.scalar_subquery()).where(col(Chat.id) == bindparam("id"))


def find(session: Session, chat_id: str) -> Chat | None:
    """The chat, or None."""
    return session.execute(_BY_ID, {"id": chat_id}).scalar_one_or_none()


def look(session: Session, chat_id: str) -> Chat | None:
    """The chat for reading alone: a copy that no session watches, which would take as long as all else a prompt asks.
    What an imported file said of it is left out.
    """
    return _COPIES.one(session, {"id": chat_id})


def look_by_key(session: Session, chat_key: int) -> Chat | None:
    """The same by its number."""
    return _COPIES_BY_KEY.one(session, {"key": chat_key})


def get(session: Session, chat_key: int) -> Chat | None:
    """The chat by its number, or None if it was deleted."""
    return session.get(Chat, chat_key, options=[_LIGHT])


def add(session: Session, chat_id: str, fields: dict[str, Any]) -> Chat:
    """A new chat, which is told of unless it is a session."""
    now = now_ms()
    chat = Chat(id=chat_id, created_at=now, updated_at=now, **fields)
    session.add(chat)
    session.flush()
    if chat.session_of is None:
        events.add(session, chat.key, "chat", {"why": "created"})
    return chat


def page(
    session: Session, after: tuple[int, int] | None, limit: int, title: str | None = None, words: Sequence[str] = ()
) -> list[Chat]:
    """Chats, newest activity first, after the place (updated_at, key); only those of a title, and whose id, title or
    names hold all of these words. Sessions are none.
    """
    where: list[ColumnElement[bool]] = [col(Chat.session_of).is_(None)]
    if after is not None:
        where.append(tuple_(col(Chat.updated_at), col(Chat.key)) < after)
    if title is not None:
        where.append(col(Chat.title) == title)
    if words:
        where.append(col(Chat.key).in_(_called(session, where, limit, words)))
    query = select(Chat).options(_LIGHT).where(*where).order_by(*_NEWEST_FIRST).limit(limit)
    return list(session.execute(query).scalars())


def _called(session: Session, where: Sequence[ColumnElement[bool]], limit: int, words: Sequence[str]) -> list[int]:
    """Keys of the first chats whose names hold all words. Compared here: databases know case in ASCII alone, or not."""
    names = (col(Chat.id), col(Chat.title), col(Chat.user_name), col(Chat.character_name))
    query = select(col(Chat.key), *names).where(*where).order_by(*_NEWEST_FIRST)
    found = session.execute(query.execution_options(yield_per=_AT_ONCE))
    return list(islice((key for key, *called in found if holds_all(called, words)), limit))


def to_take_up(session: Session, owner: str | None, limit: int = 100) -> list[int]:
    """Keys of chats whose `retry_at` has passed, the longest ago first; with an owner, only of those it folded last."""
    query = select(col(Chat.key)).where(col(Chat.retry_at) <= now_ms()).order_by(col(Chat.retry_at)).limit(limit)
    if owner is not None:
        last = select(col(Job.lease_owner)).where(col(Job.chat_key) == col(Chat.key)).order_by(col(Job.key).desc())
        query = query.where(last.limit(1).scalar_subquery() == owner)
    return list(session.execute(query).scalars())


def next_retry(session: Session) -> int | None:
    """When the next failed work is to be taken up again (epoch ms), of what is not due yet."""
    return session.execute(select(func.min(Chat.retry_at)).where(col(Chat.retry_at) > now_ms())).scalar()


def retry_failed(session: Session) -> None:
    """Let all work that failed be taken up again at once."""
    session.execute(update(Chat).where(col(Chat.last_error).is_not(None)).values(retry_at=now_ms()))


def any_failed(session: Session) -> bool:
    """Whether the last summary of any chat failed."""
    return session.execute(select(col(Chat.key)).where(col(Chat.last_error).is_not(None)).limit(1)).first() is not None


def remove(session: Session, chat_key: int) -> None:
    """Delete a chat and everything of it, its sessions included; that it is gone is told of, unless it is a session."""
    gone = [chat_key, *session.execute(select(col(Chat.key)).where(col(Chat.session_of) == chat_key)).scalars()]
    chat_id = session.execute(_ID_UNLESS_SESSION, {"key": chat_key}).scalar()
    # Messages point at snippets, and a cascade may take these first.
    session.execute(delete(Message).where(col(Message.chat_key).in_(gone)))
    session.execute(delete(Chat).where(col(Chat.key).in_(gone)))
    if chat_id is not None:
        events.add(session, None, "chat", {"why": "deleted", "chat_id": chat_id})  # its own events are gone with it


def count_messages(session: Session, chat_key: int) -> int:
    """How many messages the chat holds; positions are contiguous, so the last one tells."""
    last = session.execute(select(func.max(Message.position)).where(col(Message.chat_key) == chat_key)).scalar()
    return 0 if last is None else last + 1


_LAST = select(func.max(_M.position)).where(_M.chat_key == bindparam("chat_key")).scalar_subquery()
_SURROUNDINGS = Prepared(select(_LAST, select(_S.settings).scalar_subquery()))


def surroundings(session: Session, chat_key: int) -> tuple[int, dict[str, Any]]:
    """How many messages a chat holds, and the server-wide settings it follows."""
    [(last, settings)] = _SURROUNDINGS.all(session, {"chat_key": chat_key})
    return 0 if last is None else last + 1, settings or {}


def server_settings(session: Session) -> dict[str, Any]:
    """The values that an operator set for all chats."""
    return dict(_SERVER_SETTINGS.value(session, {}) or {})


def settings_of(session: Session, chat_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The server-wide values and a chat's own; a chat that is not there has none."""
    found = rows(session, _OWN, {"id": chat_id}).one_or_none()
    return (found[1] or {}, found[0] or {}) if found else (server_settings(session), {})


def save_server_settings(session: Session, values: dict[str, Any]) -> None:
    """Replace the server-wide values."""
    if not changed(session, update(ServerSettings).values(settings=values)):
        session.add(ServerSettings(settings=values))
        session.flush()
