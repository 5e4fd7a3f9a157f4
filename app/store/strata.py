"""What the picture of a chat is drawn from: messages counted together, a few looked at one by one, and no text."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Row, Select, and_, bindparam, case, false, func, literal, select
from sqlmodel import Session, SQLModel

from app.core.model import Strategy
from app.core.strata import Cell, Stretch, Under, runs, state_of
from app.store.engine import rows
from app.store.messages import chunks, leaf_of, of_chat, uncovered_by
from app.store.tables import Message

_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["snippets"].c
_OF_CHAT = _S.chat_key == bindparam("chat_key")
_PRESENT = and_(_OF_CHAT, _S.strategy == bindparam("strategy"))
_IS_LIVE = _S.state == literal("live", literal_execute=True)
_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_CLOSES = and_(_M.closes.is_(True), _M.hidden.is_(False), _M.omitted.is_(False))

_LIVE = (
    select(
        *(_S.key, _S.id, _S.layer, _S.position, _S.kind, _S.tokens, _S.source_tokens),
        *(_S.stale, _S.degraded, _S.edited),
    )
    .where(_PRESENT, _IS_LIVE)
    .order_by(_S.layer.desc(), _S.position)
)
# Nothing pinned is covered, by no strategy: the first part lets one index find them.
_PINNED = (
    select(_M.id, _M.position)
    .where(of_chat(), _M.layered_leaf.is_(None), _M.pinned.is_(True))
    .order_by(_M.position)
    .limit(bindparam("most"))
)


def _sum(where: ColumnElement[bool], value: Any = 1) -> ColumnElement[Any]:
    return func.sum(case((where, value), else_=0))


def _covered(strategy: str) -> ColumnElement[bool]:
    leaf = leaf_of(strategy)
    return false() if leaf is None else leaf.is_not(None)


def _skipped(strategy: str) -> ColumnElement[bool]:
    """Where one summary is written anew no turn is skipped."""
    plain = and_(_M.skipped.is_(True), _M.hidden.is_(False), _M.omitted.is_(False))
    return false() if Strategy(strategy).rewrites else and_(plain, uncovered_by(leaf_of(strategy)))


def _sums(strategy: str, start: ColumnElement[bool], *, by_root: bool) -> Select[Any]:
    """What lies under the snippets that `start` selects, by these, or by the leaves that cover it."""
    first: Any = select(_S.key.label("root"), _S.key.label("leaf")).where(_PRESENT, start)
    tree = first.cte("tree", recursive=True)
    parts = select(tree.c.root, _S.key).join(tree, _S.parent_key == tree.c.leaf)
    tree = tree.union_all(parts)
    leaf = leaf_of(strategy)
    covers = false() if leaf is None else _M[leaf.key] == tree.c.leaf
    sums = (func.min(_M.position), func.max(_M.position), func.count(), _sum(_M.closes.is_(True)), func.sum(_M.tokens))
    key = tree.c.root if by_root else tree.c.leaf
    return select(key, *sums).select_from(tree).join(Message, and_(of_chat(), covers)).group_by(key)


def _parts_of(strategy: str) -> Select[Any]:
    leaf = leaf_of(strategy)
    chosen = false() if leaf is None else leaf.in_(_KEYS)
    return select(_M.position, _M.position, _M.closes, _M.tokens).where(of_chat(), chosen)


def _single(strategy: str, *where: ColumnElement[bool]) -> Select[Any]:
    states = (_covered(strategy), _M.hidden, _M.omitted, _skipped(strategy))
    return select(_M.position, *states, _CLOSES, _M.tokens).where(of_chat(), *where).order_by(_M.position)


def _cells(strategy: str) -> Select[Any]:
    hidden, omitted = _M.hidden.is_(True), and_(_M.omitted.is_(True), _M.hidden.is_(False))
    number = _M.position // bindparam("width")
    sums = (
        *(func.min(_M.position), func.count(), _sum(_covered(strategy)), _sum(hidden), _sum(omitted)),
        *(_sum(_skipped(strategy)), _sum(_CLOSES), func.sum(_M.tokens), _sum(hidden, _M.tokens)),
    )
    return select(*sums).where(of_chat()).group_by(number)


_ROOTS = {strategy: _sums(strategy, _IS_LIVE, by_root=True) for strategy in Strategy}
_LEAVES = {strategy: _sums(strategy, _S.key.in_(_KEYS), by_root=False) for strategy in Strategy}
_LOOSE = {
    strategy: _single(strategy, uncovered_by(leaf_of(strategy))).limit(bindparam("most")) for strategy in Strategy
}
_UNDER = {strategy: _parts_of(strategy) for strategy in Strategy}
_BETWEEN = {
    strategy: _single(strategy, _M.position.between(bindparam("first"), bindparam("last"))) for strategy in Strategy
}
_CELLS = {strategy: _cells(strategy) for strategy in Strategy}


def live(session: Session, chat_key: int, strategy: str) -> Sequence[Row[Any]]:
    """The live snippets of a strategy in reading order, without their texts."""
    return rows(session, _LIVE, {"chat_key": chat_key, "strategy": strategy}).all()


def roots(session: Session, chat_key: int, strategy: str) -> list[Under]:
    """What lies under each live snippet of a strategy, through whatever layers."""
    found = rows(session, _ROOTS[Strategy(strategy)], {"chat_key": chat_key, "strategy": strategy})
    return list(map(Under._make, found.all()))


def leaves(session: Session, chat_key: int, strategy: str, keys: Sequence[int]) -> list[Under]:
    """The same of the snippets under these, or of these, that cover messages themselves."""
    values = {"chat_key": chat_key, "strategy": strategy}
    found = (rows(session, _LEAVES[Strategy(strategy)], {**values, "keys": some}).all() for some in chunks(keys))
    return [Under._make(row) for some in found for row in some]


def loose(session: Session, chat_key: int, strategy: str, most: int) -> list[Stretch]:
    """The uncovered messages, one by one and by index; at most so many of the oldest."""
    found = rows(session, _LOOSE[Strategy(strategy)], {"chat_key": chat_key, "most": most})
    return _as_stretches(found.all())


def parts(session: Session, chat_key: int, strategy: str, keys: Sequence[int]) -> list[Stretch]:
    """The messages that these snippets cover themselves, neighbours as one."""
    query = _UNDER[Strategy(strategy)]
    found = (rows(session, query, {"chat_key": chat_key, "keys": some}).all() for some in chunks(keys))
    return list(runs(tuple(row) for some in found for row in some))


def between(session: Session, chat_key: int, strategy: str, first: int, last: int) -> list[Stretch]:
    """All messages from `first` to `last`, one by one and by index."""
    found = rows(session, _BETWEEN[Strategy(strategy)], {"chat_key": chat_key, "first": first, "last": last})
    return _as_stretches(found.all())


def cells(session: Session, chat_key: int, strategy: str, width: int) -> list[Cell]:
    """All messages, counted together by so many."""
    return [
        Cell(*row) for row in rows(session, _CELLS[Strategy(strategy)], {"chat_key": chat_key, "width": width}).all()
    ]


def pinned(session: Session, chat_key: int, most: int) -> list[tuple[str, int]]:
    """Ids and indices of the first pinned messages."""
    return [(row.id, row.position) for row in rows(session, _PINNED, {"chat_key": chat_key, "most": most})]


def _as_stretches(found: Iterable[Sequence[Any]]) -> list[Stretch]:
    return [
        Stretch(
            index,
            index,
            state_of(ghosted=bool(ghosted), hidden=hidden, omitted=omitted),
            bool(skipped),
            int(closes),
            tokens,
        )
        for index, ghosted, hidden, omitted, skipped, closes, tokens in found
    ]
