"""Counting messages without reading them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, false, func, literal, or_, select, true
from sqlmodel import Session, SQLModel, col

from app.core.model import Strategy
from app.store.engine import rows
from app.store.messages import leaf_of, of_chat, uncovered_by
from app.store.prepared import Prepared
from app.store.tables import Message

_M = SQLModel.metadata.tables["messages"].c


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


def _folding() -> ColumnElement[bool]:
    plain = (col(flag).is_(False) for flag in (Message.hidden, Message.omitted, Message.skipped, Message.pinned))
    return and_(col(Message.closes).is_(True), *plain)


def _uncovered_after(strategy: str) -> Select[Any]:
    closing = case((_folding(), 1), else_=0)
    return select(func.count(), func.coalesce(func.sum(closing), 0)).select_from(Message).where(*_after(strategy))


def _some_after(strategy: str) -> Select[Any]:
    turns = select(literal(1)).select_from(Message).where(*_after(strategy), _folding()).limit(bindparam("most"))
    return select(func.count()).select_from(turns.subquery())


def _turns_after() -> Select[Any]:
    shown = (col(Message.closes).is_(True), col(Message.hidden).is_(False), col(Message.omitted).is_(False))
    later = (of_chat(), col(Message.position) > bindparam("index"))
    turns = select(literal(1)).select_from(Message).where(*later, *shown).limit(bindparam("most"))
    return select(func.count()).select_from(turns.subquery())


_UNCOVERED_AFTER = {strategy: Prepared(_uncovered_after(strategy)) for strategy in Strategy}
_SOME_AFTER = {strategy: Prepared(_some_after(strategy)) for strategy in Strategy}
_TURNS_AFTER = Prepared(_turns_after())


def count_uncovered_after(session: Session, chat_key: int, strategy: str, index: int) -> tuple[int, int]:
    """Uncovered messages after a place, and how many of them end a turn that can fold."""
    [(count, closed)] = _UNCOVERED_AFTER[Strategy(strategy)].all(session, {"chat_key": chat_key, "index": index})
    return int(count), int(closed)


def count_some_after(session: Session, chat_key: int, strategy: str, index: int, most: int) -> int:
    """The uncovered messages after a place that end a turn that can fold, counted up to `most`."""
    asked = {"chat_key": chat_key, "index": index, "most": most}
    return int(_SOME_AFTER[Strategy(strategy)].value(session, asked))


def count_turns_after(session: Session, chat_key: int, index: int, most: int) -> int:
    """Closed turns after a place, covered ones too, counted up to `most`."""
    return int(_TURNS_AFTER.value(session, {"chat_key": chat_key, "index": index, "most": most}))


def _sum(where: ColumnElement[bool], value: Any = 1) -> ColumnElement[Any]:
    return func.coalesce(func.sum(case((where, value), else_=0)), 0)


def _uncovered_counts(strategy: str) -> Select[Any]:
    hidden, omitted = _M.hidden.is_(True), and_(_M.omitted.is_(True), _M.hidden.is_(False))
    closing = and_(_M.closes.is_(True), _M.hidden.is_(False), _M.omitted.is_(False))
    sums = (
        *(_sum(hidden), _sum(omitted), _sum(_M.pinned.is_(True)), _sum(~hidden, _M.tokens)),
        *(_sum(closing), _sum(and_(closing, _M.skipped.is_(True)))),
    )
    return select(func.count(), *sums).select_from(Message).where(of_chat(), uncovered_by(leaf_of(strategy)))


def _covered_counts(strategy: str) -> Select[Any]:
    leaf = leaf_of(strategy)
    covered = false() if leaf is None else leaf.is_not(None)
    sums = (func.coalesce(func.sum(_M.tokens), 0), _sum(_M.closes.is_(True)))
    return select(func.count(), *sums).select_from(Message).where(of_chat(), covered)


_UNCOVERED_COUNTS = {strategy: _uncovered_counts(strategy) for strategy in Strategy}
_COVERED_COUNTS = {strategy: _covered_counts(strategy) for strategy in Strategy}


def counts(session: Session, chat_key: int, strategy: str) -> Counts:
    """How many messages are in which state. Where one summary is written anew no turn is skipped."""
    mine, present = {"chat_key": chat_key}, Strategy(strategy)
    uncovered, hidden, omitted, pinned, tokens, closing, skipped = rows(session, _UNCOVERED_COUNTS[present], mine).one()
    ghosted, ghosted_tokens, closed = rows(session, _COVERED_COUNTS[present], mine).one()
    return Counts(
        messages=uncovered + ghosted,
        ghosted=ghosted,
        hidden=hidden,
        omitted=omitted,
        pinned=pinned,
        raw_tokens=tokens + ghosted_tokens,
        ghosted_tokens=ghosted_tokens,
        closing=closed + closing,
        skipped=0 if present.rewrites else skipped,
    )


def count_covered_turns(session: Session, chat_key: int, strategy: str) -> int:
    """The closed turns that a strategy's memory covers."""
    return int(rows(session, _COVERED_COUNTS[Strategy(strategy)], {"chat_key": chat_key}).one()[2])


