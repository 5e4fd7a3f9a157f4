"""What must hold of memory that is one summary, written anew with every fold, checked on what a database holds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

LEAVES = {"rolling": "rolling_leaf", "summary_buffer": "buffer_leaf"}

_Row = Mapping[str, Any]


def assert_chains(database: Path, chat_id: str) -> None:
    """At most one summary is live, its predecessors cover ascending and disjoint ranges, and all together cover the
    oldest of what can be covered, without a gap.
    """
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        key = connection.execute(text("SELECT key FROM chats WHERE id = :chat"), {"chat": chat_id}).scalar_one()
        messages = connection.execute(
            text("SELECT * FROM messages WHERE chat_key = :k ORDER BY position"), {"k": key}
        ).mappings()
        found = connection.execute(text("SELECT * FROM snippets WHERE chat_key = :k"), {"k": key}).mappings()
        rows, snippets = [dict(row) for row in messages], [dict(row) for row in found]
    engine.dispose()
    for strategy in LEAVES:
        _assert_chain(rows, [one for one in snippets if one["strategy"] == strategy], LEAVES[strategy])


def _assert_chain(messages: Sequence[_Row], snippets: Sequence[_Row], leaf: str) -> None:
    chain = _chain(snippets)
    covered = [(message["position"], message[leaf]) for message in messages if message[leaf] is not None]
    assert {key for _, key in covered} <= set(chain), "a message is under a summary that does not stand"
    assert [key for _, key in covered] == sorted((key for _, key in covered), key=chain.index), "ranges cross"
    assert bool(covered) == bool(chain), "a summary stands that covers nothing"
    assert not any(m["hidden"] or m["pinned"] or m["omitted"] for m in messages if m[leaf] is not None)
    begin = next((m["position"] for m in messages if m["role"] in ("user", "assistant")), len(messages))
    assert all(position >= begin for position, _ in covered), "the chat's own system prompt is covered"
    speaking = [m for m in messages if m["position"] >= begin and _speaks(m)]
    under = [m[leaf] is not None for m in speaking]
    assert under == sorted(under, reverse=True), "what is covered has a gap"


def _chain(snippets: Sequence[_Row]) -> list[int]:
    """The keys of the live summary and its predecessors, oldest first."""
    live = [one for one in snippets if one["state"] == "live"]
    assert len(live) <= 1, "two summaries are live"
    assert all((one["layer"], one["position"]) == (0, 0) for one in live)
    found: list[int] = []
    level = live
    while level:
        found.insert(0, level[0]["key"])
        level = [one for one in snippets if one["parent_key"] == level[0]["key"]]
        assert len(level) <= 1, "two summaries went into one"
        assert all(one["state"] == "absorbed" for one in level)
    return found


def _speaks(message: _Row) -> bool:
    return not (message["hidden"] or message["pinned"] or message["omitted"] or message["blank"])
