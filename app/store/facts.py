"""A chat as its rows say, for a check of it: nothing here trusts what it reads."""

from collections.abc import Iterator
from sys import intern
from typing import Any

from sqlalchemy import Text, bindparam, cast, or_, select
from sqlmodel import Session, SQLModel

from app.core.facts import StoredMessage, StoredSnippet
from app.core.model import Strategy
from app.store.engine import rows

_AT_ONCE = 500
_M = SQLModel.metadata.tables["messages"].c
_S = SQLModel.metadata.tables["snippets"].c
_MESSAGES = (
    select(
        *(_M.key, _M.position, _M.role, _M.hidden, _M.pinned, _M.omitted, _M.blank, _M.closes, _M.layered_leaf),
        or_(_M.rolling_leaf.is_not(None), _M.buffer_leaf.is_not(None)),
        cast(_M.tool_calls, Text),
        _M.content,
    )
    .where(_M.chat_key == bindparam("chat_key"))
    .order_by(_M.key)
)
_SNIPPETS = (
    select(
        *(_S.key, _S.id, _S.layer, _S.position, _S.state, _S.parent_key),
        *(_S.stale, _S.degraded, _S.edited, _S.asked, _S.failures),
    )
    .where(_S.chat_key == bindparam("chat_key"), _S.strategy == Strategy.LAYERED)
    .order_by(_S.key)
)


def read_messages(session: Session, chat_key: int) -> Iterator[StoredMessage]:
    """The messages of a chat; their texts are read a few at a time."""
    for row in rows(session, _MESSAGES, {"chat_key": chat_key}).yield_per(_AT_ONCE):
        key, position, role, hidden, pinned, omitted, blank, closes, leaf, elsewhere, calls, content = tuple(row)
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
            leaf=leaf,
            elsewhere=bool(elsewhere),
        )


def _says(content: Any) -> bool:
    return bool((content or "").strip())


def read_snippets(session: Session, chat_key: int) -> list[StoredSnippet]:
    """The chat's layered snippets, whatever their state."""
    found = rows(session, _SNIPPETS, {"chat_key": chat_key})
    return [StoredSnippet(*tuple(row)) for row in found]
