"""app.store.streams: a chat's rows one after the other, with ids in place of keys."""

import pytest

from app.store import streams
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.intake import insert_rows
from app.store.kept import KEPT_MS
from app.store.messages import cover, insert_many
from app.store.tables import Snippet
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at, message


def kept(chat_key: int, message_id: str, kept_at: int) -> dict[str, object]:
    return {"chat_key": chat_key, "id": message_id, "why": "deleted", "position": 0, "kept_at": kept_at, "snapshot": {}}


def version(snippet_key: int, text: str, why: str = "edit", at: int = 0) -> dict[str, object]:
    return {"snippet_key": snippet_key, "why": why, "text": text, "tokens": 1, "replaced_at": at}


def test_messages_know_their_leaf(db: Database) -> None:
    """By index, of this chat alone, each with the id of the snippet over it in the strategy that was asked for."""
    with db.write() as session:
        chat, other = add_chat(session), add_chat(session, "other")
        insert_many(session, [message(chat.key, place) for place in (2, 0, 1)])
        add_messages(session, other.key, 2)
        leaf = add_snippet(session, chat.key, 0, 0)
        cover(session, keys_at(session, chat.key, [1]), LAYERED, leaf)
        found = list(streams.stream_messages(session, chat.key, "layered"))
        assert [(row["position"], row["leaf_id"]) for row in found] == [(0, None), (1, "s0.0"), (2, None)]
        assert {row["leaf_id"] for row in streams.stream_messages(session, chat.key, "none")} == {None}
        assert streams.covered_places(session, chat.key, "layered") == [1]
        assert streams.covered_places(session, chat.key, "none") == []


def test_parts_know_what_absorbed_them(db: Database) -> None:
    """Snippets of all states come in the order they were made, with the id of their parent."""
    with db.write() as session:
        chat = add_chat(session)
        part = add_snippet(session, chat.key, 0, 0)
        whole = add_snippet(session, chat.key, 1, 0)
        snippet = session.get_one(Snippet, part)
        snippet.state, snippet.parent_key = "absorbed", whole
        session.flush()
        found = list(streams.stream_snippets(session, chat.key))
    assert [(row["id"], row["state"], row["parent_id"]) for row in found] == [
        *[("s0.0", "absorbed", "s1.0"), ("s1.0", "live", None)]
    ]


def test_what_is_not_kept_any_more_is_not_there(db: Database) -> None:
    """Deleted messages that cannot be restored are left out, and not counted."""
    with db.write() as session:
        chat = add_chat(session)
        long_ago = now_ms() - KEPT_MS - 1
        insert_rows(session, "kept_messages", [kept(chat.key, "old", long_ago), kept(chat.key, "new", now_ms())])
        assert [row["id"] for row in streams.stream_kept(session, chat.key)] == ["new"]
        assert streams.count_parts(session, chat.key)["kept_message"] == 1


def test_earlier_texts_are_numbered_by_snippet(db: Database) -> None:
    """Each snippet's begin at 0; steps name the text they replaced by its number."""
    with db.write() as session:
        chat = add_chat(session)
        first, second = add_snippet(session, chat.key, 0, 0), add_snippet(session, chat.key, 0, 1)
        insert_rows(session, "snippet_versions", [version(key, "x") for key in (first, second, first)])
        step = {"chat_key": chat.key, "kind": "edit", "made_at": 0, "covered": None}
        insert_rows(
            session,
            "undo_steps",
            [
                {**step, "snippet_key": first, "version_key": 3},
                {**step, "kind": "manual", "snippet_key": second, "version_key": None},
            ],
        )
        numbers = [(row["snippet_id"], row["number"]) for row in streams.stream_versions(session, chat.key)]
        steps = [(row["snippet_id"], row["number"]) for row in streams.stream_steps(session, chat.key)]
    assert numbers == [("s0.0", 0), ("s0.1", 0), ("s0.0", 1)]
    assert steps == [("s0.0", 1), ("s0.1", None)]


def test_live_lines_tell_where_they_come_from(db: Database) -> None:
    """What they cover, how many parts they have from which layer, and when they were last made anew."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 6)
        parts = [add_snippet(session, chat.key, 0, place) for place in (0, 1)]
        whole = add_snippet(session, chat.key, 1, 0, kind="merge")
        for place, key in enumerate(parts):
            cover(session, keys_at(session, chat.key, [2 * place, 2 * place + 1]), LAYERED, key)
            snippet = session.get_one(Snippet, key)
            snippet.state, snippet.parent_key = "absorbed", whole
        leaf = add_snippet(session, chat.key, 0, 2)
        cover(session, keys_at(session, chat.key, [4, 5]), LAYERED, leaf)
        session.flush()
        texts = [
            version(leaf, "x", "regenerate", 5),
            version(leaf, "y", "regenerate", 7),
            version(leaf, "z", "heal", 9),
        ]
        insert_rows(session, "snippet_versions", texts)
        found = streams.live_lines(session, chat.key, "layered")
    assert [(line.id, line.first, line.last, line.parts, line.part_layer) for line in found] == [
        *[("s1.0", 0, 3, 2, 0), ("s0.2", 4, 5, 0, 0)]
    ]
    assert [line.regenerated_at for line in found] == [None, 7]


@pytest.mark.parametrize("keys", [[], [1, 2, 3, 99]])
def test_places_of_what_still_exists(db: Database, keys: list[int]) -> None:
    """Keys of messages that are gone are left out."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 3)
        assert streams.places_of(session, keys) == {key: key - 1 for key in keys if key < 99}