def count_differing(session: Session, chat_key: int, covered_by: str, not_by: str) -> tuple[int, int]:
    """How many messages one strategy's memory covers and another's does not, and their tokens."""
    covering = leaf_of(covered_by)
    if covering is None:
        return 0, 0
    sums = select(func.count(), func.coalesce(func.sum(_M.tokens + _M.call_tokens), 0)).select_from(Message)
    found = rows(
        session, sums.where(of_chat(), covering.is_not(None), uncovered_by(leaf_of(not_by))), {"chat_key": chat_key}
    )
    count, tokens = found.one()
    return int(count), int(tokens)


_MINE = _M.chat_key == bindparam("chat_key")


_HEARD = (or_(_M.role == "user", _M.role == "assistant"), _M.hidden.is_(False), _M.omitted.is_(False))
_UNSEEN: Any = bindparam("unseen", expanding=True)


def _jumps(unseen: bool) -> Select[Any]:
    """Each step finds the next greater name: a jump in the index, however many messages bear the last one. `heard`
    counts the speakers among the names before; results of tools and narrators bear names too. `unseen`: whether names
    are left out.
    """
    first: Any = select(func.min(_M.name).label("name"), literal(0).label("heard")).where(_MINE)
    tree = first.cte("names", recursive=True)
    following = select(func.min(_M.name)).where(_MINE, _M.name > tree.c.name).correlate(tree).scalar_subquery()
    speaks = exists().where(_MINE, _M.name == tree.c.name, *_HEARD).correlate(tree)
    more = tree.c.heard + case((and_(speaks, tree.c.name.not_in(_UNSEEN) if unseen else true()), 1), else_=0)
    names = tree.union_all(select(following, more).where(tree.c.name.is_not(None), tree.c.heard < bindparam("most")))
    return select(func.max(names.c.heard), _nameless("user", unseen), _nameless("assistant", unseen))


def _nameless(role: str, unseen: bool) -> Any:
    """1 if messages of a role bear no name and the name they go by, `:user` or `:assistant`, is nobody else's."""
    shown = (_M.hidden.is_(False), _M.omitted.is_(False))
    unnamed = exists().where(_MINE, _M.name.is_(None), _M.role == role, *shown)
    named = exists().where(_MINE, _M.name == bindparam(role), *_HEARD)
    seen = bindparam(role).not_in(_UNSEEN) if unseen else true()
    return select(case((and_(unnamed, ~named, seen), 1), else_=0)).scalar_subquery()


_SPEAKERS, _SPEAKERS_BUT = Prepared(_jumps(False)), _jumps(True)


def count_speakers(
    session: Session, chat_key: int, user: str, assistant: str, most: int, unseen: Collection[str] = ()
) -> int:
    """How many different people speak in the messages that can be sent, counted up to `most`; who bears no name is
    `user` or `assistant`, and `unseen` are the names of those left out.
    """
    mine = {"chat_key": chat_key, "most": most, "user": user, "assistant": assistant}
    found = rows(session, _SPEAKERS_BUT, {**mine, "unseen": list(unseen)}) if unseen else _SPEAKERS.all(session, mine)
    return min(most, sum(int(count) for row in found for count in row))
