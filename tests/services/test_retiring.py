"""Memory that gives way to a larger window, on a real database."""

import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from app.services.browsing import SnippetView
from tests.support.checks import assert_promises
from tests.support.table import Table, laid

SMALL = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "turns_per_batch": 1}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def skip_first(table: Table, turns: int) -> int:
    """A chat that left its first turns to be folded late; how many turns it has."""
    await table.say(*range(1, turns + 3), fold="none")
    table.services.steering.skip("c")
    return turns + 2


async def play(table: Table, first: int, last: int) -> None:
    """Say turns one by one."""
    for turn in range(first, last + 1):
        await table.say(turn)


async def take_up(table: Table) -> None:
    """Fold what was skipped, before what followed it."""
    table.services.steering.backlog("c", "all")
    await table.settled()


def shown(table: Table, state: str) -> list[SnippetView]:
    """The chat's snippets in a state."""
    return table.services.browsing.snippets(
        "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
    )


def first_indices(table: Table, snippet_ids: Sequence[str]) -> list[int]:
    """Where what these snippets cover begins."""
    covers = [table.services.browsing.snippet("c", snippet_id).covers for snippet_id in snippet_ids]
    return [under.first_index for under in covers if under]


def visible_turns(table: Table) -> int:
    return table.status().counts.visible // 2


@pytest.mark.parametrize("max_layers", [1, 2, 3])
async def test_parts_come_back_after_late_folds(table: Table, max_layers: int) -> None:
    """A merged snippet gives way to its parts although live snippets were moved meanwhile to where these stood."""
    table.settings(**SMALL, verbatim_turns=2, max_layers=max_layers)
    said = await skip_first(table, 2)
    await play(table, said + 1, said + 8)
    await take_up(table)
    for window in (6, 14, 30):
        table.settings(verbatim_turns=window)
        assert_promises(table.database, "c", min(window, said + 8))
    assert visible_turns(table) == said + 8


async def test_parts_from_several_layers(table: Table) -> None:
    """A merge across layers, as a lowered max_layers makes it, comes back deepest layer first."""
    table.settings(**SMALL, verbatim_turns=2, max_layers=4)
    await play(table, 1, 24)
    assert len(table.layers()) == 4
    table.settings(max_layers=1)
    await play(table, 25, 26)
    assert_promises(table.database, "c", 2)
    starts = [first_indices(table, snippet.children) for snippet in shown(table, "live") + shown(table, "absorbed")]
    assert any(len(of_parts) > 1 for of_parts in starts)
    assert all(of_parts == sorted(of_parts) for of_parts in starts)
    for window in range(4, 27, 3):
        table.settings(verbatim_turns=window)
        assert_promises(table.database, "c", -(-window // 2))


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_came_before(table: Table, seed: int) -> None:
    """Skipping, late folds, other numbers of layers and wider windows in any order break no promise."""
    dice = random.Random(seed)
    table.settings(**SMALL, verbatim_turns=1, max_layers=1)
    said = 0
    for _ in range(12):
        said = await something(table, dice, said)
        window = dice.choice([1, 1, 2, 4, 7, 11])
        table.settings(verbatim_turns=window)
        assert_promises(table.database, "c", -(-window // 2))
    table.settings(verbatim_turns=500)
    assert table.status().counts.ghosted == 0
    assert_promises(table.database, "c", 500)


async def something(table: Table, dice: random.Random, said: int) -> int:
    """One thing that may happen to a chat of so many turns; how many it has then."""
    more = dice.randint(1, 5)
    match dice.choice(["talk", "talk", "skip", "skip", "take up", "layers"]):
        case "talk":
            await play(table, said + 1, said + more)
            return said + more
        case "skip":
            await table.say(*range(said + 1, said + more + 1), fold="none")
            table.services.steering.skip("c")
            return said + more
        case "take up" if said:
            await take_up(table)
        case _:
            table.settings(max_layers=dice.choice([1, 1, 2, 3]))
    return said
