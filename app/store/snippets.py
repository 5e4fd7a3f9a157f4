"""Reading and writing snippets and what they cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal,
    literal_column,
    select,
    update,
)
from sqlalchemy.orm import aliased
from sqlmodel import Session, SQLModel, col

from app.core.model import Snippet as CoreSnippet
from app.store import leaves, messages
from app.store.engine import rows
from app.store.prepared import Prepared
from app.store.tables import Message, Snippet


@dataclass(frozen=True, slots=True)
class LiveSnippet:
    """A live snippet as decisions see it, with its text."""

    core: CoreSnippet
    position: int
    text: str


@dataclass(frozen=True, slots=True)
class Covers:
    """What lies under a snippet, through whatever layers: 0-based indices and numbers of turns and messages."""

    first_index: int
    last_index: int
    turns: int
    messages: int


READING_ORDER = (col(Snippet.layer).desc(), col(Snippet.position))
_T = SQLModel.metadata.tables["snippets"].c
_IS_LIVE: ColumnElement[str] = literal_column("'live'")  # as the index of places says it
_LIVE = Prepared(
    select(_T.key, _T.layer, _T.tokens, _T.revision, _T.position, _T.text)
    .where(
        _T.chat_key == bindparam("chat_key"),
        _T.strategy == bindparam("strategy"),
        _T.state == _IS_LIVE,
    )
    .order_by(_T.layer.desc(), _T.position)
)


def live(session: Session, chat_key: int, strategy: str) -> list[LiveSnippet]:
    """The live snippets of a strategy in reading order."""
    found = _LIVE.all(session, {"chat_key": chat_key, "strategy": strategy})
    return [
        LiveSnippet(CoreSnippet(key, layer, tokens, revision), position, text)
        for key, layer, tokens, revision, position, text in found
    ]


def as_live(snippet: Snippet) -> LiveSnippet:
    """A stored snippet as decisions see it."""
    return LiveSnippet(as_core(snippet), snippet.position, snippet.text)


def as_core(snippet: Snippet) -> CoreSnippet:
    """The same without its text."""
    return CoreSnippet(snippet.key, snippet.layer, snippet.tokens, snippet.revision)


def add(session: Session, snippet: Snippet) -> Snippet:
    """Store a new snippet."""
    session.add(snippet)
    session.flush()
    return snippet


_LAST = Prepared(
    select(func.max(_T.position)).where(
        _T.chat_key == bindparam("chat_key"),
        _T.strategy == bindparam("strategy"),
        _T.layer == bindparam("layer"),
        _T.state == _IS_LIVE,
    )
)


def next_position(session: Session, chat_key: int, strategy: str, layer: int) -> int:
    """The place after the last live snippet of a layer."""
    last = _LAST.value(session, {"chat_key": chat_key, "strategy": strategy, "layer": layer})
    return 0 if last is None else int(last) + 1


def make_room(session: Session, chat_key: int, strategy: str, layer: int, position: int) -> None:
    """Move the live snippets of a layer from `position` on one place further."""
    from_here = (*_live_in(chat_key, strategy, layer), col(Snippet.position) >= position)
    # Places are unique at every moment, so they step aside before they step forward.
    session.execute(update(Snippet).where(*from_here).values(position=-2 - col(Snippet.position)))
    aside = (*_live_in(chat_key, strategy, layer), col(Snippet.position) < 0)
    session.execute(update(Snippet).where(*aside).values(position=-1 - col(Snippet.position)))


def root_after(session: Session, chat_key: int, strategy: str, index: int) -> Snippet | None:
    """The live snippet over the first covered message after a place."""
    return root_of(session, leaves.leaf_after(session, chat_key, strategy, index))


def root_before(session: Session, chat_key: int, strategy: str, index: int) -> Snippet | None:
    """The live snippet over the last covered message before a place."""
    return root_of(session, leaves.leaf_before(session, chat_key, strategy, index))


def root_of(session: Session, key: int | None) -> Snippet | None:
    """The snippet that stands for this one in the prompt: itself, or what absorbed it at last."""
    snippet = session.get(Snippet, key) if key is not None else None
    while snippet is not None and snippet.parent_key is not None:
        snippet = session.get(Snippet, snippet.parent_key)
    return snippet


_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_UNCHANGED = select(_T.key, _T.layer, _T.revision).where(_T.key.in_(_KEYS), _T.state == "live")
_STALE = select(func.count()).where(_T.key.in_(_KEYS), _T.stale.is_(True), _T.edited.is_(False))
_ABSORB = (
    update(SQLModel.metadata.tables["snippets"])
    .where(_T.key.in_(_KEYS))
    .values(state="absorbed", parent_key=bindparam("parent"))
)


def unchanged(session: Session, sources: Sequence[CoreSnippet]) -> bool:
    """Whether all of them are live, in their layer, with the text that was read."""
    found = rows(session, _UNCHANGED, {"keys": [source.key for source in sources]})
    wanted = {source.key: (source.layer, source.revision) for source in sources}
    return {row.key: (row.layer, row.revision) for row in found} == wanted


def any_stale(session: Session, sources: Sequence[CoreSnippet]) -> bool:
    """Whether what is under one of them has changed, those left out whose text is a person's and stays."""
    return bool(rows(session, _STALE, {"keys": [source.key for source in sources]}).scalar_one())


def absorb(session: Session, sources: Sequence[CoreSnippet], parent_key: int) -> None:
    """The merged snippet stands for its sources from now on."""
    rows(session, _ABSORB, {"keys": [source.key for source in sources], "parent": parent_key})


