"""The promises of layered.md, checked on what a database really holds."""

from pathlib import Path
from typing import Any

from sqlalchemy import Row, create_engine, text

from tests.support.chains import assert_chains


def assert_promises(database: Path, chat_id: str, verbatim_turns: int = 10, *, shrunk: bool = False) -> None:
    """Promises 1, 2 and 3 (window `strict`) on one chat, and what holds of memory that is one summary; `shrunk`: a
    deletion may have taken half of the window.
    """
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        values = {"chat": chat_id}
        key = connection.execute(text("SELECT key FROM chats WHERE id = :chat"), values).scalar_one()
        messages = list(
            connection.execute(text("SELECT * FROM messages WHERE chat_key = :k ORDER BY position"), {"k": key})
        )
        snippets = list(connection.execute(text("SELECT * FROM snippets WHERE chat_key = :k"), {"k": key}))
        broken = list(connection.execute(text("PRAGMA foreign_key_check")))
    engine.dispose()
    assert not broken
    assert [message.position for message in messages] == list(range(len(messages)))
    ranges = _ranges(messages, {snippet.key: snippet for snippet in snippets})
    _assert_ordered([one for one in snippets if one.strategy == "layered"], ranges)
    _assert_window(messages, -(-verbatim_turns // 2) if shrunk else verbatim_turns)
    assert_chains(database, chat_id)


def _ranges(
    messages: list[Row[*tuple[Any, ...]]], snippets: dict[int, Row[*tuple[Any, ...]]]
) -> dict[int, tuple[int, int]]:
    """First and last index under each live snippet; every covered message leads to exactly one."""
    ranges: dict[int, tuple[int, int]] = {}
    for message in messages:
        if message.layered_leaf is None:
            continue
        assert not (message.hidden)
        assert not (message.pinned)
        assert not (message.omitted)
        root = snippets[message.layered_leaf]
        while root.parent_key is not None:
            assert root.state == "absorbed"
            root = snippets[root.parent_key]
        assert root.state == "live"
        first, _ = ranges.get(root.key, (message.position, 0))
        ranges[root.key] = (first, message.position)
    return ranges


def _assert_ordered(snippets: list[Row[*tuple[Any, ...]]], ranges: dict[int, tuple[int, int]]) -> None:
    live = sorted((s for s in snippets if s.state == "live"), key=lambda s: (-s.layer, s.position))
    assert {snippet.key for snippet in live} == set(ranges), "a live snippet covers nothing"
    ends = [end for snippet in live for end in ranges[snippet.key]]
    assert ends == sorted(ends), "live snippets overlap or are out of order"


def _assert_window(messages: list[Row[*tuple[Any, ...]]], verbatim_turns: int) -> None:
    closers = [m for m in messages if m.closes and not (m.hidden or m.omitted)]
    covered = [m for m in closers[max(0, len(closers) - verbatim_turns) :] if m.layered_leaf is not None]
    assert not covered, "a fold took one of the newest turns"
