"""Which leaf covers the messages at a place: found by an index of their own, however long the chat."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, bindparam, select
from sqlmodel import Session, SQLModel

from app.store.messages import LEAVES, Leaf, leaf_of, of_chat
from app.store.prepared import Prepared

_M = SQLModel.metadata.tables["messages"].c


def _nearest(name: str, where: ColumnElement[bool], order: ColumnElement[Any]) -> Prepared:
    covered = (of_chat(), where, _M[name].is_not(None))
    return Prepared(select(_M[name]).where(*covered).order_by(order).limit(1))


_LEAF_AFTER = {leaf: _nearest(leaf, _M.position > bindparam("index"), _M.position.asc()) for leaf in LEAVES}
_LEAF_BEFORE = {leaf: _nearest(leaf, _M.position < bindparam("index"), _M.position.desc()) for leaf in LEAVES}
_ANY_COVERED = {
    leaf: Prepared(
        select(_M.key)
        .where(of_chat(), _M.position.between(bindparam("first"), bindparam("last")), _M[leaf].is_not(None))
        .limit(1)
    )
    for leaf in LEAVES
}


def leaf_after(session: Session, chat_key: int, strategy: str, index: int) -> int | None:
    """The leaf of the first covered message after a place."""
    return _leaf_at(session, _LEAF_AFTER, chat_key, strategy, index)


def leaf_before(session: Session, chat_key: int, strategy: str, index: int) -> int | None:
    """The leaf of the last covered message before a place."""
    return _leaf_at(session, _LEAF_BEFORE, chat_key, strategy, index)


def _leaf_at(session: Session, queries: Mapping[str, Prepared], chat_key: int, strategy: str, index: int) -> int | None:
    leaf = leaf_of(strategy)
    found = queries[leaf.key].value(session, {"chat_key": chat_key, "index": index}) if leaf is not None else None
    return None if found is None else int(found)


def any_covered(session: Session, chat_key: int, leaf: Leaf, first: int, last: int) -> bool:
    """Whether a snippet covers one of the messages between these places."""
    return bool(_ANY_COVERED[leaf.key].all(session, {"chat_key": chat_key, "first": first, "last": last}))
