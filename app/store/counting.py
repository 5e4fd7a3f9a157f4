"""Counting messages without reading them."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, func, literal, select, true
from sqlmodel import Session, SQLModel, col

from app.core.model import Strategy
from app.store.engine import rows
from app.store.messages import leaf_of, of_chat, uncovered_by
from app.store.tables import Message


@dataclass(frozen=True, slots=True)
class Counts:
    """Messages of a chat by state, and their tokens. `closing` ones end a turn, `skipped` ones of these are skipped."""

    messages: int = 0
    ghosted: int = 0
    hidden: int = 0
    omitted: int = 0
    pinned: int = 0
    raw_tokens: int = 0
    ghosted_tokens: int = 0
    closing: int = 0
    skipped: int = 0


def _after(strategy: str) -> tuple[ColumnElement[bool], ...]:
    return of_chat(), uncovered_by(leaf_of(strategy)), col(Message.position) > bindparam("index")


def _uncovered_after(strategy: str) -> Select[Any]:
    plain = and_(*(col(flag).is_(False) for flag in (Message.hidden, Message.omitted, Message.skipped, Message.pinned)))
    closing = case((and_(col(Message.closes).is_(True), plain), 1), else_=0)
    return select(func.count(), func.coalesce(func.sum(closing), 0)).select_from(Message).where(*_after(strategy))


def _turns_after(strategy: str) -> Select[Any]:
    shown = (col(Message.closes).is_(True), col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    turns = select(literal(1)).select_from(Message).where(*_after(strategy), *shown).limit(bindparam("most"))
    return select(func.count()).select_from(turns.subquery())


_UNCOVERED_AFTER = {strategy: _uncovered_after(strategy) for strategy in Strategy}
_TURNS_AFTER = {strategy: _turns_after(strategy) for strategy in Strategy}


def count_uncovered_after(session: Session, chat_key: int, strategy: str, index: int) -> tuple[int, int]:
    """Uncovered messages after a place, and how many of them end a turn that can fold."""
    found = rows(session, _UNCOVERED_AFTER[Strategy(strategy)], {"chat_key": chat_key, "index": index})
    count, closed = found.one()
    return int(count), int(closed)


def count_turns_after(session: Session, chat_key: int, strategy: str, index: int, most: int) -> int:
    """Uncovered closed turns after a place, counted up to `most`."""
    values = {"chat_key": chat_key, "index": index, "most": most}
    return int(rows(session, _TURNS_AFTER[Strategy(strategy)], values).scalar_one())


def counts(session: Session, chat_key: int, strategy: str) -> Counts:
    """How many messages are in which state."""
    leaf = leaf_of(strategy)
    covered = ~true() if leaf is None else leaf.is_not(None)
    shown = (col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    closing = and_(col(Message.closes).is_(True), *shown)
    uncovered_rows = (
        select(
            func.count(),
            func.sum(case((col(Message.hidden).is_(True), 1), else_=0)),
            func.sum(case((and_(col(Message.omitted).is_(True), col(Message.hidden).is_(False)), 1), else_=0)),
            func.sum(case((col(Message.pinned).is_(True), 1), else_=0)),
            func.sum(case((col(Message.hidden).is_(True), 0), else_=col(Message.tokens))),
            func.sum(case((closing, 1), else_=0)),
            func.sum(case((and_(closing, col(Message.skipped).is_(True)), 1), else_=0)),
        )
        .select_from(Message)
        .where(of_chat(), ~covered)
    )
    ghosted_rows = (
        select(func.count(), func.sum(Message.tokens), func.sum(case((col(Message.closes).is_(True), 1), else_=0)))
        .select_from(Message)
        .where(of_chat(), covered)
    )
    open_count, hidden, omitted, pinned, tokens, open_closing, skipped = session.execute(
        uncovered_rows, {"chat_key": chat_key}
    ).one()
    ghosted, ghosted_tokens, closed = session.execute(ghosted_rows, {"chat_key": chat_key}).one()
    return Counts(
        messages=open_count + ghosted,
        ghosted=ghosted,
        hidden=hidden or 0,
        omitted=omitted or 0,
        pinned=pinned or 0,
        raw_tokens=(tokens or 0) + (ghosted_tokens or 0),
        ghosted_tokens=ghosted_tokens or 0,
        closing=(closed or 0) + (open_closing or 0),
        skipped=skipped or 0,
    )


_M = SQLModel.metadata.tables["messages"].c
_MINE = _M.chat_key == bindparam("chat_key")


def _jumps() -> Select[Any]:
    """Each step finds the next greater name: a jump in the index, however many messages bear the last one."""
    first: Any = select(func.min(_M.name).label("name"), literal(1).label("step")).where(_MINE)
    tree = first.cte("names", recursive=True)
    following = select(func.min(_M.name)).where(_MINE, _M.name > tree.c.name).correlate(tree).scalar_subquery()
    further = select(following, tree.c.step + 1).where(tree.c.name.is_not(None), tree.c.step < bindparam("most"))
    names = tree.union_all(further)
    unnamed = exists().where(_MINE, _M.name.is_(None), _M.role == "user")
    return select(func.count(names.c.name), select(unnamed).scalar_subquery())


_SPEAKERS = _jumps()


def count_speakers(session: Session, chat_key: int, most: int) -> int:
    """How many different speakers the chat has, counted up to `most`; unnamed users are one."""
    named, unnamed = rows(session, _SPEAKERS, {"chat_key": chat_key, "most": most}).one()
    return min(most, int(named) + (1 if unnamed else 0))
