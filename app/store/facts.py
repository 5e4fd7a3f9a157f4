"""A chat as its rows say, for a check of it: nothing here trusts what it reads."""

from collections.abc import Iterator
from sys import intern
from typing import Any

from sqlalchemy import Select, Text, bindparam, cast, or_, select
from sqlmodel import Session, SQLModel

from app.core.facts import StoredMessage, StoredSnippet
from app.core.model import Strategy
from app.store.engine import rows
from app.store.messages import LEAVES, leaf_of

_AT_ONCE = 500
_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["snippets"].c
_OF_CHAT = _M.chat_key == bindparam("chat_key")
_SNIPPETS = (
    select(
        *(_S.key, _S.id, _S.layer, _S.position, _S.state, _S.parent_key),
        *(_S.stale, _S.degraded, _S.edited, _S.asked, _S.failures),
    )
    .where(_S.chat_key == bindparam("chat_key"), _S.strategy == bindparam("strategy"))
    .order_by(_S.key)
)


def _messages(leaf: str) -> Select[Any]:
    others = (_M[name].is_not(None) for name in LEAVES if name != leaf)
    return (
        select(
            *(_M.key, _M.position, _M.role, _M.hidden, _M.pinned, _M.omitted, _M.blank, _M.closes, _M[leaf]),
            or_(*others),
            cast(_M.tool_calls, Text),
            _M.content,
        )
        .where(_OF_CHAT)
        .order_by(_M.key)
    )


def read_messages(session: Session, chat_key: int, strategy: str = Strategy.LAYERED) -> Iterator[StoredMessage]:
    """The messages of a chat, with their leaves in a strategy with snippets; their texts are read a few at a time."""
    leaf = leaf_of(strategy)
    if leaf is None:
        return
    for row in rows(session, _messages(leaf.key), {"chat_key": chat_key}).yield_per(_AT_ONCE):
        key, position, role, hidden, pinned, omitted, blank, closes, under, elsewhere, calls, content = tuple(row)
        called = calls not in (None, "null", "[]")
        yield StoredMessage(
            key=key,
            position=position,
            role=intern(role),  # one of four in most rows
            hidden=bool(hidden),
            pinned=bool(pinned),
            omitted=bool(omitted),
            blank=bool(blank),
            closes=bool(closes),
            empty=not called and not _says(content),
            calls=called,
            leaf=under,
            elsewhere=bool(elsewhere),
        )


def any_covered(session: Session, chat_key: int, strategy: str) -> bool:
    """Whether any message of a chat has a leaf in a strategy."""
    leaf = leaf_of(strategy)
    covered = select(_M.key).where(_OF_CHAT, _M[leaf.key].is_not(None)).limit(1) if leaf is not None else None
    return covered is not None and rows(session, covered, {"chat_key": chat_key}).first() is not None


def _says(content: Any) -> bool:
    return bool((content or "").strip())


def read_snippets(session: Session, chat_key: int, strategy: str = Strategy.LAYERED) -> list[StoredSnippet]:
    """The chat's snippets of a strategy, whatever their state."""
    found = rows(session, _SNIPPETS, {"chat_key": chat_key, "strategy": strategy})
    return [StoredSnippet(*tuple(row)) for row in found]
