"""Lists of messages, page by page, each with the id of its leaf."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, and_, select, true
from sqlmodel import Session, col

from app.store.messages import Leaf, leaf_of, uncovered_by
from app.store.tables import Message, Snippet


def page(
    session: Session, chat_key: int, strategy: str, where: ColumnElement[bool], after: int, limit: int
) -> list[tuple[Message, str | None]]:
    """Messages with index over `after` that fulfil `where`, by index, each with the id of its leaf."""
    query = (
        _with_leaf(chat_key, strategy)
        .where(col(Message.position) > after, where)
        .order_by(col(Message.position))
        .limit(limit)
    )
    return [(message, snippet_id) for message, snippet_id in session.execute(query)]


def chosen(
    session: Session, chat_key: int, strategy: str, message_ids: Sequence[str]
) -> list[tuple[Message, str | None]]:
    """These messages by index, each with the id of its leaf. At most 1000.

    Sorted here: SQLite, asked for an order, would walk through the whole chat in it instead of looking the ids up.
    """
    query = _with_leaf(chat_key, strategy).where(col(Message.id).in_(message_ids))
    found = [(message, snippet_id) for message, snippet_id in session.execute(query)]
    return sorted(found, key=lambda pair: pair[0].position)


def _with_leaf(chat_key: int, strategy: str) -> Select[Message, str]:
    leaf = leaf_of(strategy)
    joined = col(Snippet.key) == (leaf if leaf is not None else -1)
    return select(Message, col(Snippet.id)).outerjoin(Snippet, joined).where(col(Message.chat_key) == chat_key)


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


def under(leaf: Leaf, snippet_keys: Sequence[int]) -> ColumnElement[bool]:
    """Selects messages that one of these snippets covers itself."""
    return leaf.in_(snippet_keys)
