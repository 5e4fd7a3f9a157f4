"""Putting a chat right: writing what a check found missing (app.core.invariants). No text is touched."""

from collections.abc import Sequence

from sqlalchemy import bindparam, update
from sqlmodel import Session, SQLModel

from app.core.facts import Ask, Derive, Drop, FallBack, Fix, MarkStale, Rank, Relink, Renumber, Uncover
from app.store import history, trees
from app.store.messages import LEAVES, chunks, leaf_of

_ASIDE = -(2**30)
"""Places are unique at every moment, so rows step aside, below this, before they step where they belong."""

_MESSAGES = SQLModel.metadata.tables["messages"]
_SNIPPETS = SQLModel.metadata.tables["snippets"]
_ONE_MESSAGE = update(_MESSAGES).where(_MESSAGES.c.key == bindparam("one"))
_ONE_SNIPPET = update(_SNIPPETS).where(_SNIPPETS.c.key == bindparam("one"))


def mend(session: Session, chat_key: int, fix: Fix) -> None:
    """Carry a fix out. What the session holds does not notice. Giving back is not done here: it is no matter of rows
    alone.
    """
    match fix:
        case Renumber(places):
            _renumber(session, chat_key, places)
        case Derive(values):
            history.change(session, {key: {"blank": blank, "closes": closes} for key, blank, closes in values})
        case Uncover(keys, stale, strategy):
            _uncover(session, keys, _columns(strategy))
            trees.mark_stale(session, stale)
        case FallBack(strategy, gone, standing):
            _fall_back(session, chat_key, _columns(strategy), gone, standing)
        case Drop(keys):
            _drop(session, chat_key, keys)
        case Relink(values):
            linked = [{"one": key, "its_state": state, "its_parent": parent} for key, state, parent in values]
            link = _ONE_SNIPPET.values(state=bindparam("its_state"), parent_key=bindparam("its_parent"))
            session.connection().execute(link, linked)
        case Rank(places):
            _rank(session, places)
        case MarkStale(keys):
            trees.mark_stale(session, keys)
        case Ask(keys):
            _set(session, keys, asked=True, failures=0)


def _renumber(session: Session, chat_key: int, places: Sequence[tuple[int, int]]) -> None:
    aside = _ONE_MESSAGE.values(position=_ASIDE - bindparam("place"))
    session.connection().execute(aside, [{"one": key, "place": place} for key, place in places])
    waiting = (_MESSAGES.c.chat_key == chat_key, _MESSAGES.c.position <= _ASIDE)
    session.connection().execute(update(_MESSAGES).where(*waiting).values(position=_ASIDE - _MESSAGES.c.position))


def _columns(strategy: str | None) -> Sequence[str]:
    """All leaves at once where no strategy is named: a row that still had one could not be written if it is hidden."""
    leaf = leaf_of(strategy) if strategy else None
    return LEAVES if leaf is None else (leaf.key,)


def _uncover(session: Session, keys: Sequence[int], columns: Sequence[str]) -> None:
    for some in chunks(keys):
        mine = _MESSAGES.c.key.in_(some)
        session.connection().execute(update(_MESSAGES).where(mine).values(dict.fromkeys(columns)))


def _fall_back(
    session: Session, chat_key: int, columns: Sequence[str], gone: Sequence[int], standing: int | None
) -> None:
    for column in columns:
        for some in chunks(gone):
            under = (_MESSAGES.c.chat_key == chat_key, _MESSAGES.c[column].in_(some))
            session.connection().execute(update(_MESSAGES).where(*under).values({column: None}))
    _set(session, gone, state="deleted", parent_key=None)
    if standing is not None:
        _set(session, [standing], state="live", parent_key=None, layer=0, position=0)


def _drop(session: Session, chat_key: int, keys: Sequence[int]) -> None:
    for some in chunks(keys):
        under = (_MESSAGES.c.chat_key == chat_key, _MESSAGES.c.layered_leaf.in_(some))
        session.connection().execute(update(_MESSAGES).where(*under).values(layered_leaf=None))
    _set(session, keys, state="deleted", parent_key=None)


def _rank(session: Session, places: Sequence[tuple[int, int, int]]) -> None:
    aside = _ONE_SNIPPET.values(position=_ASIDE - bindparam("one"))
    session.connection().execute(aside, [{"one": key} for key, _, _ in places])
    there = _ONE_SNIPPET.values(layer=bindparam("its_layer"), position=bindparam("its_position"))
    session.connection().execute(
        there, [{"one": key, "its_layer": layer, "its_position": position} for key, layer, position in places]
    )


def _set(session: Session, keys: Sequence[int], **values: object) -> None:
    for some in chunks(keys):
        session.connection().execute(update(_SNIPPETS).where(_SNIPPETS.c.key.in_(some)).values(**values))
