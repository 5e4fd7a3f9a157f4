"""Memory that comes later, into a chat that is here, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.memories import (
    WHOLE,
    adopt,
    assert_well,
    chat,
    codes,
    file,
    line,
    load,
    of_state,
    spans,
    store,
    told,
)
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def test_a_memory_is_taken_into_a_chat(table: Table) -> None:
    """Its places are the chat's; version and epoch rise, and what was planned before is dropped."""
    load(table, file(None, chat(60)))
    before = epoch(table)
    imported = adopt(table, WHOLE)
    assert (imported.messages, imported.snippets, codes(imported)) == (0, 4, ["range_inferred"])
    assert table.status().memory_version == 1
    assert epoch(table) > before
    assert_well(table)


def epoch(table: Table) -> int:
    with table.server.db.read() as session:
        return int(session.connection().exec_driver_sql("SELECT epoch FROM chats WHERE id = 'c'").scalar_one())


async def test_memory_that_is_here_stays(table: Table) -> None:
    """Only what is uncovered is taken, in a layer that fits between what the chat has."""
    load(table, file(store([told("mine", 20, 29)], through=29), chat(60)))
    theirs = store([told("late", 24, 35)], [told("early", 0, 9), told("early too", 10, 25)], through=35)
    imported = adopt(table, theirs)
    assert spans(table) == [
        ("early", 1, 0, 9), ("early too", 1, 10, 19), ("mine", 0, 20, 29), ("late", 0, 30, 35),
    ]  # fmt: skip
    assert codes(imported) == ["range_overlaps", "range_overlaps"]
    assert table.status().memory_version == 2
    assert_well(table)


async def test_between_layers_of_the_chat(table: Table) -> None:
    """A snippet before one of a deep layer goes as deep, one after it no deeper than that."""
    load(table, file(store([told("low", 30, 33)], [], [told("deep", 10, 19)], through=33), chat(70)))
    imported = adopt(table, store([told("a", 0, 3), told("b", 4, 9), told("d", 34, 39)], [], [], [told("c", 20, 25)]))
    assert [(text, layer) for text, layer, _, _ in spans(table)] == [
        ("a", 2), ("b", 2), ("deep", 2), ("c", 2), ("low", 0), ("d", 0),
    ]  # fmt: skip
    assert sorted(codes(imported)) == ["layer_changed"] * 3 + ["pointer_recomputed"]
    assert_well(table)


async def test_a_memory_over_the_newest_turns_takes_nothing_away(table: Table) -> None:
    """Where the chat's own memory leaves just enough verbatim, one that would leave too little is not taken."""
    load(table, file(store([told("mine", 0, 19)], through=19), chat(36)))
    imported = adopt(table, store([told("a", 20, 27)], through=27))
    assert (imported.snippets, codes(imported)) == (0, ["snippet_not_taken"])
    assert (spans(table), table.status().memory_version) == ([("mine", 0, 0, 19)], 1)


async def test_the_same_memory_again_changes_nothing(table: Table) -> None:
    """All of it is there; the version stays."""
    load(table, file(WHOLE, chat(50, ghosts=26)))
    before = spans(table)
    imported = adopt(table, WHOLE)
    assert (imported.snippets, set(codes(imported))) == (0, {"snippet_not_taken"})
    assert (spans(table), table.status().memory_version) == (before, 1)


async def test_ids_of_stored_messages(table: Table) -> None:
    """A memory finds messages by the ids they have here, and by those that a fork gave them."""
    lines = [line(index, extra={"sc_id": f"m{index}"}) for index in range(40)]
    load(table, file(None, lines))
    ids = [message.id for message in of_state(table, "all")]
    mine, forks = {"text": "mine", "sourceMessageIds": ids[:4]}, {"text": "fork's", "sourceMessageIds": ["m4", "m7"]}
    gone = {"text": "gone", "sourceMessageIds": ["m99"]}
    imported = adopt(table, {"layers": [[mine, forks, gone]], "ghostedMessageIds": ["m5"]})
    assert spans(table) == [("mine", 0, 0, 3), ("fork's", 0, 4, 7)]
    assert codes(imported) == ["snippet_not_taken"]


async def test_a_chat_that_uses_no_memory_keeps_it(table: Table) -> None:
    """Imported memory is layered memory: it sleeps until the chat uses that."""
    load(table, file(None, chat(40)))
    table.services.keeping.patch("c", {"strategy": "none"})
    assert adopt(table, store([told("a", 0, 3)], through=3)).snippets == 1
    assert table.status().counts.ghosted == 0
    table.services.keeping.patch("c", {"strategy": "layered"})
    assert table.status().counts.ghosted == 4
    assert_well(table)


async def test_marked_messages_stay_out(table: Table) -> None:
    """What a person pinned or hid since is not covered."""
    load(table, file(None, chat(40)))
    table.sql("UPDATE messages SET pinned = 1 WHERE position = 2")
    table.sql("UPDATE messages SET hidden = 1 WHERE position IN (4, 5)")
    adopt(table, store([told("a", 0, 3), told("b", 4, 5), told("c", 6, 7)], through=7))
    assert spans(table) == [("a", 0, 0, 3), ("c", 0, 6, 7)]
    assert [m.index for m in of_state(table, "ghosted")] == [0, 1, 3, 6, 7]
    assert_well(table)
