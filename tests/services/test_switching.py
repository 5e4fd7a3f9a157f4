"""A chat that uses another kind of memory: what it means for the prompt, and that each kind keeps its own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.services.projection_query import ProjectionQuery
from tests.support.chained import Chained
from tests.support.checks import assert_promises
from tests.support.memories import adopt, store, told
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def grown(table: Table) -> Chained:
    """Six turns: layered memory tells of four, rolling memory of five."""
    chat = Chained(table, "layered")
    await table.say(1, 2, 3, 4, 5, 6)
    chat.switch("rolling")
    table.services.steering.summarize("c")
    await table.settled()
    return chat


def tokens(table: Table, *ids: str) -> int:
    return sum(table.services.recording.get("c", message_id).tokens for message_id in ids)


async def test_what_a_switch_means(table: Table) -> None:
    """It says which messages are sent again and which are told by a summary from now on, and what that takes."""
    chat = await grown(table)
    assert chat.ghosted() == 10
    there = chat.switch("layered")
    assert (there.before, there.after) == ("rolling", "layered")
    assert (there.visible_messages, there.visible_tokens) == (2, tokens(table, "u5", "a5"))
    assert (there.ghosted_messages, there.ghosted_tokens) == (0, 0)
    assert there.memory_tokens == sum(one.tokens for one in chat.listed())
    back = chat.switch("rolling")
    assert (back.visible_messages, back.visible_tokens) == (0, 0)
    assert (back.ghosted_messages, back.ghosted_tokens) == (2, there.visible_tokens)
    assert back.memory_tokens == chat.live.tokens
    off = chat.switch("none")
    assert (off.visible_messages, off.ghosted_messages, off.memory_tokens) == (10, 0, 0)


async def test_the_version_rises_by_one(table: Table) -> None:
    """With each switch, whatever it brings; a request that only names the present strategy switches nothing."""
    chat = await grown(table)
    for strategy in ("layered", "summary_buffer", "none", "rolling"):
        version = table.status().memory_version
        assert chat.switch(strategy) is not None
        assert chat.switch(strategy) is None
        assert table.status().memory_version == version + 1


async def test_memory_sleeps_and_wakes(table: Table) -> None:
    """What a chat does not use now is shown as dormant, whatever happens meanwhile, and is used again as it was."""
    chat = await grown(table)
    live, prompt = chat.live, table.services.projecting.project("c", ProjectionQuery()).messages
    chat.switch("none")
    [asleep] = [one for one in chat.listed("dormant") if one.strategy == "rolling"]
    assert (asleep.id, asleep.state) == (live.id, "dormant")
    assert chat.listed() == []
    chat.switch("rolling")
    assert chat.live == live
    assert table.services.projecting.project("c", ProjectionQuery()).messages == prompt


async def test_a_chat_goes_on_while_a_memory_sleeps(table: Table) -> None:
    """An edit makes the sleeping summary give way, without a new version, since another memory is sent."""
    chat = Chained(table)
    for turn in range(1, 5):
        await table.say(turn)
    chat.switch("none")
    version = table.status().memory_version
    chat.change("u2", content="Changed.")
    assert table.status().memory_version == version
    chat.switch("rolling")
    assert chat.ghosted() == 2
    chat.check()
    await table.say(5)
    assert chat.ghosted() == 8
    chat.check()


async def test_memory_of_layers_comes_into_a_chat_that_has_none(table: Table) -> None:
    """It sleeps, and the memory that is sent is the same; a switch wakes it."""
    chat = Chained(table)
    await table.say(*range(1, 6))
    version = table.status().memory_version
    adopt(table, store([told("They meet.", 0, 1)], through=1))
    assert table.status().memory_version == version
    assert [(one.text, one.strategy) for one in chat.listed("dormant")] == [("They meet.", "layered")]
    chat.check()
    chat.switch("layered")
    assert chat.live.text == "They meet."


async def test_layered_memory_that_slept_gives_turns_back(table: Table) -> None:
    """Messages were deleted meanwhile, so that too few are left: one step, and the answer counts what is sent then."""
    chat = await grown(table)
    for message_id in ("u5", "a5", "u6", "a6"):
        table.services.editing.delete("c", message_id)
    version, ghosted = table.status().memory_version, chat.ghosted()
    there = chat.switch("layered")
    assert table.status().memory_version == version + 1
    assert there.visible_messages - there.ghosted_messages == ghosted - chat.ghosted()
    assert_promises(table.database, "c", 2)


@pytest.mark.parametrize(("before", "after"), [("layered", "rolling"), ("rolling", "layered"), ("rolling", "none")])
async def test_a_running_job_commits_nothing(table: Table, before: str, after: str) -> None:
    """What was asked for the former memory is dropped, and the job ends; a new one works for the new memory."""
    chat = Chained(table, before)
    table.models.hold()
    await table.say(1, 2, 3, 4, fold="background")
    await table.models.arrived(1)
    chat.switch(after)
    assert table.status().job is None
    table.models.let_go()
    calls = len(table.models.requests)
    await table.say(5)
    await table.settled()
    assert {one.strategy for one in chat.listed("all")} <= {after}
    assert (len(table.models.requests) > calls) is (after != "none")
