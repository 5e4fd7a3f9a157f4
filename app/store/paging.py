"""Lists of messages, page by page, each with the id of its leaf."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, or_, select, true
from sqlmodel import Session, col

from app.store.messages import Leaf, leaf_of, uncovered_by
from app.store.tables import Message, Snippet


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
        "visible": and_(shown, uncovered_by(leaf)),
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
