"""Jobs against a real database, with scripted models."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.model import Usage
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable
from app.services.figures import Costs
from tests.support.checks import assert_promises
from tests.support.table import Table, laid, turn_drafts


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def test_folds_at_turn_13_and_leaves_10(table: Table) -> None:
    """With the defaults a fold starts at the 13th turn and leaves ten, then at 16 and 19."""
    ghosted = []
    for turn in range(1, 20):
        await table.say(turn)
        ghosted.append(table.status().counts.ghosted // 2)
    assert ghosted == [0] * 12 + [3] * 3 + [6] * 3 + [9]
    assert_promises(table.database, "c")


async def test_prior_context_and_passage(table: Table) -> None:
    """A fold is asked with the memory before it and with its own turns, and with nothing else."""
    for turn in range(1, 17):
        await table.say(turn)
    second = table.models.requests[1]
    assert second.prior == ("Line 1 of the story.",)
    assert [line.text for line in second.passage] == [
        draft.content for turn in (4, 5, 6) for draft in turn_drafts(turn)
    ]
    assert "gate 7" not in second.user
    assert "gate 3" not in second.user


async def test_promotes_and_keeps_lineage(table: Table) -> None:
    """Absorbed snippets stay readable, one step below the one that merged them."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3, deepest_layer="keep")
    for turn in range(1, 26):
        await table.say(turn)
    assert table.layers() == [2, 2]
    deep = table.services.browsing.snippets("c", layer=1, state="live", stale=None, degraded=None, offset=0, limit=10)
    assert [snippet.kind for snippet in deep] == ["seed", "merge"]
    assert len(deep[1].children) == 2
    assert deep[1].covers is not None
    assert (deep[1].covers.first_index, deep[1].covers.turns) == (6, 6)
    under = table.services.browsing.messages_under("c", deep[1].id, after=-1, limit=100)
    assert [message.index for message in under] == list(range(6, 18))
    assert_promises(table.database, "c")


async def test_memory_version_counts_commits(table: Table) -> None:
    """memory_version rises with a fold and a merge, and not with a seed move."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3)
    for turn in range(1, 23):
        await table.say(turn)
    assert (table.layers(), table.status().memory_version) == ([3, 1], 4)
    for turn in range(23, 26):
        await table.say(turn)
    assert (table.layers(), table.status().memory_version) == ([2, 2], 6)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET content = 'rewritten', revision = revision + 1 WHERE id = 'a2'",
        "UPDATE messages SET pinned = 1 WHERE id = 'a2'",
        "UPDATE messages SET hidden = 1 WHERE id = 'u3'",
    ],
)
async def test_a_changed_passage_drops_the_answer(table: Table, change: str) -> None:
    """A fold whose messages changed while the model was thinking is dropped and planned anew."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    table.sql(change)
    table.models.let_go()
    status = await table.settled()
    assert len(table.models.requests) >= 2 or status.counts.ghosted == 0
    assert "Line 1 of the story." not in table.services.reporting.preview("c").text
    assert status.summarizer_usage.calls == len(table.models.requests)
    assert_promises(table.database, "c")


async def test_new_messages_disturb_nothing(table: Table) -> None:
    """Messages appended while the model is thinking do not spoil its answer."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    await table.say(14, fold="background")
    table.models.let_go()
    status = await table.settled()
    assert status.counts.ghosted == 6
    assert table.services.reporting.preview("c").text.count("Line 1 of the story.") == 1


async def test_a_failed_call_leaves_all_visible_and_says_when_it_goes_on(table: Table) -> None:
    """An unreachable model leaves every message visible; status says what is wrong and when it tries again."""
    table.models.script(ModelUnavailable("The server is down.", connection="default", calls=6))
    appended = await table.say(*range(1, 14))
    assert appended.reason == "The server is down."
    status = table.status()
    assert status.counts.visible == 26
    assert status.last_error is not None
    assert status.last_error.retry_at is not None
    assert status.summarizer_usage.calls == 6
    assert (await table.folded()).last_error is None


async def test_refused_answers_cost_what_good_ones_do(table: Table) -> None:
    """Their tokens are in the usage of the append, of the chat and of all chats, with those of the fallback."""
    table.services.keeping.put("c", {"settings": {"fallback_connection": "extractive"}})
    refused = ModelUnusable("It rambled.", connection="default", calls=6, prompt_tokens=600, completion_tokens=60)
    table.models.script(refused, ModelUnusable("It is blank.", connection="extractive", calls=1, prompt_tokens=100))
    appended = await table.say(*range(1, 14))
    assert appended.usage == table.status().summarizer_usage == Usage(7, 700, 60)
    assert table.services.figures.usage() == Costs(7, 700, 60, 1)


async def test_a_refused_key_waits_for_a_person(table: Table) -> None:
    """A wrong key is not tried again by itself; the next append tries again."""
    table.models.script(ModelRejected("Check the API key.", connection="default", status=401, calls=1))
    await table.say(*range(1, 14))
    error = table.status().last_error
    assert error is not None
    assert (error.status, error.retry_at) == (401, None)
    await asyncio.sleep(0.5)
    assert len(table.models.requests) == 1
    await table.say(14)
    assert table.status().counts.ghosted == 6


async def test_the_fallback_takes_over(table: Table) -> None:
    """Where the connection fails its fallback makes the summary, which says so and counts the vain calls."""
    table.services.keeping.put("c", {"settings": {"fallback_connection": "extractive"}})
    table.models.script(ModelUnavailable("The server is down.", connection="default", calls=6))
    await table.say(*range(1, 14))
    status = table.status()
    assert (status.counts.ghosted, status.degraded_snippets, status.last_error) == (6, 1, None)
    assert status.summarizer_usage.calls == 7
    assert table.models.requests[1].connection.name == "extractive"


async def test_a_wider_window_takes_memory_back(table: Table) -> None:
    """Where a setting leaves fewer than half of the window visible, the newest snippets give way; no model is asked."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3)
    for turn in range(1, 26):
        await table.say(turn)
    calls, version = len(table.models.requests), table.status().memory_version
    table.settings(verbatim_turns=20)
    assert (table.status().counts.visible, table.layers()) == (2 * 10, [2, 2])
    table.settings(verbatim_turns=22)
    status = table.status()
    assert (status.counts.visible, table.layers()) == (2 * 22, [0, 1])
    assert (len(table.models.requests), status.memory_version) == (calls, version + 1)
    assert_promises(table.database, "c", 22)


