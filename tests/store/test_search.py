"""Searching the texts of a database."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.store import chats, messages, search
from app.store.engine import Database
from app.store.search import Hit, indexed, scanned
from app.store.words import read_query
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at
from tests.support.searched import add_texts, found

Way = Callable[..., list[Hit]]


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("我们去东京了", "东京"),
        ("我们去东京了", "东"),
        ("我们去东京了", "了"),
        ("我们去东京了", "去东京"),
        ("我们去东京了", "我们 了"),
        ("猫が好き", "猫"),
        ("今日は猫が好きです", "好き"),
        ("ガ", "ｶﾞ"),
        ("ที่หน้าประตูบ้าน", "ประตู"),
        ("ที่หน้าประตูบ้าน", "บ้าน"),
        ("학교에서 만나요", "학교"),
        ("ພາສາລາວ", "ລາວ"),
        ("ខ្មែរ\u200bភាសា", "ភាសា"),
        ("မြန်မာစာ", "စာ"),
        ("Turnfoldは3年前", "turnfold 3年"),
        ("The brass keys of Mira's gate", "key"),
        ("The brass keys of Mira's gate", '"BRASS keys"'),
        ("The brass keys of Mira's gate", "mira's"),
        ("Mira’s gate", "mira's"),
        ("Un café crème", "cafe"),
        ("Un cafe\u0301", "Café"),
        ("Un cafe", "cafés café"),
        ("Straße", "STRASSE"),
        ("हिन्दी में", "हिन्दी"),
        ("Привет, Мир", "привет мир"),
        ("שלום עולם", "עולם"),
        ("a 🐉 b", "🐉 b"),
        ("version 3.25", "3.25"),
    ],
)
def test_words_of_all_scripts_are_found(db: Database, said: str, query: str) -> None:
    """Words are found in every script: whole, by their beginnings, and where no spaces are written as any piece."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(session, chat.key, "nothing of it", said)
        assert found(session, chat.key, query) == ["m1"]


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("我们去东京了", "东去"),
        ("我们去东京了", "京东"),
        ("東京", "京都"),
        ("the brass old key", '"brass key"'),
        ("gates", '"gate"'),
        ("investigate", "gate"),
        ("easy", "e"),
        (None, "none"),
        ("c1", "c2"),
        ("a 🐉 b", "🐉"),
    ],
)
def test_other_words_are_not_found(db: Database, said: str | None, query: str) -> None:
    """Pieces in another order, parts of a phrase, ends of words and what is no word find nothing."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(session, chat.key, said)
        assert found(session, chat.key, query) == []


def test_chats_are_apart(db: Database) -> None:
    """A search finds nothing of other chats, whatever their numbers and words are."""
    with db.write() as session:
        keys = [add_chat(session, f"chat{number}").key for number in range(12)]
        for key in keys:
            add_texts(session, key, f"gate c{key} c{keys[0]}")
        hits = search.find(session, keys[0], "layered", read_query("gate"), 50)
        assert [hit.key for hit in hits] == keys_at(session, keys[0], [0])
        assert len(search.find(session, keys[0], "layered", read_query(f"c{keys[0]}"), 50)) == 1
        assert found(session, keys[0], f"c{keys[5]}") == []


def test_every_word_comes_before_some(db: Database) -> None:
    """What holds all words comes first, then, up to the limit, what holds some; scores descend all the way."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(
            session, chat.key, "brass brass brass brass", "a key", "the brass key", "nothing", "key brass lantern"
        )
        scores = [hit.score for hit in search.find(session, chat.key, "layered", read_query("brass key"), 50)]
        assert scores == sorted(scores, reverse=True)
        ids = found(session, chat.key, "brass key")
        assert (set(ids[:2]), set(ids[2:])) == ({"m2", "m4"}, {"m0", "m1"})
        for limit in range(1, 5):
            assert found(session, chat.key, "brass key", limit) == ids[:limit]


