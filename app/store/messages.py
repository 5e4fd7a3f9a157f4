"""Reading and writing messages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Row, and_, bindparam, case, func, insert, or_, select, true, update
from sqlalchemy.orm import InstrumentedAttribute
from sqlmodel import Session, col

from app.core.model import Message as CoreMessage
from app.core.model import Role, Strategy
from app.store.tables import Message, Snippet

_AT_ONCE = 1000
"""How many values one statement names; SQLite takes 32,766."""

T = TypeVar("T")
Leaf = InstrumentedAttribute[int | None]


def leaf_of(strategy: str) -> Leaf | None:
    """The column that says which snippet of a strategy covers a message; None where nothing is covered."""
    columns = {
        Strategy.LAYERED: col(Message.layered_leaf),
        Strategy.ROLLING: col(Message.rolling_leaf),
        Strategy.SUMMARY_BUFFER: col(Message.buffer_leaf),
    }
    column: Any = columns.get(Strategy(strategy))
    return column  # type: ignore[no-any-return]  # SQLModel types its columns as values


class Content(NamedTuple):
    """What a stored message says."""

    role: str
    name: str | None
    content: str | None
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Messages of a chat by state, and their tokens. `closed_ghosted`: ghosted messages that end a turn."""

    messages: int = 0
    ghosted: int = 0
    hidden: int = 0
    omitted: int = 0
    pinned: int = 0
    raw_tokens: int = 0
    ghosted_tokens: int = 0
    closed_ghosted: int = 0


_LIGHT = (
    col(Message.key),
    col(Message.position),
    col(Message.role),
    col(Message.tokens),
    col(Message.blank),
    col(Message.hidden),
    col(Message.pinned),
    col(Message.omitted),
    col(Message.skipped),
    col(Message.tool_calls),
    col(Message.tool_call_id),
    col(Message.revision),
)


def _of_chat() -> ColumnElement[bool]:
    return col(Message.chat_key) == bindparam("chat_key")


def _uncovered_by(leaf: Leaf | None) -> ColumnElement[bool]:
    return true() if leaf is None else leaf.is_(None)


_UNCOVERED = {
    strategy: select(*_LIGHT).where(_of_chat(), _uncovered_by(leaf_of(strategy))).order_by(col(Message.position))
    for strategy in Strategy
}


def uncovered(session: Session, chat_key: int, strategy: str) -> list[CoreMessage]:
    """The messages no live snippet of the strategy covers, hidden and omitted ones included, by index."""
    rows = session.execute(_UNCOVERED[Strategy(strategy)], {"chat_key": chat_key})
    return [_to_core(row) for row in rows]


_ROLES = {role.value: role for role in Role}


def _to_core(row: Row[Any]) -> CoreMessage:
    key, position, role, tokens, blank, hidden, pinned, omitted, skipped, calls, answers, revision = tuple(row)
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


_CONTENTS = select(
    col(Message.key),
    col(Message.role),
    col(Message.name),
    col(Message.content),
    col(Message.tool_calls),
    col(Message.tool_call_id),
).where(col(Message.key).in_(bindparam("keys", expanding=True)))


def contents(session: Session, keys: Sequence[int]) -> dict[int, Content]:
    """What these messages say, by key."""
    found = {}
    for some in _chunks(keys):
        for key, *values in session.execute(_CONTENTS, {"keys": some}):
            found[key] = Content(*values)
    return found


def unchanged(session: Session, messages: Sequence[CoreMessage], leaf: Leaf) -> bool:
    """Whether all of them are still there as they were read: same text, uncovered, neither hidden nor pinned."""
    wanted = {message.key: message.revision for message in messages}
    query = select(col(Message.key), col(Message.revision)).where(
        col(Message.key).in_(bindparam("keys", expanding=True)),
        leaf.is_(None),
        col(Message.hidden).is_(False),
        col(Message.pinned).is_(False),
        col(Message.omitted).is_(False),
    )
    found = {row.key: row.revision for some in _chunks(list(wanted)) for row in session.execute(query, {"keys": some})}
    return found == wanted


def cover(session: Session, keys: Sequence[int], leaf: Leaf, snippet_key: int) -> None:
    """Ghost these messages under a snippet."""
    for some in _chunks(keys):
        session.execute(update(Message).where(col(Message.key).in_(some)).values({leaf: snippet_key, "skipped": False}))


def uncover_all(session: Session, chat_key: int) -> None:
    """No message of the chat is covered any more, by no strategy."""
    leaves: dict[str, None] = dict.fromkeys(("layered_leaf", "rolling_leaf", "buffer_leaf"))
    covered = or_(*(getattr(Message, name).is_not(None) for name in leaves))
    session.execute(update(Message).where(col(Message.chat_key) == chat_key, covered).values(**leaves))


def set_skipped(session: Session, keys: Sequence[int]) -> None:
    """Mark messages of turns that a person chose not to fold."""
    for some in _chunks(keys):
        session.execute(update(Message).where(col(Message.key).in_(some)).values(skipped=True))


def take_up_skipped(session: Session, chat_key: int) -> None:
    """Skipped turns count again like all others."""
    skipped = (col(Message.chat_key) == chat_key, col(Message.skipped).is_(True))
    session.execute(update(Message).where(*skipped).values(skipped=False))


