"""app.services.figures: how prompts have grown, against what status says."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.growth import Point
from app.core.model import Role
from app.errors import NotFound
from app.services.recording import Draft
from tests.support.folded import SMALL
from tests.support.table import Table, laid

SETTINGS: dict[str, dict[str, Any]] = {
    "layered": {"layered": SMALL},
    "rolling": {"rolling": {"keep_recent_turns": 2, "trigger_turns": 3, "trigger_tokens": 0}},
    "summary_buffer": {"summary_buffer": {"max_messages_before_summary": 8, "recent_messages_to_keep": 2}},
    "none": {},
}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def curve(table: Table, points: int = 200, chat: str = "c") -> list[Point]:
    return table.services.figures.curve(chat, points)


def assert_ends_as_it_stands(table: Table, points: int = 200, chat: str = "c") -> None:
    last, status = curve(table, points, chat)[-1], table.services.reporting.status(chat)
    assert (last.raw_tokens, last.memory_tokens) == (status.raw_tokens, status.memory_tokens)
    assert (last.index, last.turns) == (status.counts.messages - 1, status.counts.turns)


@pytest.mark.parametrize("strategy", sorted(SETTINGS))
async def test_a_curve_ends_at_the_status(table: Table, strategy: str) -> None:
    """With marks, edits and deletions, coarse and fine, of forks and in a strategy that was switched to."""
    table.services.keeping.put("c", {"strategy": strategy, "settings": SETTINGS[strategy]})
    await table.services.recording.append("c", [Draft(Role.SYSTEM, "You are Tom.", id="s")], "none", 0)
    for turn in range(1, 15):
        await table.say(turn)
        if strategy == "summary_buffer" and turn % 4 == 0:
            table.services.steering.summarize("c")
            await table.settled()
    changes: dict[str, dict[str, Any]] = {"u13": {"hidden": True}, "a14": {"pinned": True}, "u3": {"content": "Hello."}}
    for name, change in changes.items():
        table.services.editing.edit("c", name, change)
    table.services.editing.delete("c", "u9")
    await table.settled()
    for points in (2, 3, 200):
        assert_ends_as_it_stands(table, points)
        assert len(curve(table, points)) <= points
    table.services.branching.fork("c", "other", None)
    assert_ends_as_it_stands(table, chat="other")
    if strategy == "layered":  # the copies have keys in another order, and the same past
        assert [point.memory_tokens for point in curve(table)] == [
            point.memory_tokens for point in curve(table, chat="other")
        ]
    table.services.keeping.put("c", {"strategy": "none" if strategy != "none" else "layered"})
    assert_ends_as_it_stands(table)


async def test_the_past_is_drawn_as_it_was(table: Table) -> None:
    """After each reply the memory that status told then, fold by fold and layer by layer, read fine and coarse."""
    table.settings(**SMALL)
    told = []
    for turn in range(1, 16):
        await table.say(turn)
        told.append((await table.settled()).memory_tokens)
    found = [point.memory_tokens for point in curve(table, 30)][1::2]
    assert found == told
    fine = {point.index: point for point in curve(table, 3)}
    assert all(point.memory_tokens == told[point.turns - 1] for point in fine.values())


async def test_nothing_to_draw(table: Table) -> None:
    """An empty chat has no point, and one that is not there is not found."""
    table.settings()
    assert curve(table) == []
    with pytest.raises(NotFound):
        curve(table, chat="nobody")


async def test_costs_are_summed_over_all_chats(table: Table) -> None:
    """Of chats with memory and without."""
    nothing = table.services.figures.usage()
    assert (nothing.calls, nothing.chats) == (0, 0)
    table.settings(**SMALL)
    await table.say(1, 2, 3)
    usage = (await table.settled()).summarizer_usage
    table.services.branching.fork("c", "other", None)
    found = table.services.figures.usage()
    other = table.services.reporting.status("other").summarizer_usage
    assert found.calls == usage.calls + other.calls > 0
    assert (found.prompt_tokens, found.chats) == (usage.prompt_tokens + other.prompt_tokens, 2)
