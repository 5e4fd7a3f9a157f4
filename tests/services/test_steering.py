"""What a person decides, while jobs run against a real database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.checks import assert_promises
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def test_stop_cuts_the_call(table: Table) -> None:
    """Stop cuts the call at once, commits nothing, and nothing runs until the next append."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    stopped = await table.services.steering.stop("c")
    assert stopped.stopped
    assert stopped.job is not None
    assert stopped.job.state == "cancelled"
    assert table.models.cut == 1
    table.models.let_go()
    await asyncio.sleep(0.3)
    assert table.status().counts.ghosted == 0
    assert len(table.models.requests) == 1
    await table.say(14)
    assert table.status().counts.ghosted == 6


async def test_clear_while_folding(table: Table) -> None:
    """Clearing cuts what runs; an answer planned before it can never be committed."""
    for turn in range(1, 16):
        await table.say(turn)
    table.models.hold()
    await table.say(16, fold="background")
    await table.models.arrived(2)
    cleared = await table.services.steering.clear("c")
    table.models.let_go()
    assert (cleared.cleared_snippets, cleared.unghosted_messages) == (1, 6)
    assert table.status().counts.ghosted == 0
    assert_promises(table.database, "c")


async def test_deleting_a_chat_cuts_its_job(table: Table) -> None:
    """A deleted chat's job ends; nothing of it comes back."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    await table.services.keeping.delete("c")
    assert table.models.cut == 1


async def test_backlog_waits_for_a_choice(table: Table) -> None:
    """An old chat waits: nothing is called until a person chooses."""
    appended = await table.say(*range(1, 41), fold="background")
    assert (appended.job_id, appended.reason) == (None, "choice_needed")
    status = table.status()
    assert status.backlog.choice_needed
    assert (status.backlog.turns, status.backlog.batches) == (30, 10)
    assert table.models.requests == []


async def test_backlog_all(table: Table) -> None:
    """`all` folds until nothing full lies outside the window."""
    await table.say(*range(1, 41))
    started = table.services.steering.backlog("c", "all")
    assert started.job is not None
    assert started.job.progress.total == 10
    status = await table.settled()
    assert (status.counts.ghosted, status.backlog.turns) == (60, 0)
    assert_promises(table.database, "c")


async def test_backlog_one(table: Table) -> None:
    """`one` folds a batch now, then one extra batch per reply, and never asks again."""
    await table.say(*range(1, 41))
    table.services.steering.backlog("c", "one")
    assert (await table.settled()).counts.ghosted == 6
    await table.say(41)
    assert table.status().counts.ghosted == 12
    assert not table.status().backlog.choice_needed


async def test_backlog_skip_then_all(table: Table) -> None:
    """`skip` leaves turns visible and unfolded; a later `all` takes them up, and they enter before what followed."""
    await table.say(*range(1, 41))
    assert table.services.steering.skip("c") == 30
    for turn in (41, 42, 43):
        await table.say(turn)
    status = table.status()
    assert (status.counts.skipped, status.counts.ghosted, status.backlog.turns) == (30, 6, 0)
    assert not status.backlog.choice_needed
    table.services.steering.backlog("c", "all")
    status = await table.settled()
    assert (status.counts.skipped, status.counts.ghosted) == (0, 66)
    preview = table.services.reporting.preview("c").text
    assert preview.index("Line 2 of") < preview.index("Line 1 of")
    assert_promises(table.database, "c")


async def test_summarize_folds_the_rest(table: Table) -> None:
    """summarize folds everything outside the window, a short last batch included, pause or not."""
    await table.say(*range(1, 15), fold="none")
    await table.services.steering.pause("c")
    table.services.steering.summarize("c")
    assert (await table.settled()).counts.ghosted == 8
    assert table.services.steering.summarize("c").reason == "nothing_to_fold"


async def test_pause_and_resume(table: Table) -> None:
    """While paused nothing folds by itself; resume takes up what is due."""
    await table.say(1)
    await table.services.steering.pause("c")
    appended = await table.say(*range(2, 14))
    assert appended.reason == "paused"
    table.services.steering.resume("c")
    assert (await table.settled()).counts.ghosted == 6


async def test_a_second_start_joins_the_running_job(table: Table) -> None:
    """Two starts on one chat are one job."""
    await table.say(*range(1, 41))
    table.models.hold()
    first = table.services.steering.backlog("c", "all")
    second = table.services.steering.summarize("c")
    assert first.job is not None
    assert second.job is not None
    assert first.job.id == second.job.id
    table.models.let_go()
    assert (await table.settled()).counts.ghosted == 60


async def test_merges_never_reach_over_turns_that_wait(table: Table) -> None:
    """While skipped turns lie between two snippets these are not merged, whatever the layers hold."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=2, turns_per_batch=1, verbatim_turns=2)
    for turn in range(1, 5):
        await table.say(turn)
    await table.say(*range(5, 13), fold="none")
    assert table.services.steering.skip("c") == 8
    for turn in range(13, 21):
        await table.say(turn)
        assert_promises(table.database, "c", 2)
    assert table.status().counts.skipped == 8
    table.services.steering.backlog("c", "all")
    assert (await table.settled()).counts.visible == 2 * 2
    assert_promises(table.database, "c", 2)


async def test_resume_wins_over_a_pause_for_all(table: Table) -> None:
    """A chat that is resumed folds although the server's settings pause all chats; pausing it again takes that back."""
    await table.say(1)
    table.services.keeping.patch_settings({"paused": True})
    assert table.status().paused
    table.services.steering.resume("c")
    assert not table.status().paused
    before = table.services.keeping.get("c").etag
    await table.services.steering.pause("c")
    assert table.status().paused
    assert table.services.keeping.get("c").etag != before


async def test_all_leaves_no_short_run_between_covered_turns(table: Table) -> None:
    """What `all` takes up of skipped turns and makes no full batch is folded as it is, in the same job."""
    await table.say(*range(1, 31))
    assert table.services.steering.skip("c") == 20
    for turn in range(31, 37):
        await table.say(turn)
    table.services.steering.backlog("c", "all")
    status = await table.settled()
    assert (status.backlog.turns, status.counts.visible) == (0, 2 * 10)
    assert_promises(table.database, "c")


async def test_skip_without_a_backlog_does_nothing(table: Table) -> None:
    """Two turns over the window are no backlog: they fold with the next."""
    await table.say(*range(1, 13))
    assert table.services.steering.skip("c") == 0
    await table.say(13)
    assert table.status().counts.ghosted == 6