def insert_many(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Add messages; each row has the columns of the table, those with defaults may be left out of all rows alike."""
    if rows:
        session.execute(insert(Message), rows)


_BY_IDS = select(Message).where(_of_chat(), col(Message.id).in_(bindparam("ids", expanding=True)))


def by_ids(session: Session, chat_key: int, ids: Iterable[str]) -> dict[str, Message]:
    """Messages of a chat by their ids; unknown ids are left out."""
    found = {}
    for some in _chunks(list(ids)):
        for message in session.execute(_BY_IDS, {"chat_key": chat_key, "ids": some}).scalars():
            found[message.id] = message
    return found


_ID_AT = select(col(Message.id)).where(_of_chat(), col(Message.position) == bindparam("index"))


def id_at(session: Session, chat_key: int, index: int) -> str:
    """The id of the message at a place."""
    return str(session.execute(_ID_AT, {"chat_key": chat_key, "index": index}).scalar_one())


def page(
    session: Session, chat_key: int, strategy: str, where: ColumnElement[bool], after: int, limit: int
) -> list[tuple[Message, str | None]]:
    """Messages with index over `after` that fulfil `where`, by index, each with the id of its leaf."""
    leaf = leaf_of(strategy)
    joined = col(Snippet.key) == (leaf if leaf is not None else -1)
    query = (
        select(Message, col(Snippet.id))
        .outerjoin(Snippet, joined)
        .where(col(Message.chat_key) == chat_key, col(Message.position) > after, where)
        .order_by(col(Message.position))
        .limit(limit)
    )
    return [(message, snippet_id) for message, snippet_id in session.execute(query)]


def in_state(state: str, strategy: str) -> ColumnElement[bool]:
    """What `?state=` of the contract selects."""
    leaf = leaf_of(strategy)
    shown = and_(col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    choices: dict[str, ColumnElement[bool]] = {
        "all": true(),
        "visible": and_(shown, _uncovered_by(leaf)),
        "ghosted": ~true() if leaf is None else leaf.is_not(None),
        "hidden": col(Message.hidden).is_(True),
    }
    return choices[state]


def with_id(message_id: str) -> ColumnElement[bool]:
    """Selects one message by its id."""
    return col(Message.id) == message_id


def with_ids(message_ids: Sequence[str]) -> ColumnElement[bool]:
    """Selects messages by their ids."""
    return col(Message.id).in_(message_ids)


def from_index(index: int) -> ColumnElement[bool]:
    """Selects messages from a place on."""
    return col(Message.position) >= index


def either(one: ColumnElement[bool], other: ColumnElement[bool]) -> ColumnElement[bool]:
    """Selects what one of the two selects."""
    return or_(one, other)


def under(leaf: Leaf, snippet_keys: Sequence[int]) -> ColumnElement[bool]:
    """Selects messages that one of these snippets covers itself."""
    return leaf.in_(snippet_keys)


def counts(session: Session, chat_key: int, strategy: str) -> Counts:
    """How many messages are in which state."""
    leaf = leaf_of(strategy)
    covered = ~true() if leaf is None else leaf.is_not(None)
    uncovered_rows = (
        select(
            func.count(),
            func.sum(case((col(Message.hidden).is_(True), 1), else_=0)),
            func.sum(case((and_(col(Message.omitted).is_(True), col(Message.hidden).is_(False)), 1), else_=0)),
            func.sum(case((col(Message.pinned).is_(True), 1), else_=0)),
            func.sum(case((col(Message.hidden).is_(True), 0), else_=col(Message.tokens))),
        )
        .select_from(Message)
        .where(_of_chat(), ~covered)
    )
    ghosted_rows = (
        select(func.count(), func.sum(Message.tokens), func.sum(case((col(Message.closes).is_(True), 1), else_=0)))
        .select_from(Message)
        .where(_of_chat(), covered)
    )
    open_count, hidden, omitted, pinned, tokens = session.execute(uncovered_rows, {"chat_key": chat_key}).one()
    ghosted, ghosted_tokens, closed = session.execute(ghosted_rows, {"chat_key": chat_key}).one()
    return Counts(
        messages=open_count + ghosted,
        ghosted=ghosted,
        hidden=hidden or 0,
        omitted=omitted or 0,
        pinned=pinned or 0,
        raw_tokens=(tokens or 0) + (ghosted_tokens or 0),
        ghosted_tokens=ghosted_tokens or 0,
        closed_ghosted=closed or 0,
    )


_NEXT_NAME = select(func.min(Message.name)).where(_of_chat(), col(Message.name) > bindparam("name"))
_UNNAMED_USER = select(col(Message.key)).where(_of_chat(), col(Message.name).is_(None), col(Message.role) == "user")


def count_speakers(session: Session, chat_key: int, most: int) -> int:
    """How many different speakers the chat has, counted up to `most`, by a few jumps in the index of names."""
    found, name = 0, ""
    while found < most:
        following = session.execute(_NEXT_NAME, {"chat_key": chat_key, "name": name}).scalar()
        if following is None:
            unnamed = session.execute(_UNNAMED_USER.limit(1), {"chat_key": chat_key}).first()
            return found + (1 if unnamed else 0)
        found, name = found + 1, following
    return found


def _chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
