"""Searching a chat."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import InvalidRequest, NotFound
from app.services.searching import Searching
from app.store import messages
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import LAYERED, add_chat, add_snippet, keys_at, message

PROSE = " ".join(f"word{number}" for number in range(100))


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searching]:
    """A chat whose first two messages are under a snippet, one of the others hidden, one omitted."""
    folder: Path = tmp_path_factory.mktemp("searching")
    db = Database(f"sqlite:///{folder / 'turnfold.db'}")
    migrate(db.engine)
    said = ("Is the ferry there?", f"{PROSE} the ferry {PROSE}", "A hidden lantern.", "An omitted lantern.", None)
    with db.write() as session:
        chat = add_chat(session)
        marks = {2: {"hidden": True}, 3: {"omitted": True}}
        rows = [message(chat.key, place, content=words) for place, words in enumerate(said)]
        for place, row in enumerate(rows):
            messages.insert_many(session, [row | marks.get(place, {})])
        leaf = add_snippet(session, chat.key, 0, 0, id="leaf", text="They ask for a ferry.")
        messages.cover(session, keys_at(session, chat.key, [0, 1]), LAYERED, leaf)
    yield Searching(db)
    db.dispose()


def test_messages_and_snippets_lead_on(searching: Searching) -> None:
    """A message says where it stands and what covers it, a snippet who it is and where it begins."""
    hits = {(hit.kind, hit.message_id): hit for hit in searching.search("c", "ferry", 50)}
    assert len(hits) == 3
    first, second, snippet = hits["message", "m0"], hits["message", "m1"], hits["snippet", None]
    assert (first.snippet_id, first.index, first.excerpt) == ("leaf", 0, "Is the ferry there?")
    assert (second.snippet_id, second.index) == ("leaf", 1)
    assert "the ferry" in second.excerpt
    assert len(second.excerpt) < 170
    assert (snippet.snippet_id, snippet.index, snippet.excerpt) == ("leaf", 0, "They ask for a ferry.")


def test_what_is_not_sent_is_found_too(searching: Searching) -> None:
    """Hidden and omitted messages are found; nothing covers them."""
    hits = searching.search("c", "lantern", 50)
    assert {(hit.message_id, hit.snippet_id) for hit in hits} == {("m2", None), ("m3", None)}


def test_the_limit_holds(searching: Searching) -> None:
    """No more hits than asked for, the best ones, whether they hold all words or some."""
    everything = searching.search("c", "ferry lantern", 50)
    assert len(everything) == 5
    assert searching.search("c", "ferry lantern", 2) == everything[:2]


def test_no_word_finds_nothing(searching: Searching) -> None:
    """A query without a letter or digit finds nothing; a blank or endless one is refused."""
    assert searching.search("c", "🐉 … *", 50) == []
    for query in ("", " \n", "x" * 501):
        with pytest.raises(InvalidRequest, match="at most 500 characters"):
            searching.search("c", query, 50)


def test_there_must_be_a_chat(searching: Searching) -> None:
    """An unknown chat is said to be unknown."""
    with pytest.raises(NotFound):
        searching.search("nowhere", "ferry", 50)
