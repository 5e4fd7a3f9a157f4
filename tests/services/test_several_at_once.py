"""Jobs with several calls at once (layered.md, Backlog: backlog_concurrency)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.errors import ModelRejected, ModelUnavailable
from app.services.browsing import SnippetView
from tests.support.checks import assert_promises
from tests.support.scripted import HeldModels
from tests.support.table import Table, laid
from tests.support.waiting import until
from tests.support.wide import WIDE, Held, held_table


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Held]:
    async with held_table(tmp_path) as held:
        yield held


async def _backlog(table: Held, turns: int = 40, **layered: Any) -> None:
    table.settings(**{"backlog_concurrency": 4, "memory_tokens": 0, **layered})
    await table.say(*range(1, turns + 1), fold="none")
    table.services.steering.backlog("c", "all")


def _live(table: Table) -> list[SnippetView]:
    return table.services.browsing.snippets(
        "c", layer=None, state="live", stale=None, degraded=None, offset=0, limit=100
    )


async def _committed(table: Table, snippets: int) -> None:
    await until(lambda: len(_live(table)), lambda found: found >= snippets)


async def test_four_calls_and_no_fifth(table: Held) -> None:
    """As many batches as backlog_concurrency are asked for; the next begins when the oldest is committed."""
    await _backlog(table)
    await table.models.arrived(4)
    await table.models.answer(2, 3, 4)
    assert len(table.models.requests) == 4
    assert _live(table) == []
    await table.models.answer(1)
    await table.models.arrived(8)
    assert len(_live(table)) == 4
    assert_promises(table.database, "c")


async def test_no_more_than_the_connection_takes(tmp_path: Path) -> None:
    """The connection's concurrency bounds a chat's calls too."""
    async with laid(tmp_path, HeldModels(), **{**WIDE, "llm_concurrency": 2}) as table:
        table.settings(backlog_concurrency=16)
        await table.say(*range(1, 41), fold="none")
        table.services.steering.backlog("c", "all")
        await table.models.arrived(2)
        await table.services.steering.stop("c")
        assert len(table.models.requests) == table.models.cut == 2


async def test_raw_turns_stand_in_for_snippets(table: Held) -> None:
    """A batch is told the turns before it as they are while their snippets are being made, and memory once it is."""
    await _backlog(table)
    await table.models.arrived(4)
    third = table.models.requests[2].prior
    assert third[0] == "User: Mira asks about gate 1."
    assert third[-1] == "Assistant: Tom opens gate 6."
    await table.models.answer(1, 2)
    await table.models.arrived(6)
    assert table.models.requests[5].prior[:3] == (
        "Line 1 of the story.",
        "Line 2 of the story.",
        "User: Mira asks about gate 7.",
    )


async def test_answers_in_any_order_are_committed_in_order(table: Held) -> None:
    """The snippets stand in the order of the story, whichever answer came first."""
    await _backlog(table, 30)
    for number in (4, 2, 3, 1, 6, 5):
        await table.models.arrived(min(number, 4))
        await table.models.answer(number)
    status = await table.settled()
    assert status.counts.ghosted == 36
    assert [snippet.text for snippet in _live(table)] == [f"Line {n} of the story." for n in range(1, 7)]
    assert_promises(table.database, "c")


async def test_stop_cuts_every_call(table: Held) -> None:
    """Stopping cuts all that is under way; what was committed stays, without a gap."""
    await _backlog(table)
    await table.models.answer(1, 3)
    await table.models.arrived(5)
    await table.services.steering.stop("c")
    assert table.models.cut == 3
    assert [snippet.text for snippet in _live(table)] == ["Line 1 of the story."]
    assert_promises(table.database, "c")


async def test_a_batch_that_fails_stops_nothing_else(table: Held) -> None:
    """The others are committed, the job says what failed, and the gap is folded afterwards, in its place."""
    table.models.script("One.", ModelUnavailable("It fell over.", connection="default", calls=6), "Three.")
    await _backlog(table, 30)
    await table.models.answer(*range(1, 30))
    failed = await until(table.status, lambda status: status.job is None)
    assert failed.counts.ghosted in (30, 36)
    status = await until(table.status, lambda status: status.counts.ghosted == 36 and status.job is None)
    assert status.last_error is None
    assert [snippet.covers.first_index for snippet in _live(table) if snippet.covers] == [0, 6, 12, 18, 24, 30]
    states = [job.state for _, job in table.services.working.page("c", None, None, 10)]
    assert states == ["succeeded", "failed"]
    assert_promises(table.database, "c")


async def test_a_wrong_key_begins_nothing_more(table: Held) -> None:
    """What every call would meet ends the job once what is under way has come back."""
    table.models.script("One.", ModelRejected("Check the API key.", connection="default", status=401, calls=1))
    await _backlog(table)
    await table.models.arrived(4)
    await table.models.answer(2, 3, 4)
    await table.models.answer(1)
    status = await until(table.status, lambda status: status.job is None)
    assert status.last_error is not None
    assert (status.last_error.status, status.last_error.retry_at) == (401, None)
    assert len(table.models.requests) <= 5
    assert_promises(table.database, "c")


async def test_an_edited_message_spoils_one_batch_only(table: Held) -> None:
    """A batch that was edited meanwhile is asked anew; the others are committed as they were."""
    await _backlog(table, 30)
    await table.models.arrived(4)
    table.sql("UPDATE messages SET content = 'rewritten', revision = revision + 1 WHERE id = 'a5'")
    await table.models.answer(*range(1, 30))
    status = await table.settled()
    assert status.counts.ghosted == 36
    assert len(table.models.requests) == 7
    assert "Line 2 of the story." not in table.services.reporting.preview("c").text
    assert_promises(table.database, "c")


async def test_merges_run_beside_folds(table: Held) -> None:
    """Later folds are asked for while a merge is under way, and the layers end as they do one at a time."""
    await _backlog(table, 60, snippets_per_layer=3, snippets_per_promotion=2, max_layers=3)
    await table.models.answer(*range(1, 100))
    await table.settled()
    together = table.layers()
    assert [request.kind for request in table.models.requests].count("merge") > 3
    await table.services.steering.clear("c")
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3, memory_tokens=0)
    table.services.steering.backlog("c", "all")
    await table.settled()
    assert table.layers() == together
    assert_promises(table.database, "c")


async def test_a_snippet_is_made_anew_alone(table: Held) -> None:
    """What a person asks for waits for what is under way, and nothing begins beside it."""
    await _backlog(table, 60)
    await table.models.answer(1, 2, 3, 4)
    await table.models.arrived(8)
    table.services.revising.regenerate("c", _live(table)[0].id)
    await table.models.answer(5, 6, 7, 8)
    await table.models.arrived(9)
    await _committed(table, 8)
    assert len(table.models.requests) == 9
    await table.models.answer(*range(9, 60))
    await table.settled()
    assert_promises(table.database, "c")
