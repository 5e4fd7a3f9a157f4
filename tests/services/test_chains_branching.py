"""Forks of chats with rolling memory or a summary buffer: the newest summary that lies inside comes along."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.chained import Chained
from tests.support.chains import assert_chains
from tests.support.table import Table, counts_of, laid, turn_drafts

KEPT = 1
"""Turns of the hot window, or the messages a buffer keeps (tests.support.chained)."""


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


@pytest.fixture
async def chat(table: Table) -> Chained:
    """Five turns, of which a summary tells of two, the next of three, the live one of four; a summary buffer sleeps."""
    chat = Chained(table, "summary_buffer")
    await table.say(1, 2, 3)
    table.services.steering.summarize("c")
    await table.settled()
    chat.switch("rolling")
    table.services.steering.summarize("c")
    await table.settled()
    for turn in (4, 5):
        await table.say(turn)
    return chat


def told(chat: Chained, name: str, strategy: str) -> list[tuple[str, int, int]]:
    """Texts, ranges and lengths of the summaries of a chat, the live one first."""
    found = chat.table.services.browsing.snippets(
        name, layer=None, state="all", stale=None, degraded=None, offset=0, limit=100
    )
    mine = [one for one in found if one.strategy == strategy and one.covers]
    mine.sort(key=lambda one: -one.covers.last_index if one.covers else 0)
    return [(one.text, one.covers.last_index, one.covers.messages) for one in mine if one.covers]


@pytest.mark.parametrize("strategy", ["rolling", "summary_buffer"])
async def test_forks_at_every_message(chat: Chained, strategy: str) -> None:
    """A branch has just the summaries that tell neither of what lies beyond it nor of what it keeps word for word;
    asleep or awake, and no model is asked.
    """
    whole = told(chat, "c", strategy)
    assert whole
    calls = len(chat.table.models.requests)
    for place, message in enumerate(chat.table.services.recording.page("c", state="all", after=-1, limit=100)):
        name = f"fork {place}"
        shown = chat.table.services.branching.fork("c", name, message.id)
        closed = (place + 1) // 2
        last = 2 * (closed - KEPT) - 1
        expected = [one for one in whole if one[1] <= last]
        assert told(chat, name, strategy) == expected
        assert_chains(chat.table.database, name)
        assert chat.table.services.repairing.repair(name) == []
        if strategy == "rolling":
            assert shown.memory_version == (1 if expected else 0)
            assert counts_of(shown).ghosted == (expected[0][1] + 1 if expected else 0)
    assert len(chat.table.models.requests) == calls


async def test_a_branch_goes_on_from_its_summary(chat: Chained) -> None:
    """What is said in it folds beside what came along, and the parent notices nothing."""
    before = told(chat, "c", "rolling")
    services = chat.table.services
    services.branching.fork("c", "branch", "a4")
    inherited = told(chat, "branch", "rolling")[0][0]
    for turn in (9, 10):
        await services.recording.append("branch", turn_drafts(turn), "wait", 20)
    newest = told(chat, "branch", "rolling")[0]
    assert newest[1:] == (9, 10)
    assert inherited in chat.table.models.requests[-2].user
    assert told(chat, "c", "rolling") == before
    services.editing.edit("c", "u1", {"content": "Otherwise."})
    assert told(chat, "c", "rolling") == []
    assert told(chat, "branch", "rolling")[0] == newest


async def test_a_deep_chain(table: Table) -> None:
    """Twenty summaries come along, each with the one it went on from."""
    chat = Chained(table)
    table.services.keeping.put("c", {"settings": {"rolling": {"keep_recent_turns": 0}}})
    for turn in range(24):
        await table.say(turn)
    table.services.branching.fork("c", "branch", "a19")
    assert len(told(chat, "branch", "rolling")) == 20
    assert_chains(table.database, "branch")
