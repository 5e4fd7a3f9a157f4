"""What status needs of a long backlog and of the snippets made lately, read without what decisions need."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Integer, Select, and_, bindparam, cast, func, literal_column, select
from sqlmodel import Session, SQLModel, col

from app.core.batches import TurnSize
from app.core.model import Strategy
from app.store.engine import rows
from app.store.messages import leaf_of, of_chat, uncovered_by
from app.store.prepared import Prepared
from app.store.tables import Chat

_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["snippets"].c


_FLAGS = (_M.closes, _M.blank, _M.pinned, _M.skipped)
"""Read as numbers: SQLAlchemy looks at every value of a boolean column."""


def _shown_from(strategy: str) -> Select[Any]:
    shown = (_M.hidden.is_(False), _M.omitted.is_(False), _M.position >= bindparam("first"))
    return (
        select(_M.position, _M.tokens + _M.call_tokens, *(cast(flag, Integer) for flag in _FLAGS))
        .where(of_chat(), uncovered_by(leaf_of(strategy)), *shown)
        .order_by(_M.position)
    )


_SHOWN_FROM = {strategy: _shown_from(strategy) for strategy in Strategy}


def turn_sizes(session: Session, chat_key: int, strategy: str, first: int) -> list[TurnSize]:
    """The closed turns of the uncovered messages from a place on; what follows the last reply is left out."""
    found = rows(session, _SHOWN_FROM[Strategy(strategy)], {"chat_key": chat_key, "first": first})
    return list(_closed(found.all()))


def _closed(messages: Iterable[Sequence[Any]]) -> Iterator[TurnSize]:
    """In one pass and without an object for each message: there may be a hundred thousand."""
    total, lines, coverable, skips, first = 0, 0, 0, 0, -1
    for position, tokens, closes, blank, pinned, skipped in messages:
        total += tokens
        lines += not blank
        coverable |= not (pinned or blank)
        skips |= skipped
        first = position if first < 0 else first
        if closes:
            yield TurnSize(total, lines, bool(coverable), bool(skips), first, position)
            total, lines, coverable, skips, first = 0, 0, 0, 0, -1


class Made(NamedTuple):
    """A snippet that a model wrote: its kind, when (epoch ms), tokens of its line and of its source, calls it took."""

    kind: str
    at: int
    tokens: int
    source_tokens: int
    calls: int


_MADE = Prepared(
    select(_S.kind, _S.created_at, _S.tokens, _S.source_tokens, _S.usage)
    .where(
        _S.chat_key == bindparam("chat_key"),
        _S.strategy == bindparam("strategy"),
        _S.kind.in_([literal_column(f"'{kind}'") for kind in ("fold", "seed", "merge")]),
    )
    .order_by(_S.key.desc())
    .limit(bindparam("most"))
)


def made_lately(session: Session, chat_key: int, strategy: str, most: int) -> list[Made]:
    """The newest snippets of a strategy that were folded or merged, oldest of these first; absorbed ones too."""
    found = _MADE.all(session, {"chat_key": chat_key, "strategy": strategy, "most": most})
    return [Made(kind, at, tokens, source, (usage or {}).get("calls", 0)) for kind, at, tokens, source, usage in found][
        ::-1
    ]


_COUNTS = Prepared(
    select(_S.layer, func.count())
    .where(
        _S.chat_key == bindparam("chat_key"),
        _S.strategy == bindparam("strategy"),
        _S.state == literal_column("'live'"),
    )
    .group_by(_S.layer)
)


def count_layers(session: Session, chat_key: int, strategy: str) -> list[int]:
    """How many live snippets each layer holds, from layer 0 on."""
    found: dict[int, int] = dict(_COUNTS.all(session, {"chat_key": chat_key, "strategy": strategy}))
    return [int(found.get(layer, 0)) for layer in range(max(found, default=-1) + 1)]


def unasked(session: Session, least: int, most: int) -> list[Chat]:
    """Chats of `least` to under `most` closed turns that nobody was asked about, and that nothing was folded of."""
    count = func.count()
    keys = (
        select(_M.chat_key)
        .join(Chat, col(Chat.key) == _M.chat_key)
        .where(col(Chat.backlog_answer).is_(None), _M.closes.is_(True), _M.hidden.is_(False), _M.omitted.is_(False))
        .group_by(_M.chat_key)
        .having(and_(count >= least, count < most))
    )
    return list(session.execute(select(Chat).where(col(Chat.key).in_(keys))).scalars())
