"""Where messages stand and what is under them, read from the database."""

from typing import Any

import pytest
from sqlmodel import Session

from app.core.ground import Held, Spot
from app.core.model import Role
from app.core.model import Snippet as CoreSnippet
from app.store import messages, places, snippets
from app.store.engine import Database
from tests.support.rows import LAYERED, add_chat, add_messages, add_snippet, keys_at, message


def cover(session: Session, key: int, *at: int) -> None:
    messages.cover(session, keys_at(session, 1, at), LAYERED, key)


def add_odd(session: Session, **columns: Any) -> None:
    """A message at place 4 with these columns."""
    messages.insert_many(session, [message(1, 4, **columns)])


@pytest.mark.parametrize(
    ("columns", "spot"),
    [
        ({}, Spot(Role.USER, False, False, True, False)),
        ({"role": "tool"}, Spot(Role.TOOL, False, False, True, False)),
        ({"role": "assistant", "closes": True}, Spot(Role.ASSISTANT, False, True, True, False)),
        ({"blank": True}, Spot(Role.USER, True, False, True, False)),
        ({"pinned": True, "closes": True}, Spot(Role.USER, False, True, False, False)),
        ({"hidden": True, "closes": True}, Spot(Role.USER, False, False, False, False)),
        ({"omitted": True, "closes": True}, Spot(Role.USER, False, False, False, False)),
    ],
)
def test_what_covering_looks_at(db: Database, columns: dict[str, Any], spot: Spot) -> None:
    """A message that is not sent ends no turn; a pinned one does and is not plain all the same."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 4)
        add_odd(session, **columns)
        found = list(places.spots(session, 1, "layered"))
    assert found[4] == spot
    assert all(found[index].closes == (index % 2 == 1) for index in range(4))


def test_who_is_covered_depends_on_the_strategy(db: Database) -> None:
    """A strategy without memory covers nothing; another chat's messages are not looked at."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, add_chat(session, "other").key, 2)
        add_messages(session, 1, 4)
        cover(session, add_snippet(session, 1, 0, 0), 1, 2)
        covered = [[spot.covered for spot in places.spots(session, 1, name)] for name in ("layered", "rolling", "none")]
    assert covered == [[False, True, True, False], [False] * 4, [False] * 4]


def test_what_live_snippets_hold(db: Database) -> None:
    """Each with all that lies under it through its parts, in reading order; what is not live holds nothing."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 12)
        first, second, third = (add_snippet(session, 1, 0, place) for place in range(3))
        cover(session, first, 0, 1)
        cover(session, second, 3, 4)
        cover(session, third, 8)
        add_snippet(session, 1, 0, 9, state="deleted")
        merged = add_snippet(session, 1, 1, 0, kind="merge")
        snippets.absorb(session, [CoreSnippet(first, 0, 4), CoreSnippet(second, 0, 4)], merged)
        assert places.held(session, 1, "layered") == [Held(0, 4, 1), Held(8, 8, 0)]
        assert places.held(session, 1, "none") == []


def test_what_may_be_covered_between_two_places(db: Database) -> None:
    """Keys and tokens, tool calls counted, of what is uncovered and unmarked; other strategies' leaves do not count."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 4)
        add_odd(session, call_tokens=7)
        messages.insert_many(session, [message(1, 5, pinned=True)])
        add_messages(session, 1, 2, start=6)
        cover(session, add_snippet(session, 1, 0, 0), 3)
        found = places.plain_between(session, 1, "layered", 2, 6)
        assert found == list(zip(keys_at(session, 1, [2, 4, 6]), [5, 12, 5], strict=True))
        assert len(places.plain_between(session, 1, "rolling", 2, 6)) == 4
        assert places.plain_between(session, 1, "none", 2, 6) == []


def test_messages_are_found_by_ids_and_extras(db: Database) -> None:
    """Unknown ids are left out, and messages without extras are not read."""
    with db.write() as session:
        add_chat(session)
        add_messages(session, 1, 4)
        add_odd(session, extra={"sc_id": "x"})
        assert places.of_ids(session, 1, ["m3", "m0", "gone"]) == {"m0": 0, "m3": 3}
        assert list(places.with_extra(session, 1)) == [(4, {"sc_id": "x"})]