@pytest.mark.parametrize("way", [indexed, scanned])
def test_what_says_it_more_is_better(db: Database, way: Way) -> None:
    """With the index and without: of two texts of a length, the one that has the word more often comes first."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(session, chat.key, "one gate here", "gate by gate", "no such thing", "nothing at all")
        hits = way(session, chat.key, "layered", read_query("GATE"), 9, every=True)
        assert [hit.key for hit in hits] == keys_at(session, chat.key, [1, 0])
        assert hits[0].score > hits[1].score
        assert [hit.key for hit in way(session, chat.key, "layered", read_query("such all"), 9, every=True)] == []
        assert len(way(session, chat.key, "layered", read_query("such all"), 9, every=False)) == 2
        assert len(way(session, chat.key, "layered", read_query("gate such all"), 3, every=False)) == 3


@pytest.mark.parametrize("way", [indexed, scanned])
def test_snippets_of_the_present_memory(db: Database, way: Way) -> None:
    """Live and absorbed snippets are found, deleted and superseded ones and those of another strategy are not."""
    with db.write() as session:
        chat = add_chat(session)
        merged = add_snippet(session, chat.key, 1, 0, text="The gate.")
        part = add_snippet(session, chat.key, 0, 0, text="A gate.", state="absorbed", parent_key=merged)
        add_snippet(session, chat.key, 0, 0, id="deleted", text="No gate.", state="deleted")
        add_snippet(session, chat.key, 0, 0, id="superseded", text="No gate.", state="superseded")
        rolling = add_snippet(session, chat.key, 0, 0, id="rolling", text="Another gate.", strategy="rolling")
        shown = {"layered": {merged, part}, "rolling": {rolling}, "none": set()}
        for strategy, keys in shown.items():
            hits = way(session, chat.key, strategy, read_query("gate"), 9, every=True)
            assert {hit.key for hit in hits} == keys
            assert all(hit.kind == "snippet" for hit in hits)


@pytest.mark.parametrize("query", ["50%", "a_b", r"c:\d", "%", "_"])
def test_signs_mean_nothing_without_an_index(db: Database, query: str) -> None:
    """Where texts are looked through, LIKE's own signs are text as well."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(session, chat.key, "50% of a_b in c:\\d", "500 axb cd")
        parts = read_query(query)
        hits = scanned(session, chat.key, "layered", parts, 9, every=True) if parts else []
        assert {hit.key for hit in hits} <= set(keys_at(session, chat.key, [0, 1]))
        if query == "a_b":
            assert [hit.key for hit in hits] == keys_at(session, chat.key, [0])


def test_a_hit_leads_on(db: Database) -> None:
    """A message is found with its index and leaf, a snippet with the first index under it, through all layers."""
    with db.write() as session:
        chat = add_chat(session)
        add_messages(session, chat.key, 6)
        merged = add_snippet(session, chat.key, 1, 0, id="merged", text="Merged.")
        part = add_snippet(session, chat.key, 0, 0, id="part", text="Part.", state="absorbed", parent_key=merged)
        messages.cover(session, keys_at(session, chat.key, [2, 3]), LAYERED, part)
        hits = [
            search.find(session, chat.key, "layered", read_query(word), 1)[0] for word in ("merged", "part", "3", "4")
        ]
        read = search.read(session, chat.key, "layered", hits)
        assert [(hit.message_id, hit.snippet_id, hit.index, hit.text) for hit in read] == [
            (None, "merged", 2, "Merged."),
            (None, "part", 2, "Part."),
            ("m3", "part", 3, "Line 3."),
            ("m4", None, 4, "Line 4."),
        ]


SIGNS = st.lists(
    st.sampled_from([*"\"'*^():-+{}%_\\ ,.;/东門eคำ🐉\u200b\u0301\ue000", " AND ", " OR ", " NOT ", "NEAR(", "chat:"])
).map("".join)


@given(SIGNS | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_is_an_error(db: Database, query: str) -> None:
    """Any text is a query: it finds something or nothing, and nothing in it is understood as a command."""
    with db.write() as session:
        if chats.find(session, "c") is None:
            other = add_chat(session, "other")
            add_texts(session, other.key, "東門 e คำ AND OR NOT NEAR \ue000")
            add_texts(session, add_chat(session).key, "東門 e คำ AND OR NOT NEAR \ue000", "e")
        chat = chats.find(session, "c")
        assert chat is not None
        parts = read_query(query)
        for way in (indexed, scanned):
            for every in (True, False):
                hits = way(session, chat.key, "layered", parts, 9, every=every) if parts else []
                assert {hit.key for hit in hits} <= set(keys_at(session, chat.key, [0, 1]))
