"""The index of words says what the texts say, whatever happens to them (migrations/versions/0003_search.py)."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event, text
from sqlmodel import Session

from app.store import chats, history, trees
from app.store.engine import Database
from app.store.tables import Snippet
from tests.support.rows import add_chat, add_messages, add_snippet, keys_at
from tests.support.searched import add_texts, found

_SAID = 'SELECT term, doc, col, "offset" FROM temp.said ORDER BY 1, 2, 3, 4'


def held(session: Session) -> list[tuple[Any, ...]]:
    """Every word in the index, with its row, column and place."""
    session.flush()
    session.execute(text("CREATE VIRTUAL TABLE IF NOT EXISTS temp.said USING fts5vocab(main, search_words, instance)"))
    return [tuple(row) for row in session.execute(text(_SAID))]


def assert_true(session: Session) -> None:
    """The index holds exactly what one that is filled anew from the texts holds."""
    before = held(session)
    session.execute(text("INSERT INTO search_words (search_words) VALUES ('integrity-check')"))
    session.execute(text("INSERT INTO search_words (search_words) VALUES ('delete-all')"))
    for table, said, odd in (("messages", "content", 0), ("snippets", "text", 1)):
        fill = f"SELECT 2 * key + {odd}, 'c' || chat_key, turnfold_words({said}) FROM {table} WHERE {said} <> ''"
        session.execute(text(f"INSERT INTO search_words (rowid, chat, words) {fill}"))
    assert before == held(session)


def test_an_edit_moves_the_words(db: Database) -> None:
    """After a new text the old words find nothing and the new ones do, for messages and snippets, null included."""
    with db.write() as session:
        chat = add_chat(session)
        add_texts(session, chat.key, "老 words", None, "other")
        key = add_snippet(session, chat.key, 0, 0, id="s", text="ancient words")
        first, second, third = keys_at(session, chat.key, [0, 1, 2])
        history.change(
            session, {first: {"content": "新 text"}, second: {"content": "more 新"}, third: {"content": None}}
        )
        snippet = session.get(Snippet, key)
        assert snippet is not None
        snippet.text = "新しい line"
        session.flush()
        assert found(session, chat.key, "words") == found(session, chat.key, "other") == []
        assert sorted(found(session, chat.key, "新")) == ["m0", "m1", "s"]
        assert_true(session)


def test_what_goes_takes_its_words_along(db: Database) -> None:
    """Deleted messages, deleted chats and what goes with them by cascade leave the index; others stay."""
    with db.write() as session:
        here, there, third = (add_chat(session, name) for name in ("here", "there", "third"))
        for chat in (here, there, third):
            add_texts(session, chat.key, "the gate", "门在这里")
            add_snippet(session, chat.key, 0, 0, text="A gate 门.")
        history.remove(session, keys_at(session, here.key, [0]))
        assert found(session, here.key, "门") != []
        assert found(session, here.key, "the") == []
        chats.remove(session, there.key)
        session.execute(text("DELETE FROM chats WHERE id = 'third'"))
        left = {row[1] for row in held(session)}
        assert left == {2 * keys_at(session, here.key, [1])[0], 2 * 1 + 1}
        assert_true(session)


def change_and_fail(db: Database, chat_key: int) -> None:
    with db.write() as session:
        add_texts(session, chat_key, "the bridge", start=1)
        chats.remove(session, chat_key)
        raise KeyError


def test_an_undone_transaction_leaves_no_words(db: Database) -> None:
    """What was rolled back is not found, what was there before is."""
    with db.write() as session:
        chat_key = add_chat(session).key
        add_texts(session, chat_key, "the gate")
    with pytest.raises(KeyError):
        change_and_fail(db, chat_key)
    with db.write() as session:
        assert found(session, chat_key, "bridge") == []
        assert found(session, chat_key, "gate") == ["m0"]
        assert_true(session)


def test_memory_that_is_let_go_is_not_found(db: Database) -> None:
    """A snippet that is taken back is found no more, though its row stays."""
    with db.write() as session:
        chat = add_chat(session)
        snippet = session.get(Snippet, add_snippet(session, chat.key, 0, 0, id="s", text="The gate."))
        assert snippet is not None
        assert found(session, chat.key, "gate") == ["s"]
        trees.release(session, chat.key, snippet)
        assert found(session, chat.key, "gate") == []
        assert_true(session)


STORABLE = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
SAYINGS = st.sampled_from(["the gate", "门在东京", "ประตู gate", "Café…", "", None]) | st.text(STORABLE, max_size=20)


@given(st.lists(st.tuples(st.sampled_from(["add", "edit", "delete"]), st.integers(0, 9), SAYINGS), max_size=15))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_index_is_true_after_anything(db: Database, steps: list[tuple[str, int, str | None]]) -> None:
    """Whatever is added, edited and deleted, the index holds what one made anew holds."""
    with db.write() as session:
        chat = chats.find(session, "c") or add_chat(session)
        place = chats.count_messages(session, chat.key)
        for step, number, said in steps:
            keys = list(session.execute(text("SELECT key FROM messages ORDER BY key")).scalars())
            if step == "add" or not keys:
                add_texts(session, chat.key, said, said, start=place)
                place += 2
            elif step == "edit":
                history.change(session, {keys[number % len(keys)]: {"content": said}})
            else:
                history.remove(session, [keys[number % len(keys)]])
        assert_true(session)


def test_many_messages_are_one_statement(db: Database) -> None:
    """Messages are inserted by the hundreds: with a statement for each, indexing would take five times as long."""
    inserted: list[int] = []

    def listen(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("INSERT INTO messages"):
            inserted.append(statement.count("(?"))

    event.listen(db.engine, "before_cursor_execute", listen)
    with db.write() as session:
        add_messages(session, add_chat(session).key, 1500)
    assert sum(inserted) == 1500
    assert len(inserted) == 2


@pytest.mark.parametrize("change", ["UPDATE messages SET content = 'x'", "DELETE FROM messages"])
def test_who_cannot_index_cannot_write(db: Database, tmp_path: Path, change: str) -> None:
    """Another program reads the database, but is refused where it would leave the index wrong."""
    with db.write() as session:
        add_messages(session, add_chat(session).key, 2)
    other = sqlite3.connect(tmp_path / "turnfold.db")
    assert other.execute("SELECT count(*) FROM messages").fetchone() == (2,)
    with pytest.raises(sqlite3.OperationalError, match="turnfold_words"):
        other.execute(change)
    other.close()
