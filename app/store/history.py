"""Changing what was said: places, texts and marks of stored messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import CursorResult, bindparam, delete, func, or_, select, update
from sqlmodel import Session, SQLModel, col

from app.store.engine import rows
from app.store.messages import LEAVES, chunks
from app.store.tables import Message

_END = 2**40
TRAITS = (
    *("role", "name", "content", "tokens", "call_tokens", "blank", "closes", "hidden", "pinned", "omitted", "skipped"),
    *("created_at", "tool_call_id", "tool_calls", "extra"),
)
"""The columns that say what a message is, wherever it stands."""

_TABLE = SQLModel.metadata.tables["messages"]
_T = _TABLE.c

_WHOLE = select(_T.key, _T.position, _T.id, _T.revision, *(_T[name] for name in (*TRAITS, *LEAVES)))
_ALL = _WHOLE.where(_T.chat_key == bindparam("chat_key")).order_by(_T.position)
_CHOSEN = _WHOLE.where(_T.key.in_(bindparam("keys", expanding=True)))
_SPOKEN = (
    select(_T.position)
    .where(_T.chat_key == bindparam("chat_key"), _T.role.in_(("user", "assistant")))
    .order_by(_T.position)
    .limit(1)
)
_COVERED_HEAD = _WHOLE.where(
    _T.chat_key == bindparam("chat_key"),
    _T.position < func.coalesce(_SPOKEN.scalar_subquery(), _END),
    or_(*(_T[leaf].is_not(None) for leaf in LEAVES)),
).order_by(_T.position)
_STAMP = ("key", "position", "id", "revision")
_STAMPS = select(*(_T[name] for name in _STAMP)).where(_T.chat_key == bindparam("chat_key")).order_by(_T.position)
_CHANGE = update(_TABLE).where(_T.key == bindparam("changed_key"))
_ASIDE = (
    update(_TABLE)
    .where(_T.chat_key == bindparam("chat"), _T.position.between(bindparam("first"), bindparam("last")))
    .values(position=-1 - (_T.position + bindparam("shift")))
)
_BACK = update(_TABLE).where(_T.chat_key == bindparam("chat"), _T.position < 0).values(position=-1 - _T.position)

Row = Mapping[str, Any]


def whole(session: Session, chat_key: int) -> list[Row]:
    """All messages of a chat by index, with everything a frontend may have changed."""
    return _as_rows(rows(session, _ALL, {"chat_key": chat_key}))


def chosen(session: Session, keys: Sequence[int]) -> list[Row]:
    """The same of some messages."""
    return [row for some in chunks(keys) for row in _as_rows(rows(session, _CHOSEN, {"keys": some}))]


def covered_head(session: Session, chat_key: int) -> list[Row]:
    """The covered messages before the first user's or assistant's message: these are in no turn (layered.md, Words)."""
    return _as_rows(rows(session, _COVERED_HEAD, {"chat_key": chat_key}))


def is_as_read(session: Session, chat_key: int, found: Sequence[Row]) -> bool:
    """Whether a chat still holds the messages that `whole` found, in their places, with their texts, which are not read
    again: their revisions tell. Marks and snippets may be others by now.
    """
    now = rows(session, _STAMPS, {"chat_key": chat_key}).all()
    return now == [tuple(row[name] for name in _STAMP) for row in found]


def _as_rows(result: CursorResult[*tuple[Any, ...]]) -> list[Row]:
    names = tuple(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result.all()]


def change(session: Session, changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Write new values into columns of messages, by their keys."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for key, values in changes.items():
        alike.setdefault(tuple(sorted(values)), []).append({**values, "changed_key": key})
    for names, some in alike.items():
        if names:
            statement = _CHANGE.values({name: bindparam(name) for name in names})
            session.connection().execute(statement, some)


def shift(session: Session, chat_key: int, first: int, by: int) -> None:
    """Move all messages from a place on by a number of places."""
    values = {"chat": chat_key, "first": first, "last": _END, "shift": by}
    session.connection().execute(_ASIDE, values)
    rows(session, _BACK, {"chat": chat_key})


def move(session: Session, chat_key: int, places: Iterable[tuple[int, int]]) -> None:
    """Give messages new places: pairs of old and new, ascending in both. Free places are the caller's care."""
    shifts = [
        {"chat": chat_key, "first": first, "last": last, "shift": shift}
        for first, last, shift in _stretches(places)
        if shift
    ]
    if shifts:
        # Places are unique at every moment, so they step aside before they step forward.
        session.connection().execute(_ASIDE, shifts)
        rows(session, _BACK, {"chat": chat_key})


def _stretches(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """First and last old place of neighbours that move by the same number of places, and that number."""
    first = last = shift = None
    for old, new in places:
        if first is not None and last is not None and shift is not None and (old != last + 1 or new - old != shift):
            yield first, last, shift
            first = None
        if first is None:
            first, shift = old, new - old
        last = old
    if first is not None and last is not None and shift is not None:
        yield first, last, shift


def remove(session: Session, keys: Sequence[int]) -> None:
    """Take messages out of the chat; places are the caller's care."""
    for some in chunks(keys):
        session.execute(delete(Message).where(col(Message.key).in_(some)))
