"""Where snippets stand: how far memory reaches, and the place of a new snippet among those there are."""

from sqlalchemy import bindparam, func, select, text
from sqlmodel import Session, SQLModel, col

from app.core.model import Strategy
from app.store import leaves, messages, snippets
from app.store.prepared import Prepared
from app.store.tables import Snippet

_M = SQLModel.metadata.tables["messages"].c
_LAST_LIVE = Prepared(
    select(col(Snippet.key))
    .where(
        *(col(Snippet.chat_key) == bindparam("chat_key"), col(Snippet.strategy) == bindparam("strategy")),
        text("state = 'live'"),  # as the index of places says it
    )
    .order_by(col(Snippet.layer), col(Snippet.position).desc())
    .limit(1)
)
_LAST_PART = Prepared(
    select(col(Snippet.key))
    .where(col(Snippet.parent_key) == bindparam("parent"))
    .order_by(col(Snippet.layer), col(Snippet.position).desc())
    .limit(1)
)
_LAST_UNDER = {
    leaf: Prepared(select(func.max(_M.position)).where(messages.of_chat(), _M[leaf] == bindparam("leaf")))
    for leaf in messages.LEAVES
}
_PLACE = Prepared(
    select(col(Snippet.parent_key), col(Snippet.layer), col(Snippet.position)).where(
        col(Snippet.key) == bindparam("key")
    )
)


def last_covered(session: Session, chat_key: int, strategy: str) -> int | None:
    """The index of the newest covered message: the last one under the last live snippet. Snippets must be flushed."""
    leaf = messages.leaf_of(strategy)
    key = _LAST_LIVE.value(session, {"chat_key": chat_key, "strategy": strategy})
    if leaf is None or key is None:
        return None
    # What a summary that is written anew covers itself is newer than all that its predecessors do.
    while strategy == Strategy.LAYERED and (below := _LAST_PART.value(session, {"parent": key})) is not None:
        key = below
    found = _LAST_UNDER[leaf.key].value(session, {"chat_key": chat_key, "leaf": key})
    return None if found is None else int(found)


def place_for(session: Session, chat_key: int, strategy: str, first: int, last: int, layer: int = 0) -> tuple[int, int]:
    """Layer and position for a snippet over messages `first` to `last`, where room is made.

    Deeper layers cover earlier turns, so its layer lies between those of the live snippets before and after it; if
    they leave a choice it is `layer` (layered.md, Late folds). Snippets must be flushed.
    """
    newest = last_covered(session, chat_key, strategy)
    before = leaves.leaf_before(session, chat_key, strategy, first) if newest is not None else None
    after = leaves.leaf_after(session, chat_key, strategy, last) if newest is not None and newest > last else None
    if before is not None:
        layer = min(layer, _place_of_root(session, before)[0])
    place = _place_of_root(session, after) if after is not None else None
    if place is None or place[0] < layer:
        return layer, snippets.next_position(session, chat_key, strategy, layer)
    snippets.make_room(session, chat_key, strategy, *place)
    return place


def _place_of_root(session: Session, leaf: int) -> tuple[int, int]:
    """Layer and position of the snippet that stands for a leaf in the prompt."""
    above: int | None = leaf
    while above is not None:
        [(above, layer, position)] = _PLACE.all(session, {"key": above})
    return layer, position
