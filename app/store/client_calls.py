"""Calls that wait for a frontend. Any process may put one, hand it out and answer it: whoever is first, by the row.

Moments are epoch milliseconds; `now` is given, so that a whole step sees one moment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, bindparam, delete, func, insert, or_, select, true, update
from sqlmodel import Session

from app.core.calling import ALIVE_MS, Ending, Standing, lease_end
from app.store import events
from app.store.call_tables import ClientCall, ClientLook
from app.store.engine import rows
from app.store.tables import Chat

KEPT_MS = 10 * 60 * 1000
"""How long an ended call is remembered, so that who comes too late hears why."""

_TABLE = ClientCall.metadata.tables["client_calls"]
_CHATS = Chat.metadata.tables["chats"]
_LOOKS = ClientLook.metadata.tables["client_looks"]
_C = _TABLE.c
_WAITING = _C.state == "waiting"
_STANDING = (_C.state, _C.alive_until, _C.timeout_ms, _C.leased_at, _C.lease_until, _C.client)


@dataclass(frozen=True, slots=True)
class Held:
    """A call that was handed out."""

    id: str
    chat_id: str
    connection: str
    prompt: Mapping[str, Any]
    created_at: int
    lease_until: int


@dataclass(frozen=True, slots=True)
class Queue:
    """The calls that a chat waits for: of which connection, how many, since when, and how many are being answered."""

    connection: str
    calls: int
    since: int
    leased: int


def put(
    session: Session, call_id: str, chat_id: str, connection: str, prompt: Mapping[str, Any], timeout_ms: int, now: int
) -> bool:
    """Let a call wait; False if there is no such chat any more. What ended long ago is forgotten here."""
    chat = session.execute(select(_CHATS.c.key, _CHATS.c.session_of).where(_CHATS.c.id == chat_id)).one_or_none()
    if chat is None:
        return False
    _purge(session, now)
    values = {"id": call_id, "chat_key": chat.key, "told_key": chat.session_of or chat.key, "connection": connection}
    values |= {"prompt": dict(prompt), "timeout_ms": timeout_ms, "alive_until": now + ALIVE_MS, "created_at": now}
    rows(session, insert(_TABLE), {"state": "waiting", **values})
    _tell(session, values["told_key"], call_id, connection)
    return True


def any_free(session: Session, told_key: int | None, now: int) -> bool:
    """Whether a call waits that nobody holds, of one chat or of any; a look that locks nothing."""
    return session.execute(select(_C.key).where(*_free(told_key, now)).limit(1)).first() is not None


def lease(session: Session, told_key: int | None, client: str, limit: int, lease_ms: int, now: int) -> list[Held]:
    """Hand out so many calls at most, the oldest first. Of two who ask at once, one gets each."""
    found = session.execute(_SHOWN.where(*_free(told_key, now)).order_by(_C.key).limit(limit)).all()
    return [held for row in found if (held := _take(session, row, client, lease_ms, now)) is not None]


def renew(session: Session, call_id: str, standing: Standing, lease_ms: int, now: int) -> int | None:
    """Hold a call longer; until when, None if that standing is not true any more."""
    leased_at = standing.leased_at or now
    until = lease_end(now, leased_at, lease_ms, standing.timeout_ms)
    values = {"leased_at": leased_at, "lease_until": until}
    return until if _change(session, call_id, _as(standing), values) else None


def release(session: Session, call_id: str, standing: Standing) -> bool:
    """Nobody holds the call any more: it waits again, and those who watch its chat are told."""
    if not _change(session, call_id, _as(standing), {"leased_at": None, "lease_until": None}):
        return False
    told = session.execute(select(_C.told_key, _C.connection).where(_C.id == call_id)).one()
    _tell(session, told.told_key, call_id, told.connection)
    return True


def answer(session: Session, call_id: str, standing: Standing, reply: Mapping[str, Any]) -> bool:
    """Leave an answer for the process that asked; False if that standing is not true any more."""
    return _change(session, call_id, _as(standing), {"state": "answered", "reply": dict(reply), "prompt": None})


def standing(session: Session, call_id: str) -> Standing | None:
    """How a call stands; None if nothing is known of it."""
    return standings(session, [call_id]).get(call_id)


def standings(session: Session, call_ids: Sequence[str]) -> dict[str, Standing]:
    """How calls stand, those that are known."""
    found = session.execute(select(_C.id, *_STANDING).where(_C.id.in_(call_ids)))
    return {row[0]: Standing(*row[1:]) for row in found}


def reply_to(session: Session, call_id: str) -> Mapping[str, Any] | None:
    """The answer that was left."""
    found: Mapping[str, Any] | None = session.execute(select(_C.reply).where(_C.id == call_id)).scalar_one_or_none()
    return found


def keep_alive(session: Session, call_ids: Sequence[str], now: int) -> None:
    """Say that somebody still waits for these."""
    mine = update(_TABLE).where(_C.id.in_(call_ids), _WAITING).values(alive_until=now + ALIVE_MS)
    rows(session, mine, {})


def end(session: Session, call_id: str, how: Ending) -> None:
    """Nobody waits for a call any more: its texts are forgotten, and if nobody has answered it is over."""
    _change(session, call_id, _WAITING, {"state": how})
    _change(session, call_id, None, {"prompt": None, "reply": None})


def withdraw(session: Session, which: ColumnElement[bool], how: Ending = "withdrawn") -> None:
    """Have calls asked anew by whoever waits for them, if that is still wanted then."""
    rows(session, update(_TABLE).where(_WAITING, which).values(state=how, prompt=None), {})


def of_connection(name: str) -> ColumnElement[bool]:
    """Selects the calls of a connection."""
    return _C.connection == name


def of_chat(chat_key: int | None) -> ColumnElement[bool]:
    """Selects the calls of a chat and its sessions, or of all chats."""
    return true() if chat_key is None else _C.told_key == chat_key


def of_summary(chat_key: int) -> ColumnElement[bool]:
    """Selects the calls for a chat's, or a session's, own summaries."""
    return _C.chat_key == chat_key


def untaken(chat_key: int | None, now: int) -> ColumnElement[bool]:
    """Selects calls that nobody holds, of a chat and its sessions or of all chats."""
    return and_(or_(_C.lease_until.is_(None), _C.lease_until <= now), of_chat(chat_key))


def queue(session: Session, chat_key: int, now: int) -> Queue | None:
    """What a chat, or a session of it, waits for; None if for nothing."""
    held = func.count().filter(_C.lease_until > now)
    query = select(func.min(_C.connection), func.count(), func.min(_C.created_at), held)
    found = rows(session, query.where(_WAITING, _C.told_key == chat_key, _C.alive_until >= now), {}).one()
    return Queue(*found) if found[1] else None


def is_asked(session: Session, chat_key: int, now: int) -> bool:
    """Whether this chat's, or this session's, own summary waits for a frontend."""
    query = select(_C.key).where(_WAITING, of_summary(chat_key), _C.alive_until >= now)
    return rows(session, query.limit(1), {}).first() is not None


def note_look(session: Session, now: int) -> None:
    """A frontend asks for calls."""
    session.merge(ClientLook(key=1, looked_at=now))


def last_look(session: Session) -> int | None:
    """When a frontend last asked for calls."""
    found: int | None = session.execute(select(_LOOKS.c.looked_at)).scalar_one_or_none()
    return found


def _free(told_key: int | None, now: int) -> tuple[ColumnElement[bool], ...]:
    return _WAITING, untaken(told_key, now), _C.alive_until >= now


def _take(session: Session, row: Row[Any], client: str, lease_ms: int, now: int) -> Held | None:
    until = lease_end(now, now, lease_ms, row.timeout_ms)
    values = {"leased_at": now, "lease_until": until, "client": client}
    if not _change(session, row.id, and_(*_free(None, now)), values):
        return None
    return Held(row.id, row.chat_id, row.connection, row.prompt, row.created_at, until)


def _change(session: Session, call_id: str, where: ColumnElement[bool] | None, values: Mapping[str, Any]) -> bool:
    statement = update(_TABLE).where(_C.id == call_id)
    statement = statement if where is None else statement.where(where)
    return bool(rows(session, statement.values(**values), {}).rowcount)


def _as(standing: Standing) -> ColumnElement[bool]:
    """Still as it was read: on PostgreSQL another may write in between."""
    names = ("state", "leased_at", "lease_until", "client")
    return and_(*(_C[name].is_not_distinct_from(getattr(standing, name)) for name in names))


def _tell(session: Session, told_key: int, call_id: str, connection: str) -> None:
    events.add(session, told_key, "client_call", {"id": call_id, "connection": connection})


def _purge(session: Session, now: int) -> None:
    rows(session, delete(_TABLE).where(_C.alive_until < bindparam("before")), {"before": now - KEPT_MS})


_SHOWN: Select[Any] = select(
    _C.id, _C.connection, _C.prompt, _C.created_at, _C.timeout_ms, _CHATS.c.id.label("chat_id")
).join(_CHATS, _CHATS.c.key == _C.told_key)
