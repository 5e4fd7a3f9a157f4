"""Chats as pictures, beside what their status and their messages say."""

import random
import shutil
from collections.abc import AsyncIterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from app.core.strata import state_of
from app.services.picturing import Grain, Picturing, Strata
from tests.support.folded import SMALL, folded_database
from tests.support.table import Table, laid
from tests.support.wide import held_table

ONE_BY_ONE, COARSE, COARSE_AT_FIRST = Grain(), Grain(0, 0, 5), Grain(20, 0, 4)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folded_database(tmp_path_factory.mktemp("folded"))


@pytest.fixture
async def folded(database: Path, tmp_path: Path) -> AsyncIterator[Table]:
    """A chat that was folded and changed since, and that folds no further."""
    shutil.copy(database, tmp_path / "turnfold.db")
    async with laid(tmp_path) as table:
        await table.services.steering.pause("c")
        yield table


def picture(table: Table, grain: Grain = ONE_BY_ONE) -> Strata:
    """The strata of chat `c`, looked at so finely."""
    return Picturing(table.server.db, table.services.picturing.foreseeing, grain).strata("c")


def messages(table: Table) -> list[Any]:
    """All messages of chat `c`."""
    return table.services.recording.page("c", state="all", after=-1, limit=1000)


def check(table: Table, found: Strata) -> None:
    """A picture says what status, snippets and messages say."""
    status, said = table.status(), messages(table)
    assert (found.messages, found.turns, found.raw_tokens) == (len(said), status.counts.turns, status.raw_tokens)
    assert sum(stretch.tokens for stretch in found.stretches) == sum(message.tokens for message in said)
    assert sum(stretch.messages for stretch in found.stretches) == len(said)
    shown = table.services.browsing.snippets(
        "c", layer=None, state="live", stale=None, degraded=None, offset=0, limit=100
    )
    drawn = [snippet for layer in found.layers for snippet in layer.snippets]
    assert [one.id for one in drawn] == [one.id for one in shown]
    for one, other in zip(drawn, shown, strict=True):
        covers = other.covers
        under = (covers.first_index, covers.last_index, covers.turns, covers.messages) if covers else (None, None, 0, 0)
        assert (one.first_index, one.last_index, one.turns, one.messages) == under
    assert [layer.layer for layer in found.layers] == [layer.layer for layer in reversed(status.layers)]
    assert [layer.limit for layer in found.layers] == [layer.limit for layer in status.layers]


def states(table: Table) -> list[tuple[str, int]]:
    """The states of the messages one after the other, neighbours together."""
    kinds = [
        state_of(ghosted=message.ghosted, hidden=message.hidden, omitted=message.history == "omit")
        for message in messages(table)
    ]
    return [(state, len(list(alike))) for state, alike in groupby(kinds)]


async def test_a_folded_chat(folded: Table) -> None:
    """Layers, stretches, pinned messages and the window of a chat that was folded and changed since."""
    found = picture(folded)
    check(folded, found)
    assert [(stretch.state, stretch.messages) for stretch in found.stretches] == states(folded)
    assert [place.message_id for place in found.pinned] == ["a5"]
    assert found.window.turns == SMALL["verbatim_turns"]
    assert found.window.first_index == found.messages - 4
    assert found.folding == []


@pytest.mark.parametrize("grain", [ONE_BY_ONE, COARSE, COARSE_AT_FIRST], ids=["fine", "coarse", "between"])
async def test_marks_anywhere(folded: Table, grain: Grain) -> None:
    """However finely it is looked at and whatever is marked, a picture comes to the same sums, and never lies."""
    chance = random.Random(5)
    for change in ({"hidden": True}, {"pinned": True}, {"omitted": True}, {"hidden": False}):
        for message in chance.sample(messages(folded), 5):
            folded.services.editing.edit("c", message.id, change)
        found = picture(folded, grain)
        check(folded, found)
        _check_states(folded, found)
        if grain is ONE_BY_ONE:
            assert [(stretch.state, stretch.messages) for stretch in found.stretches] == states(folded)


def _check_states(table: Table, found: Strata) -> None:
    each = [state for state, size in states(table) for _ in range(size)]
    for stretch in found.stretches:
        inside = set(each[stretch.first_index : stretch.last_index + 1])
        assert stretch.state == "mixed" or inside == {stretch.state}


async def test_an_empty_chat(table: Table) -> None:
    """It has no layers, no stretches, and no window."""
    table.settings(**SMALL)
    found = picture(table)
    assert (found.messages, found.layers, found.stretches, found.pinned) == (0, [], [], [])
    assert (found.window.first_index, found.window.turns) == (None, 0)


async def test_skipped_turns(table: Table) -> None:
    """Turns that were chosen to stay visible are a stretch of their own."""
    table.settings(**SMALL)
    await table.say(*range(1, 20), fold="none")
    assert table.services.steering.skip("c") == 17
    found = picture(table)
    check(table, found)
    assert [(one.state, one.skipped, one.turns) for one in found.stretches] == [
        ("visible", True, 17),
        ("visible", False, 2),
    ]


async def test_the_fold_in_work(table: Table) -> None:
    """While a call runs the passage it was asked about is shown, and none once it is stopped."""
    table.settings(**{**SMALL, "turns_per_batch": 3})
    table.models.hold()
    await table.say(*range(1, 6), fold="background")
    await table.models.arrived(1)
    assert [(one.first_index, one.last_index) for one in picture(table).folding] == [(0, 5)]
    await table.services.steering.stop("c")
    table.models.let_go()
    assert picture(table).folding == []


async def test_folds_side_by_side(tmp_path: Path) -> None:
    """All passages that calls are asked about are shown; the next comes once the oldest of them is stored."""
    async with held_table(tmp_path) as table:
        table.settings(**{**SMALL, "turns_per_batch": 3, "backlog_concurrency": 3})
        await table.say(*range(1, 30), fold="none")
        table.services.steering.backlog("c", "all")
        await table.models.arrived(3)
        assert [(one.first_index, one.last_index) for one in picture(table).folding] == [(0, 5), (6, 11), (12, 17)]
        await table.models.answer(1)
        await table.models.arrived(4)
        assert [(one.first_index, one.last_index) for one in picture(table).folding] == [(6, 11), (12, 17), (18, 23)]
        await table.services.steering.stop("c")


async def test_the_fold_in_work_of_one_summary(table: Table) -> None:
    """So it is where one summary is written anew."""
    table.services.keeping.put(
        "c", {"strategy": "rolling", "settings": {"rolling": {"trigger_turns": 2, "keep_recent_turns": 1}}}
    )
    table.models.hold()
    await table.say(1, 2, 3, fold="background")
    await table.models.arrived(1)
    found = picture(table)
    assert [(one.first_index, one.last_index) for one in found.folding] == [(0, 3)]
    assert (found.window.first_index, found.window.turns) == (4, 1)
    table.models.let_go()
    await table.settled()
    after = picture(table)
    check(table, after)
    assert [(one.state, one.turns) for one in after.stretches] == [("ghosted", 2), ("visible", 1)]
    table.services.keeping.put("c", {"strategy": "none"})
    check(table, picture(table))
    assert [one.state for one in picture(table).stretches] == ["visible"]
