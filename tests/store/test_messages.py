"""Messages in the database."""

from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from app.core.model import Message as CoreMessage
from app.core.model import Role
from app.store import messages
from app.store.engine import Database
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at, message


@pytest.mark.parametrize(
    "what",
    [
        {"position": 1, "id": "other"},
        {"position": 9, "id": "m1"},
        {"position": 9, "role": "narrator"},
        {"position": 9, "chat_key": 99},
        {"position": 9, "layered_leaf": 99},
    ],
)
def test_what_the_database_refuses(db: Database, what: dict[str, Any]) -> None:
    """A place or an id twice, an unknown role, a chat or a leaf that is not there: none of these can be stored."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 2)
        with pytest.raises(IntegrityError), session.begin_nested():
            messages.insert_many(session, [{**message(1, 9), **what}])


def test_a_leaf_of_the_same_chat(db: Database) -> None:
    """No message can be covered by another chat's snippet."""
    with db.write() as session:
        add_chat(session)
        add_chat(session, "d")
        foreign = add_snippet(session, 2, 0, 0)
        with pytest.raises(IntegrityError), session.begin_nested():
            messages.insert_many(session, [message(1, 0, layered_leaf=foreign)])


@pytest.mark.parametrize("flag", ["hidden", "pinned", "omitted"])
@pytest.mark.parametrize("leaf", ["layered_leaf", "rolling_leaf", "buffer_leaf"])
def test_what_is_covered_is_plain(db: Database, flag: str, leaf: str) -> None:
    """The database refuses to cover a hidden, pinned or omitted message, whatever the strategy."""
    with db.write() as session:
        add_chat(session)
        snippet = add_snippet(session, 1, 0, 0)
        messages.insert_many(session, [message(1, 0, **{leaf: snippet})])
        messages.insert_many(session, [message(1, 1, **{flag: True})])
        with pytest.raises(IntegrityError, match="covered_is_plain"), session.begin_nested():
            messages.insert_many(session, [message(1, 2, **{flag: True, leaf: snippet})])


def test_how_decisions_see_a_message(db: Database) -> None:
    """Tokens are those of the text and the tool calls; of the calls decisions see the ids."""
    calls = [{"id": "call-1", "type": "function"}]
    with db.write() as session:
        add_chat(session)
        made = {"role": "assistant", "tool_calls": calls, "call_tokens": 7}
        answer = {"role": "tool", "tool_call_id": "call-1", "blank": True}
        kinds: list[dict[str, Any]] = [made, answer, {"pinned": True, "skipped": True, "revision": 3}]
        for place, what in enumerate(kinds):
            messages.insert_many(session, [message(1, place, **what)])
        first, second, third = messages.uncovered(session, 1, "layered")
    assert first == CoreMessage(1, 0, Role.ASSISTANT, 12, calls=("call-1",))
    assert second == CoreMessage(2, 1, Role.TOOL, 5, blank=True, answers="call-1")
    assert third == CoreMessage(3, 2, Role.USER, 5, pinned=True, skipped=True, revision=3)


def test_oldest_and_newest(db: Database) -> None:
    """Of what is not covered the oldest or the newest are read, by index; with no strategy nothing is covered."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 10)
        messages.cover(session, keys_at(session, 1, [2, 3, 8]), LAYERED, add_snippet(session, 1, 0, 0))

        def places(found: list[CoreMessage]) -> list[int]:
            return [one.index for one in found]

        assert places(messages.uncovered(session, 1, "layered", 3)) == [0, 1, 4]
        assert places(messages.newest_uncovered(session, 1, "layered", 3)) == [6, 7, 9]
        assert places(messages.uncovered(session, 1, "none")) == list(range(10))
        assert places(messages.uncovered(session, 1, "rolling")) == list(range(10))
        assert messages.id_at(session, 1, 8) == "m8"


def test_covering_takes_up_skipped_turns(db: Database) -> None:
    """A covered message is no longer skipped; clearing makes everything visible again."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 4)
        keys = keys_at(session, 1, [0, 1, 2])
        messages.set_skipped(session, keys)
        messages.cover(session, keys[:2], LAYERED, add_snippet(session, 1, 0, 0))
        messages.uncover_all(session, 1)
        assert [one.skipped for one in messages.uncovered(session, 1, "layered")] == [False, False, True, False]
        messages.take_up_skipped(session, 1)
        assert not any(one.skipped for one in messages.uncovered(session, 1, "layered"))


@pytest.mark.parametrize("change", ["hidden = 1", "pinned = 1", "revision = 1", "layered_leaf = 1"])
def test_a_change_is_noticed(db: Database, change: str) -> None:
    """What a plan was made on no longer holds when one of its messages was changed, hidden, pinned or covered."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 4)
        add_snippet(session, 1, 0, 0)
        plan = messages.uncovered(session, 1, "layered")
        assert messages.unchanged(session, plan, LAYERED)
        session.connection().exec_driver_sql(f"UPDATE messages SET {change} WHERE position = 2")
        assert not messages.unchanged(session, plan, LAYERED)
        assert messages.unchanged(session, plan[:2], LAYERED)


def test_more_than_one_statement_can_name(db: Database) -> None:
    """Any number of messages is looked up, read and covered."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 2500)
        ids = [f"m{place}" for place in range(2500)]
        found = messages.by_ids(session, 1, [*ids, "unknown"])
        assert sorted(found) == sorted(ids)
        keys = [found[one].key for one in ids]
        assert len(messages.contents(session, keys)) == 2500
        messages.cover(session, keys, LAYERED, add_snippet(session, 1, 0, 0))
        assert messages.uncovered(session, 1, "layered") == []


def test_contents(db: Database) -> None:
    """What a message says is read by its key."""
    with db.write() as session:
        add_chat(session)
        messages.insert_many(session, [message(1, 0, name="Mira", content="Who goes there?")])
        assert messages.contents(session, [1]) == {
            1: messages.Content("user", "Mira", "Who goes there?", None, None),
        }
