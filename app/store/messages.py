"""Reading and writing messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, func, insert, or_, select, true, update
from sqlalchemy.orm import InstrumentedAttribute
from sqlmodel import Session, SQLModel, col

from app.core.model import Message as CoreMessage
from app.core.model import Role, Strategy
from app.store.engine import rows
from app.store.prepared import Prepared, PreparedAmong
from app.store.tables import Message

_AT_ONCE = 1000
"""How many values one statement names; SQLite takes 32,766."""

LEAVES = ("layered_leaf", "rolling_leaf", "buffer_leaf")
"""The columns that say which snippet covers a message: one per strategy that has memory."""

T = TypeVar("T")
Leaf = InstrumentedAttribute[int | None]


def leaf_of(strategy: str) -> Leaf | None:
    """The column that says which snippet of a strategy covers a message; None where nothing is covered."""
    columns = {
        Strategy.LAYERED: col(Message.layered_leaf),
        Strategy.ROLLING: col(Message.rolling_leaf),
        Strategy.SUMMARY_BUFFER: col(Message.buffer_leaf),
    }
    return cast("Leaf | None", columns.get(Strategy(strategy)))  # SQLModel types its columns as values


class Content(NamedTuple):
    """What a stored message says."""

    role: str
    name: str | None
    content: str | None
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None


_T = SQLModel.metadata.tables["messages"].c
_LIGHT = (
    *(
        _T.key,
        _T.position,
        _T.role,
        (_T.tokens + _T.call_tokens),
        _T.blank,
        _T.hidden,
        _T.pinned,
        _T.omitted,
        _T.skipped,
    ),
    *(_T.tool_calls, _T.tool_call_id, _T.revision),
)


def of_chat() -> ColumnElement[bool]:
    """Selects the messages of the chat `:chat_key`."""
    return col(Message.chat_key) == bindparam("chat_key")


def uncovered_by(leaf: Leaf | None) -> ColumnElement[bool]:
    """Selects messages without a leaf in this column."""
    return true() if leaf is None else leaf.is_(None)


def _uncovered(strategy: str) -> Select[Any]:
    return select(*_LIGHT).where(of_chat(), uncovered_by(leaf_of(strategy)))


_UNCOVERED = {strategy: Prepared(_uncovered(strategy).order_by(_T.position)) for strategy in Strategy}
_OLDEST = {
    strategy: Prepared(_uncovered(strategy).order_by(_T.position).limit(bindparam("most"))) for strategy in Strategy
}


def uncovered(session: Session, chat_key: int, strategy: str, most: int = -1) -> list[CoreMessage]:
    """The messages no live snippet of the strategy covers, hidden and omitted ones included, by index.

    `most`: only so many of the oldest; -1 for all.
    """
    query = (_UNCOVERED if most < 0 else _OLDEST)[Strategy(strategy)]
    return [_to_core(row) for row in query.all(session, {"chat_key": chat_key, "most": most})]


_NEWEST = {
    strategy: Prepared(_uncovered(strategy).order_by(_T.position.desc()).limit(bindparam("most")))
    for strategy in Strategy
}


def newest_uncovered(session: Session, chat_key: int, strategy: str, most: int) -> list[CoreMessage]:
    """The newest messages no live snippet covers, by index."""
    found = _NEWEST[Strategy(strategy)].all(session, {"chat_key": chat_key, "most": most})
    return [_to_core(row) for row in reversed(found)]


_BETWEEN = (
    select(*_LIGHT).where(of_chat(), _T.position.between(bindparam("first"), bindparam("last"))).order_by(_T.position)
)


def between(session: Session, chat_key: int, first: int, last: int) -> list[CoreMessage]:
    """The messages from one index to another, both included, whatever covers or hides them."""
    found = rows(session, _BETWEEN, {"chat_key": chat_key, "first": first, "last": last})
    return [_to_core(row) for row in found.all()]


_ROLES = {role.value: role for role in Role}


def _to_core(row: Sequence[Any]) -> CoreMessage:
    key, position, role, tokens, blank, hidden, pinned, omitted, skipped, calls, answers, revision = row
    return CoreMessage(
        key,
        position,
        _ROLES[role],
        tokens,
        blank,
        hidden,
        pinned,
        omitted,
        skipped,
        tuple(str(call.get("id")) for call in calls) if calls else (),
        answers,
        revision,
    )


_CONTENTS = PreparedAmong(
    select(_T.key, _T.role, _T.name, _T.content, _T.tool_calls, _T.tool_call_id),
    _T.key,
)


def contents(session: Session, keys: Sequence[int]) -> dict[int, Content]:
    """What these messages say, by key."""
    found = {}
    for some in chunks(keys):
        for key, *values in _CONTENTS.all(session, some):
            found[key] = Content(*values)
    return found


_BY_KEYS = select(*_LIGHT).where(_T.key.in_(bindparam("keys", expanding=True)))


def by_keys(session: Session, keys: Sequence[int]) -> dict[int, CoreMessage]:
    """Those of these messages that still exist, by key, covered or not."""
    return {row.key: _to_core(row) for some in chunks(keys) for row in rows(session, _BY_KEYS, {"keys": some})}


_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_PLAIN = (_T.hidden.is_(False), _T.pinned.is_(False), _T.omitted.is_(False))
# What a person chose to skip is a matter of layered memory alone.
_TAKEN_UP: Mapping[str, Mapping[str, Any]] = {"layered_leaf": {"skipped": False}}
_NOT_SKIPPED: Mapping[str, Sequence[ColumnElement[bool]]] = {"layered_leaf": (_T.skipped.is_(False),)}
_UNCHANGED = {
    leaf: PreparedAmong(
        select(_T.key, _T.revision).where(_T[leaf].is_(None), *_NOT_SKIPPED.get(leaf, ()), *_PLAIN), _T.key
    )
    for leaf in LEAVES
}
_COVER = {
    leaf: update(SQLModel.metadata.tables["messages"])
    .where(_T.key.in_(_KEYS))
    .values({leaf: bindparam("snippet_key"), **_TAKEN_UP.get(leaf, {})})
    for leaf in LEAVES
}


def unchanged(session: Session, messages: Sequence[CoreMessage], leaf: Leaf) -> bool:
    """Whether all are there as they were read: same text, uncovered, neither hidden, pinned nor skipped by now."""
    wanted = {message.key: message.revision for message in messages}
    query = _UNCHANGED[leaf.key]
    found = [row for some in chunks(list(wanted)) for row in query.all(session, some)]
    return dict(found) == wanted


_SPAN = PreparedAmong(select(func.min(_T.position), func.max(_T.position), func.count()), _T.key)


def span(session: Session, keys: Sequence[int]) -> tuple[int, int] | None:
    """Where the first and the last of these messages stand now; None if one of them is gone."""
    found = [row for some in chunks(keys) for row in _SPAN.all(session, some)]
    if not found or sum(count for _, _, count in found) < len(keys):
        return None
    return min(first for first, _, _ in found), max(last for _, last, _ in found)


def under(session: Session, chat_key: int, leaf: Leaf, snippet_key: int, first: int, last: int) -> list[CoreMessage]:
    """The messages between two places that a leaf covers, or that nothing covers and nobody hid, by index."""
    shown = and_(leaf.is_(None), col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    between = (col(Message.chat_key) == chat_key, col(Message.position).between(first, last))
    query = select(*_LIGHT).where(*between, or_(leaf == snippet_key, shown)).order_by(col(Message.position))
    return [_to_core(row) for row in session.execute(query)]


def cover(session: Session, keys: Sequence[int], leaf: Leaf, snippet_key: int) -> None:
    """Ghost these messages under a snippet."""
    for some in chunks(keys):
        rows(session, _COVER[leaf.key], {"keys": some, "snippet_key": snippet_key})


def uncover(session: Session, chat_key: int, leaf: Leaf, snippet_key: int) -> None:
    """Make what one snippet covers visible."""
    mine = (col(Message.chat_key) == chat_key, leaf == snippet_key)
    session.execute(update(Message).where(*mine).values({leaf: None}))


def uncover_all(session: Session, chat_key: int) -> None:
    """No message of the chat is covered any more, by no strategy."""
    leaves: dict[str, None] = dict.fromkeys(LEAVES)
    covered = or_(*(getattr(Message, name).is_not(None) for name in leaves))
    session.execute(update(Message).where(col(Message.chat_key) == chat_key, covered).values(**leaves))


def set_skipped(session: Session, keys: Sequence[int]) -> None:
    """Mark messages of turns that a person chose not to fold."""
    for some in chunks(keys):
        session.execute(update(Message).where(col(Message.key).in_(some)).values(skipped=True))


def take_up_skipped(session: Session, chat_key: int) -> None:
    """Skipped turns count again like all others."""
    skipped = (col(Message.chat_key) == chat_key, col(Message.skipped).is_(True))
    session.execute(update(Message).where(*skipped).values(skipped=False))


_INSERT = insert(SQLModel.metadata.tables["messages"])
_INSERT_ALIKE = _INSERT.returning(_T.key)


def insert_many(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Add messages; each row has the columns of the table, those with defaults may be left out of all rows alike."""
    if rows:
        # Not through the ORM, which would look at every value of every row. RETURNING makes SQLAlchemy write many rows
        # with one statement: at each statement with a trigger, FTS5 writes down all it holds, which takes five times as
        # long as to index a row. SQLite before 3.35 has no RETURNING.
        connection = session.connection()
        many = connection.dialect.insert_executemany_returning
        connection.execute(_INSERT_ALIKE if many else _INSERT, rows)