async def test_merged_snippets_give_way_to_their_parts(table: Table) -> None:
    """Of a merged snippet at the window's border those parts stay that lie outside it, in the layer they came from."""
    small = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "max_layers": 3}
    table.settings(**small, turns_per_batch=1, verbatim_turns=5)
    for turn in range(1, 15):
        await table.say(turn)
    assert table.layers() == [2, 3, 1]
    table.settings(verbatim_turns=12)
    assert (table.layers(), table.status().counts.visible) == ([1, 0, 1], 2 * 12)
    assert_promises(table.database, "c", 12)


async def test_a_fold_never_enters_a_window_widened_meanwhile(table: Table) -> None:
    """An answer is dropped if a setting has meanwhile put its turns among the newest."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    table.settings(verbatim_turns=13)
    table.models.let_go()
    status = await table.settled()
    assert (status.counts.ghosted, status.memory_version) == (0, 0)


@pytest.mark.parametrize(
    "refusal",
    [
        ModelRejected("Too much for it.", connection="default", status=413, calls=1),
        ModelUnusable("Never a usable answer.", connection="default", calls=6),
    ],
)
async def test_a_batch_refused_three_times_stops_no_chat(table: Table, refusal: ModelError) -> None:
    """A batch that the model refuses for its own sake is extracted the third time, and the rest goes on."""
    table.settings(turns_per_batch=3)
    table.models.script(refusal, refusal, refusal)
    await table.say(*range(1, 17))
    for _ in range(2):
        table.services.steering.summarize("c")
        await table.settled()
    status = table.status()
    assert (status.counts.ghosted, status.degraded_snippets, status.last_error) == (12, 1, None)
    assert [request.connection.name for request in table.models.requests][2:4] == ["default", "extractive"]


async def test_a_refused_key_is_not_the_batch(table: Table) -> None:
    """A wrong key refuses every batch: however often, nothing is extracted for it."""
    table.models.script(*[ModelRejected("Check the key.", connection="default", status=401, calls=1)] * 5)
    await table.say(*range(1, 14))
    for _ in range(4):
        table.services.steering.summarize("c")
        await table.settled()
    assert table.status().counts.ghosted == 0


async def test_never_asks_after_an_outage(table: Table) -> None:
    """What piles up behind a dead model folds by itself when it is back; nobody is asked."""
    down = ModelRejected("No such model.", connection="default", status=404, calls=1)
    table.models.script(*[down] * 30)
    for turn in range(1, 31):
        await table.say(turn)
    assert not table.status().backlog.choice_needed
    table.models._script.clear()
    await table.say(31)
    assert table.status().counts.ghosted == 42


async def test_a_restart_goes_on(tmp_path: Path) -> None:
    """What a stopped server left is interrupted, and the next one takes it up by itself."""
    async with laid(tmp_path) as table:
        table.models.hold()
        appended = await table.say(*range(1, 14), fold="background")
        await table.models.arrived(1)
    async with laid(tmp_path) as table:
        await table.folded()
        assert table.services.working.get(appended.job_id).state == "interrupted"


async def test_answers_that_never_hold(table: Table) -> None:
    """Where every commit is refused, as on damaged data, a job ends and says so instead of asking for ever."""
    await table.say(*range(1, 13), fold="none")
    table.sql("UPDATE messages SET closes = 0")
    await table.say(13, fold="background")
    status = await table.settled()
    assert status.last_error is not None
    assert "repair" in status.last_error.detail
    assert len(table.models.requests) == 20
