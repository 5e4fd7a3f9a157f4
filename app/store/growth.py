"""What the course of a chat is drawn from: its messages summed up, and all snippets that ever were its memory."""

from typing import Any

from sqlalchemy import Select, and_, bindparam, case, func, select
from sqlmodel import Session, SQLModel

from app.core.growth import Line, Step
from app.store.engine import rows
from app.store.messages import Leaf, leaf_of

_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["snippets"].c
_MINE = _M.chat_key == bindparam("chat_key")
_SHOWN = and_(_M.hidden.is_(False), _M.omitted.is_(False))
_TURN = case((and_(_M.closes.is_(True), _SHOWN), 1), else_=0)
_RAW, _SENT = case((_M.hidden.is_(False), _M.tokens), else_=0), case((_SHOWN, _M.tokens), else_=0)
_LINES = (
    select(_S.key, _S.parent_key, _S.tokens)
    .where(
        *(_S.chat_key == bindparam("chat_key"), _S.strategy == bindparam("strategy")),
        _S.state.in_(("live", "absorbed")),
    )
    .order_by(_S.created_at, _S.key)
)
_STRETCHES = (
    select(func.max(_M.position), func.sum(_TURN), func.sum(_RAW), func.sum(_SENT))
    .where(_MINE)
    .group_by(_M.position // bindparam("width"))
    .order_by(func.max(_M.position))
)


def lines(session: Session, chat_key: int, strategy: str) -> list[Line]:
    """The snippets of a strategy that are live, or were, in the order in which they were made."""
    found = rows(session, _LINES, {"chat_key": chat_key, "strategy": strategy})
    return list(found.all())


def stretches(session: Session, chat_key: int, width: int) -> list[Step]:
    """The history in stretches of so many messages."""
    found = rows(session, _STRETCHES, {"chat_key": chat_key, "width": width})
    return list(map(Step._make, found.all()))


def folds(session: Session, chat_key: int, strategy: str) -> tuple[dict[int, Step], list[Step]]:
    """What each snippet covers itself, by key; and the history cut there: what they cover as one stretch each, and
    message by message what nothing covers.
    """
    leaf = leaf_of(strategy)
    if leaf is None:
        return {}, []
    mine = {"chat_key": chat_key}
    under = {
        key: Step(last, turns, tokens, tokens) for key, last, turns, tokens in rows(session, _covered(leaf), mine).all()
    }
    uncovered = map(Step._make, rows(session, _uncovered(leaf), mine).all())
    return under, sorted([*under.values(), *uncovered])


def _covered(leaf: Leaf) -> Select[Any]:
    column = _M[leaf.key]
    sums = (func.max(_M.position), func.sum(case((_M.closes.is_(True), 1), else_=0)), func.sum(_M.tokens))
    return select(column, *sums).where(_MINE, column.is_not(None)).group_by(column)


def _uncovered(leaf: Leaf) -> Select[Any]:
    return select(_M.position, _TURN, _RAW, _SENT).where(_MINE, _M[leaf.key].is_(None))
