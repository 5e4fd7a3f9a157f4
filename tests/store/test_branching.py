"""Copying a chat's beginning, in the database."""

from typing import Any

import pytest
from sqlalchemy import select, update
from sqlmodel import Session, col

from app.core.branching import Carried, Node, Root
from app.store import branching, messages, snippets
from app.store.engine import Database
from app.store.kept_tables import SnippetVersion
from app.store.tables import Message, Snippet
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at, message

TEXTS = {"id", "strategy", "kind", "text", "tokens", "source_tokens", "stale", "degraded", "edited", "failures"}
ORIGINS = {"connection", "model", "usage", "created_at", "edited_at", "revision"}


def row_of(found: Any, names: set[str]) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}


def two_chats(session: Session) -> tuple[int, int]:
    """A chat with twelve messages, the first eight under a merge of two leaves, and an empty one; their keys."""
    source, target = add_chat(session).key, add_chat(session, "d").key
    add_messages(session, source, 12)
    merged = add_snippet(session, source, 1, 0, id="merged", kind="merge")
    for number in range(2):
        leaf = add_snippet(session, source, 0, number, state="absorbed", parent_key=merged, usage={"calls": number})
        messages.cover(session, keys_at(session, source, range(4 * number, 4 * number + 4)), LAYERED, leaf)
    return source, target


def test_trees_are_read_with_what_each_snippet_covers(db: Database) -> None:
    """A leaf has the places of its messages, a merged snippet none; what is deleted or of another kind is left out."""
    with db.write() as session:
        source, _ = two_chats(session)
        add_snippet(session, source, 0, 5, id="gone", state="deleted")
        add_snippet(session, source, 0, 0, id="other", strategy="rolling")
        found = sorted(branching.nodes(session, source, "layered"), key=lambda node: node.key)
        assert found == [Node(1, 1), Node(2, 0, 1, 0, 3), Node(3, 0, 1, 4, 7)]
        assert branching.nodes(session, source, "none") == []


def test_snippets_are_copied_whole(db: Database) -> None:
    """A copy has a key, a chat and a place of its own and a copy for its parent; all else is as it was."""
    with db.write() as session:
        _, target = two_chats(session)
        branching.copy_snippets(session, target, Carried((Root(1, 3, 7),), ((2, 3),)))
        copies = session.execute(select(Snippet).where(col(Snippet.chat_key) == target)).scalars().all()
        by_id = {copy.id: copy for copy in copies}
        for original in session.execute(select(Snippet).where(col(Snippet.chat_key) != target)).scalars():
            copy = by_id.pop(original.id)
            assert row_of(copy, TEXTS | ORIGINS) == row_of(original, TEXTS | ORIGINS)
            root = original.id == "merged"
            assert (copy.layer, copy.position) == ((3, 7) if root else (original.layer, original.position))
            assert copy.parent_key == (None if root else copies[0].key)
        assert not by_id


def test_a_part_becomes_a_root(db: Database) -> None:
    """A snippet whose parent is not copied is live."""
    with db.write() as session:
        _, target = two_chats(session)
        branching.copy_snippets(session, target, Carried((Root(2, 0, 0),)))
        assert [found.core.layer for found in snippets.live(session, target, "layered")] == [0]


def test_messages_are_copied_whole(db: Database) -> None:
    """A copy differs in its key, its chat and its leaf alone; the leaf is the copy of the original's, if it has one."""
    with db.write() as session:
        source, target = two_chats(session)
        extra: dict[str, Any] = {
            "extra": {"a": ["é", None]},
            "tool_calls": [{"id": "x"}],
            "tool_call_id": "y",
            "call_tokens": 7,
        }
        plain: dict[str, Any] = {"pinned": False, "hidden": False, "omitted": False, "skipped": False, "revision": 0}
        marks: tuple[dict[str, Any], ...] = (
            {"pinned": True},
            {"hidden": True},
            {"omitted": True},
            {"skipped": True, "revision": 3},
        )
        said: dict[str, Any] = {"content": "\U0001f409'\"", "name": "Ü"}
        rows = [message(source, 12 + n, **{**said, **extra, **plain, **what}) for n, what in enumerate(marks)]
        messages.insert_many(session, rows)
        branching.copy_snippets(session, target, Carried((Root(2, 0, 0),)))
        branching.copy_messages(session, source, target, 14)
        own = {"key", "chat_key", "layered_leaf"}
        names = {column.name for column in Message.metadata.tables["messages"].c} - own
        in_order = select(Message).order_by(col(Message.position))
        originals = session.execute(in_order.where(col(Message.chat_key) == source)).scalars().all()
        copies = session.execute(in_order.where(col(Message.chat_key) == target)).scalars().all()
        assert [row_of(copy, names) for copy in copies] == [row_of(one, names) for one in originals[:15]]
        assert [copy.layered_leaf for copy in copies] == [4] * 4 + [None] * 11


@pytest.mark.parametrize("leaf", ["rolling_leaf", "buffer_leaf"])
def test_other_strategies_are_copied_too(db: Database, leaf: str) -> None:
    """Each strategy's column leads to the copies of its own snippets."""
    strategy = {"rolling_leaf": "rolling", "buffer_leaf": "summary_buffer"}[leaf]
    with db.write() as session:
        source, target = add_chat(session).key, add_chat(session, "d").key
        add_messages(session, source, 4)
        key = add_snippet(session, source, 0, 0, strategy=strategy, kind="rolling")
        session.execute(update(Message).where(col(Message.position) < 2).values({leaf: key}))
        assert branching.nodes(session, source, strategy) == [Node(key, 0, None, 0, 1)]
        branching.copy_snippets(session, target, Carried((Root(key, 0, 0),)))
        branching.copy_messages(session, source, target, 3)
        copies = session.execute(select(Message).where(col(Message.chat_key) == target)).scalars()
        assert [getattr(copy, leaf) for copy in copies] == [key + 1] * 2 + [None] * 2


def test_earlier_texts_are_copied(db: Database) -> None:
    """Those of the copied snippets, in their order; those of others stay where they are."""
    with db.write() as session:
        source, target = two_chats(session)
        for number, key in enumerate((2, 3, 2)):
            version = SnippetVersion(snippet_key=key, text=f"Text {number}.", tokens=3, why="edit", replaced_at=number)
            session.add(version)
        session.flush()
        branching.copy_snippets(session, target, Carried((Root(2, 0, 0),)))
        branching.copy_versions(session, source, target)
        query = select(SnippetVersion).where(col(SnippetVersion.snippet_key) == 4).order_by(col(SnippetVersion.key))
        copies = session.execute(query).scalars().all()
        assert [(copy.text, copy.replaced_at) for copy in copies] == [("Text 0.", 0), ("Text 2.", 2)]
        assert session.get(SnippetVersion, 6) is None


def test_the_newest_messages_of_a_beginning(db: Database) -> None:
    """They come by index, covered or not, no later than the last one that is asked for."""
    with db.write() as session:
        source, _ = two_chats(session)
        assert [found.index for found in branching.newest(session, source, 9, 4)] == [6, 7, 8, 9]
        assert [found.index for found in branching.newest(session, source, 1, 4)] == [0, 1]
        assert branching.newest(session, source, -1, 4) == []
