"""What would break a promise of layered.md in rows that came in with a file, found without reading them all."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from app.store.messages import Leaf
from app.store.tables import Message, Snippet


class Range(NamedTuple):
    """What a live snippet covers: indices of messages; None where nothing is under it."""

    snippet_id: str
    first: int | None
    last: int | None


def first_rootless(session: Session, chat_key: int) -> str | None:
    """The id of a snippet whose chain of parents has no end, if there is one."""
    mine = col(Snippet.chat_key) == chat_key
    tree = _trees(and_(mine, col(Snippet.state) != "absorbed"))
    lost = (mine, col(Snippet.state) == "absorbed", col(Snippet.key).not_in(select(tree.c.leaf)))
    return session.execute(select(col(Snippet.id)).where(*lost).order_by(col(Snippet.key)).limit(1)).scalar()


def first_stranded(session: Session, chat_key: int, strategy: str, leaf: Leaf) -> tuple[str, str] | None:
    """A message under a snippet that is neither live nor a part of a live one, if there is one: both ids."""
    tree = _trees(_live(chat_key, strategy))
    query = (
        select(col(Message.id), col(Snippet.id))
        .join(Snippet, col(Snippet.key) == leaf)
        .where(col(Message.chat_key) == chat_key, leaf.is_not(None), leaf.not_in(select(tree.c.leaf)))
        .order_by(col(Message.position))
        .limit(1)
    )
    found = session.execute(query).first()
    return (found[0], found[1]) if found else None


def live_ranges(session: Session, chat_key: int, strategy: str, leaf: Leaf) -> Iterator[Range]:
    """What the live snippets of a strategy cover, in reading order."""
    tree, root = _trees(_live(chat_key, strategy)), aliased(Snippet)
    query = (
        select(col(root.id), func.min(Message.position), func.max(Message.position))
        .select_from(tree)
        .join(root, col(root.key) == tree.c.root)
        .outerjoin(Message, and_(col(Message.chat_key) == chat_key, leaf == tree.c.leaf))
        .group_by(col(root.key))
        .order_by(col(root.layer).desc(), col(root.position))
    )
    for row in session.connection().execute(query, execution_options={"yield_per": 1000}):
        yield Range(*row)


def chain_ranges(session: Session, chat_key: int, strategy: str, leaf: Leaf) -> list[list[Range]]:
    """What the summaries of a strategy that keeps one cover themselves: the live ones, what went into these, and so on
    down. All is well with one at each level.
    """
    own = select(leaf, func.min(Message.position), func.max(Message.position)).where(
        col(Message.chat_key) == chat_key, leaf.is_not(None)
    )
    spans = {key: (first, last) for key, first, last in session.execute(own.group_by(leaf))}
    mine = (col(Snippet.chat_key) == chat_key, col(Snippet.strategy) == strategy)
    standing = (*mine, col(Snippet.state).in_(("live", "absorbed")))
    query = select(col(Snippet.key), col(Snippet.id), col(Snippet.parent_key)).where(*standing)
    below: dict[int | None, list[tuple[int, str]]] = {}
    for key, name, parent in session.execute(query.order_by(col(Snippet.key))):
        below.setdefault(parent, []).append((key, name))
    levels: list[list[Range]] = []
    level = below.get(None, [])
    while level:
        levels.append([Range(name, *spans.get(key, (None, None))) for key, name in level])
        level = [part for key, _ in level for part in below.get(key, [])]
    return levels


def _live(chat_key: int, strategy: str) -> ColumnElement[bool]:
    return and_(col(Snippet.chat_key) == chat_key, col(Snippet.strategy) == strategy, col(Snippet.state) == "live")


def _trees(start: ColumnElement[bool]) -> Any:
    """Pairs (root, leaf): every snippet under the ones that `start` selects, themselves included."""
    first: Any = select(col(Snippet.key).label("root"), col(Snippet.key).label("leaf")).where(start)
    tree = first.cte("tree", recursive=True)
    below = select(tree.c.root, col(Snippet.key)).join(tree, col(Snippet.parent_key) == tree.c.leaf)
    return tree.union_all(below)
