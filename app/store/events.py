"""What happened to chats, as rows: written in the transaction that makes it happen, read by whoever watches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select
from sqlmodel import Session

from app.store.clock import now_ms
from app.store.engine import rows
from app.store.tables import Event

KEPT_MS = 24 * 60 * 60 * 1000
"""How long they are kept, so that whoever was cut off can read on."""

PROGRESS = "progress"
"""The kind that is about a job alone, and for those who watch that."""

_SLACK_MS = 60 * 60 * 1000
_PURGED_AT_ONCE = 10_000
_NO_KEY = 2**62
_TABLE = Event.metadata.tables["events"]
_E = _TABLE.c
_CHATS = Event.metadata.tables["chats"]
_CHAT_KEY = _CHATS.c.key
_INSERT = insert(_TABLE)


@dataclass(frozen=True, slots=True)
class Noted:
    """A row of the table: its key, what happened, when (epoch ms). `chat_id` is read where all chats are."""

    key: int
    kind: str
    data: Mapping[str, Any]
    created_at: int
    chat_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """What happened to chats and the server; `through`: the key of the last row that was looked at, told or not."""

    found: list[Noted]
    through: int
    full: bool


def add(session: Session, chat_key: int | None, kind: str, data: Mapping[str, Any], job_key: int | None = None) -> None:
    """Note what this transaction does: if it is rolled back, nothing has happened. Without a chat it is the server's.

    `data` is JSON without texts or keys. The chat and the job must have been flushed.
    """
    if session.connection().dialect.name == "postgresql":
        rows(session, _IN_TURN, {})
    values = {"chat_key": chat_key, "job_key": job_key, "kind": kind, "data": dict(data), "created_at": now_ms()}
    rows(session, _INSERT, values)


def of_chat(session: Session, chat_key: int, after: int, limit: int) -> list[Noted]:
    """What happened to a chat after an event, oldest first; the progress of its jobs left out."""
    return _read(session, (_E.chat_key == chat_key, _E.kind != PROGRESS), after, limit)


def of_job(session: Session, job_key: int, after: int, limit: int) -> list[Noted]:
    """The progress of a job after an event, oldest first."""
    return _read(session, (_E.job_key == job_key, _E.kind == PROGRESS), after, limit)


def of_all(session: Session, after: int, limit: int) -> Stretch:
    """What happened to all chats and the server after an event, oldest first, of so many rows.

    Left out are the progress of jobs, and sessions, which no route reaches.
    """
    found = rows(session, _OF_ALL, {"after": after, "limit": limit}).all()
    told = [Noted(*row) for *row, session_of in found if row[1] != PROGRESS and session_of is None]
    return Stretch(told, found[-1][0] if found else after, len(found) == limit)


def newest_of_all(session: Session) -> int:
    """The key of the newest event there is, 0 if there is none."""
    return rows(session, _NEWEST_OF_ALL, {}).scalar() or 0


def newest(session: Session, chat_keys: Sequence[int]) -> dict[int, int]:
    """The key of each chat's newest event, 0 if it has none; a chat that does not exist any more is left out."""
    found = rows(session, _NEWEST, {"chats": list(chat_keys)})
    return {chat_key: key or 0 for chat_key, key in found}


def any_overdue(session: Session) -> bool:
    """Whether the oldest is due to go; a look that locks nothing. An hour late, so that purging is rare."""
    oldest = rows(session, _OLDEST, {}).scalar()
    return oldest is not None and oldest < now_ms() - KEPT_MS - _SLACK_MS


def purge(session: Session) -> None:
    """Forget what has been kept long enough: the oldest, up to the first that has not, so many at once at most."""
    rows(session, _PURGE, {"since": now_ms() - KEPT_MS})


def _read(session: Session, which: Sequence[ColumnElement[bool]], after: int, limit: int) -> list[Noted]:
    query = select(_E.key, _E.kind, _E.data, _E.created_at).where(*which, _E.key > after)
    return [Noted(*row) for row in rows(session, query.order_by(_E.key).limit(limit), {})]


_LAST = select(func.max(_E.key)).where(_E.chat_key == _CHAT_KEY).correlate(_CHAT_KEY.table).scalar_subquery()
_OF_ALL = (
    select(_E.key, _E.kind, _E.data, _E.created_at, _CHATS.c.id, _CHATS.c.session_of)
    .select_from(_TABLE.outerjoin(_CHATS, _E.chat_key == _CHAT_KEY))
    .where(_E.key > bindparam("after"))
    .order_by(_E.key)
    .limit(bindparam("limit"))
)
_NEWEST_OF_ALL = select(func.max(_E.key))
# PostgreSQL draws keys before they are committed. One transaction after another, from its first event to its commit:
# so whoever reads all chats' events in the order of their keys misses none (decision 24). The number is arbitrary.
_IN_TURN = select(func.pg_advisory_xact_lock(7_040_024))
_NEWEST = select(_CHAT_KEY, _LAST).where(_CHAT_KEY.in_(bindparam("chats", expanding=True)))
# Keys rise with time: neither finding the oldest nor what is overdue takes an index of times.
_OLDEST = select(_E.created_at).order_by(_E.key).limit(1)
_FIRST_KEPT = select(_E.key).where(_E.created_at >= bindparam("since")).order_by(_E.key).limit(1).scalar_subquery()
_OVERDUE = select(_E.key).where(_E.key < func.coalesce(_FIRST_KEPT, _NO_KEY)).order_by(_E.key).limit(_PURGED_AT_ONCE)
_PURGE = delete(_TABLE).where(_E.key.in_(_OVERDUE))