def dissolve(session: Session, merged: Snippet) -> list[int]:
    """Let the newest snippet give way to those it absorbed; their keys in reading order, none for a leaf.

    The parts come to the end of their layers, where the newest belong. Their old places may be taken: live snippets
    move while absorbed ones keep the place they had.
    """
    query = select(Snippet).where(col(Snippet.parent_key) == merged.key).order_by(*READING_ORDER)
    parts = list(session.execute(query).scalars())
    if parts:
        merged.state = "deleted"
        session.flush()
    for part in parts:
        part.position = next_position(session, part.chat_key, part.strategy, part.layer)
        part.state, part.parent_key = "live", None
        session.flush()  # the next one's place depends on it
    return [part.key for part in parts]


def remove_all(session: Session, chat_key: int) -> int:
    """Forget every snippet of a chat, of all strategies; returns how many were live."""
    mine = col(Snippet.chat_key) == chat_key
    live_ones = session.execute(select(func.count()).where(mine, col(Snippet.state) == "live")).scalar_one()
    session.execute(delete(Snippet).where(mine))
    return int(live_ones)


def by_id(session: Session, chat_key: int, snippet_id: str) -> Snippet | None:
    """One snippet."""
    query = select(Snippet).where(col(Snippet.chat_key) == chat_key, col(Snippet.id) == snippet_id)
    return session.execute(query).scalar_one_or_none()


def matching(
    session: Session, chat_key: int, where: Sequence[ColumnElement[bool]], offset: int, limit: int
) -> list[Snippet]:
    """Snippets in reading order."""
    query = (
        select(Snippet)
        .where(col(Snippet.chat_key) == chat_key, *where)
        .order_by(*READING_ORDER, col(Snippet.key))
        .offset(offset)
        .limit(limit)
    )
    return list(session.execute(query).scalars())


def children_ids(session: Session, keys: Sequence[int]) -> dict[int, list[str]]:
    """The ids of the snippets that each of these absorbed, oldest first.

    A merge reaches over several layers where max_layers was lowered; the deeper one holds what is older.
    """
    found: dict[int, list[str]] = {key: [] for key in keys}
    query = (
        select(col(Snippet.parent_key), col(Snippet.id))
        .where(col(Snippet.parent_key).in_(keys))
        .order_by(*READING_ORDER)
    )
    for parent, child in session.execute(query):
        found[parent].append(child)
    return found


def ids_of(session: Session, keys: Sequence[int]) -> dict[int, str]:
    """Ids by key."""
    return {
        row.key: row.id
        for row in session.execute(select(col(Snippet.key), col(Snippet.id)).where(col(Snippet.key).in_(keys)))
    }


def _under(start: ColumnElement[bool]) -> Any:
    """Pairs (root, snippet): every snippet under the ones that `start` selects, themselves included."""
    first: Any = select(col(Snippet.key).label("root"), col(Snippet.key).label("leaf")).where(start)
    tree = first.cte("tree", recursive=True)
    below = select(tree.c.root, col(Snippet.key)).join(tree, col(Snippet.parent_key) == tree.c.leaf)
    return tree.union_all(below)


def covers(session: Session, chat_key: int, keys: Sequence[int]) -> dict[int, Covers]:
    """What each snippet covers, by key; one with nothing under it is left out. All are of one strategy."""
    strategy = session.execute(select(col(Snippet.strategy)).where(col(Snippet.key).in_(keys[:1]))).scalar()
    leaf = messages.leaf_of(strategy) if strategy else None
    if leaf is None:
        return {}
    tree = _under(col(Snippet.key).in_(keys))
    query = (
        select(tree.c.root, func.min(Message.position), func.max(Message.position), _CLOSED, func.count())
        .join(Message, and_(col(Message.chat_key) == chat_key, leaf == tree.c.leaf))
        .group_by(tree.c.root)
    )
    return {root: Covers(first, last, turns, count) for root, first, last, turns, count in session.execute(query)}


def layer_turns(session: Session, chat_key: int, strategy: str) -> dict[int, int]:
    """How many closed turns the live snippets of each layer cover."""
    leaf = messages.leaf_of(strategy)
    if leaf is None:
        return {}
    tree = _under(and_(*_live_of(chat_key, strategy)))
    root = aliased(Snippet)
    query = (
        select(col(root.layer), _CLOSED)
        .select_from(tree)
        .join(root, col(root.key) == tree.c.root)
        .join(Message, and_(col(Message.chat_key) == chat_key, leaf == tree.c.leaf))
        .group_by(col(root.layer))
    )
    return {layer: turns for layer, turns in session.execute(query)}


def count_marks(session: Session, chat_key: int, strategy: str) -> tuple[int, int]:
    """How many live snippets are stale, and how many degraded."""
    marks = (case((col(mark).is_(True), 1), else_=0) for mark in (Snippet.stale, Snippet.degraded))
    query = select(*(func.coalesce(func.sum(mark), 0) for mark in marks)).where(*_live_of(chat_key, strategy))
    stale, degraded = session.execute(query).one()
    return int(stale), int(degraded)


def leaves_under(session: Session, key: int) -> list[int]:
    """The keys of a snippet and of everything it absorbed, through all layers."""
    tree = _under(col(Snippet.key) == key)
    return list(session.execute(select(tree.c.leaf)).scalars())


_CLOSED = func.sum(case((col(Message.closes).is_(True), 1), else_=0))


def _live_of(chat_key: int, strategy: str) -> tuple[ColumnElement[bool], ...]:
    return (
        col(Snippet.chat_key) == chat_key,
        col(Snippet.strategy) == strategy,
        col(Snippet.state) == literal("live", literal_execute=True),
    )


def _live_in(chat_key: int, strategy: str, layer: int) -> tuple[ColumnElement[bool], ...]:
    return (*_live_of(chat_key, strategy), col(Snippet.layer) == layer)
