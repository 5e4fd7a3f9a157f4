"""Changing what was said: places, texts and marks of stored messages, and what is kept of those that went."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import CursorResult, bindparam, delete, insert, select, update
from sqlmodel import Session, SQLModel, col

from app.store.clock import now_ms
from app.store.engine import rows
from app.store.kept_tables import KeptMessage
from app.store.messages import chunks
from app.store.tables import Message

KEPT_MS = 30 * 24 * 60 * 60 * 1000
"""How long deleted messages and overwritten texts are kept (http-api.md, Messages)."""

LEAVES = ("layered_leaf", "rolling_leaf", "buffer_leaf")
SNAPSHOT = (
    *("role", "name", "content", "tokens", "call_tokens", "blank", "closes", "hidden", "pinned", "omitted"),
    *("created_at", "tool_call_id", "tool_calls", "extra"),
)
"""The columns of a message that are kept when it goes, and that a restore writes back."""
_TABLE = SQLModel.metadata.tables["messages"]
_T = _TABLE.c
_KEPT = SQLModel.metadata.tables["kept_messages"]

_WHOLE = select(_T.key, _T.position, _T.id, _T.revision, *(_T[name] for name in (*SNAPSHOT, *LEAVES)))
_ALL = _WHOLE.where(_T.chat_key == bindparam("chat_key")).order_by(_T.position)
_CHOSEN = _WHOLE.where(_T.key.in_(bindparam("keys", expanding=True)))
_STAMP = ("key", "position", "id", "revision", "hidden", "pinned", "omitted", "created_at", "extra", *LEAVES)
_STAMPS = select(*(_T[name] for name in _STAMP)).where(_T.chat_key == bindparam("chat_key")).order_by(_T.position)
_CHANGE = update(_TABLE).where(_T.key == bindparam("changed_key"))
_ASIDE = (
    update(_TABLE)
    .where(_T.chat_key == bindparam("chat"), _T.position.between(bindparam("first"), bindparam("last")))
    .values(position=-1 - (_T.position + bindparam("shift")))
)
_BACK = update(_TABLE).where(_T.chat_key == bindparam("chat"), _T.position < 0).values(position=-1 - _T.position)

_END = 2**40

Row = Mapping[str, Any]


def whole(session: Session, chat_key: int) -> list[Row]:
    """All messages of a chat by index, with everything a frontend may have changed."""
    return _as_rows(rows(session, _ALL, {"chat_key": chat_key}))


def chosen(session: Session, keys: Sequence[int]) -> list[Row]:
    """The same of some messages."""
    return [row for some in chunks(keys) for row in _as_rows(rows(session, _CHOSEN, {"keys": some}))]


def is_as_read(session: Session, chat_key: int, found: Sequence[Row]) -> bool:
    """Whether the messages of a chat are still what `whole` found. Texts are not read again: their revisions tell."""
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


def keep_overwritten(session: Session, chat_key: int, found: Iterable[Row]) -> None:
    """Keep messages as they are before they change."""
    _keep(session, [_kept(chat_key, row, "overwritten", None) for row in found])


def keep_deleted(session: Session, chat_key: int, found: Iterable[tuple[Row, str | None]]) -> None:
    """Keep messages that go, by index, each with the id of the one it stands behind.

    Those that went from there earlier stand between the two, so that whatever comes back finds its place.
    """
    kept: list[dict[str, Any]] = []
    for row, before in found:
        beside = bool(kept) and kept[-1]["id"] == before
        after_id = before if beside else _last_behind(session, chat_key, before)
        kept.append(_kept(chat_key, row, "deleted", after_id))
    _keep(session, kept)


def _last_behind(session: Session, chat_key: int, message_id: str | None) -> str | None:
    """The last of the deleted messages that stood behind a message, one behind the other; itself if there are none."""
    seen: set[str | None] = set()
    while message_id not in seen:
        seen.add(message_id)
        behind = (
            col(KeptMessage.after_id) == message_id if message_id is not None else col(KeptMessage.after_id).is_(None)
        )
        query = select(col(KeptMessage.id)).where(*_restorable(chat_key), col(KeptMessage.why) == "deleted", behind)
        found = session.execute(query.order_by(col(KeptMessage.key).desc()).limit(1)).scalar()
        message_id = found if found is not None else message_id
    return message_id


def _kept(chat_key: int, row: Row, why: str, after_id: str | None) -> dict[str, Any]:
    return {
        "chat_key": chat_key,
        "id": row["id"],
        "why": why,
        "position": row["position"],
        "after_id": after_id,
        "kept_at": now_ms(),
        "snapshot": {name: row[name] for name in SNAPSHOT},
    }


def _keep(session: Session, kept: Sequence[dict[str, Any]]) -> None:
    for some in chunks(kept):
        session.connection().execute(insert(_KEPT), some)
    if kept:
        purge(session)


def purge(session: Session) -> int:
    """Forget what has been kept long enough; how many messages that were."""
    old = delete(KeptMessage).where(col(KeptMessage.kept_at) < now_ms() - KEPT_MS)
    return int(session.execute(old).rowcount)  # type: ignore[attr-defined]  # a CursorResult, as always for DELETE


def newest_kept(session: Session, chat_key: int, message_id: str, why: str | None = None) -> KeptMessage | None:
    """What was kept last of a message and can still be restored."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.id) == message_id)
    if why is not None:
        query = query.where(col(KeptMessage.why) == why)
    return session.execute(query.order_by(col(KeptMessage.key).desc()).limit(1)).scalar_one_or_none()


def kept_of(session: Session, chat_key: int, message_id: str) -> list[KeptMessage]:
    """Everything kept of a message, newest first."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.id) == message_id)
    return list(session.execute(query.order_by(col(KeptMessage.key).desc())).scalars())


def deleted_page(session: Session, chat_key: int, after: tuple[int, int] | None, limit: int) -> list[KeptMessage]:
    """Deleted messages by the index they had, then by when they went, after a place (index, key)."""
    query = select(KeptMessage).where(*_restorable(chat_key), col(KeptMessage.why) == "deleted")
    if after is not None:
        position, key = after
        later = (col(KeptMessage.position) == position) & (col(KeptMessage.key) > key)
        query = query.where((col(KeptMessage.position) > position) | later)
    order = (col(KeptMessage.position), col(KeptMessage.key))
    return list(session.execute(query.order_by(*order).limit(limit)).scalars())


def _restorable(chat_key: int) -> tuple[Any, ...]:
    return col(KeptMessage.chat_key) == chat_key, col(KeptMessage.kept_at) >= now_ms() - KEPT_MS