_BY_IDS = select(Message).where(of_chat(), col(Message.id).in_(bindparam("ids", expanding=True)))


def by_ids(session: Session, chat_key: int, ids: Iterable[str]) -> dict[str, Message]:
    """Messages of a chat by their ids; unknown ids are left out."""
    found = {}
    for some in chunks(list(ids)):
        for message in session.execute(_BY_IDS, {"chat_key": chat_key, "ids": some}).scalars():
            found[message.id] = message
    return found


_ID_AT = Prepared(select(_T.id).where(_T.chat_key == bindparam("chat_key"), _T.position == bindparam("index")))


def id_at(session: Session, chat_key: int, index: int) -> str:
    """The id of the message at a place."""
    [(found,)] = _ID_AT.all(session, {"chat_key": chat_key, "index": index})
    return str(found)


def covered(session: Session, chat_key: int, leaf: Leaf, keys: Sequence[int]) -> list[CoreMessage]:
    """The messages that these leaves cover, by index."""
    query = select(*_LIGHT).where(col(Message.chat_key) == chat_key, leaf.in_(keys)).order_by(col(Message.position))
    return [_to_core(row) for row in session.execute(query)]


_NAMED = select(_T.key, _T.id, _T.name).where(_T.key.in_(bindparam("keys", expanding=True)))


def named(session: Session, keys: Sequence[int]) -> dict[int, tuple[str, str | None]]:
    """The ids of these messages and the names they bear, by key."""
    found = [row for some in chunks(keys) for row in rows(session, _NAMED, {"keys": some})]
    return {row.key: (row.id, row.name) for row in found}


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """A few at a time, as many as one statement may name."""
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
