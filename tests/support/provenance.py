"""What every snippet was made from, checked against what is under it now."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

LEAVES = {"layered": "layered_leaf", "rolling": "rolling_leaf", "summary_buffer": "buffer_leaf"}
"""By strategy, the column that says what covers a message."""


def assert_fresh(database: Path, chat_id: str, made: Mapping[str, tuple[str, list[str]]], pinned: set[str]) -> None:
    """A snippet that is not stale says what is under it: its text was made from just that, but for what was pinned
    since; and whatever joined a leaf without being covered by it makes it stale.
    """
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        key = connection.execute(text("SELECT key FROM chats WHERE id = :chat"), {"chat": chat_id}).scalar_one()
        messages = [
            dict(row._mapping)
            for row in connection.execute(
                text("SELECT * FROM messages WHERE chat_key = :k ORDER BY position"), {"k": key}
            )
        ]
        snippets = {
            row.key: dict(row._mapping)
            for row in connection.execute(
                text("SELECT * FROM snippets WHERE chat_key = :k ORDER BY layer DESC, position"), {"k": key}
            )
        }
    engine.dispose()
    standing = {one["key"]: one for one in snippets.values() if _stands(one, snippets)}
    for one in standing.values():
        if one["stale"] or one["edited"] or one["text"] not in made:
            continue
        kind, source = made[one["text"]]
        parts = [part["text"] for part in standing.values() if part["parent_key"] == one["key"]]
        leaf = LEAVES[one["strategy"]]
        under = [m["content"] for m in messages if m[leaf] == one["key"] and not m["blank"]]
        now = parts if kind == "merge" else under
        extra = _missing(now, source)
        assert extra is not None, f"{one['text']} was made from {source}, but {now} is under it"
        assert set(extra) <= pinned or (kind == "merge" and pinned), f"{one['text']} still tells {extra}"
    _assert_joiners_known(messages, standing)


def _stands(one: Mapping[str, Any], snippets: Mapping[int, Mapping[str, Any]]) -> bool:
    while one["parent_key"] is not None:
        one = snippets[one["parent_key"]]
    return bool(one["state"] == "live")


def _missing(part: Sequence[str], whole: Iterable[str]) -> list[str] | None:
    """What `whole` has beyond `part`; None if `part` is no subsequence of it."""
    wanted, extra = list(part), []
    for item in whole:
        if wanted and wanted[0] == item:
            wanted.pop(0)
        else:
            extra.append(item)
    return None if wanted else extra


def _assert_joiners_known(messages: Sequence[Mapping[str, Any]], standing: Mapping[int, Mapping[str, Any]]) -> None:
    """What lies inside a range uncovered is known to the leaf before it."""
    leaf, between = None, []
    for message in messages:
        if message["layered_leaf"] is None:
            if not (message["hidden"] or message["pinned"] or message["omitted"] or message["blank"]):
                between.append(message["id"])
            continue
        following = message["layered_leaf"]
        if leaf is not None and between and _root(leaf, standing) == _root(following, standing):
            assert standing[leaf]["stale"] or standing[leaf]["edited"], f"nobody knows that {between} joined"
        leaf, between = following, []


def _root(key: int, standing: Mapping[int, Mapping[str, Any]]) -> int:
    while standing[key]["parent_key"] is not None:
        key = standing[key]["parent_key"]
    return key
