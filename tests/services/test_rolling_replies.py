"""Rolling memory beside what goes on: replies during a fold, long backlogs, jobs that were cut, what is said of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.core.model import Role
from app.core.rewrite import Rewrite
from app.services.reading import read_head, read_state, require_chat
from app.services.recording import Draft
from app.services.rewriting import check, report
from tests.support.chains import assert_chains
from tests.support.table import Table
from tests.support.waiting import until
from tests.support.wide import Held, held_table


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Held]:
    async with held_table(tmp_path) as table:
        yield table


def roll(table: Table, **rolling: Any) -> None:
    """Rolling memory that folds the turn before the newest with every reply."""
    values = {"trigger_tokens": 0, "trigger_turns": 1, "keep_recent_turns": 1, **rolling}
    table.services.keeping.put("c", {"strategy": "rolling", "settings": {"diagnostics": True, "rolling": values}})


def value(table: Table, of: str) -> Any:
    """A value in the database."""
    with table.server.db.read() as session:
        return session.execute(text(f"SELECT {of}")).scalar_one()


async def over(table: Held) -> None:
    """Wait until no job is active."""
    await until(table.status, lambda status: status.job is None)


async def test_a_reply_during_a_fold_is_checked_after_it(table: Held) -> None:
    """It joins the job, and brings a fold of its own, which it pays for; each reply of them at most one."""
    roll(table)
    first = asyncio.create_task(table.say(1, 2))
    await table.models.arrived(1)
    second = asyncio.create_task(table.say(3, 4))
    await until(lambda: value(table, "total FROM jobs"), lambda total: total == 2)
    await table.models.answer(*range(1, 9))
    assert [(await told).usage.calls for told in (first, second)] == [1, 1]
    await over(table)
    assert (table.status().counts.ghosted, len(table.models.requests)) == (6, 2)
    assert_chains(table.database, "c")


async def test_a_fold_that_was_cut_after_its_commit_brings_no_other(table: Held) -> None:
    """A server that dies between the commit and the end of the job does not fold what no trigger asks for."""
    roll(table, trigger_turns=3)
    await table.models.answer(*range(1, 9))
    await table.say(1, 2, 3, 4)
    await table.say(5, 6, fold="none")
    table.sql("UPDATE jobs SET state = 'interrupted'")
    table.sql("UPDATE chats SET retry_at = 1")
    await until(lambda: value(table, "retry_at FROM chats"), lambda found: found is None)
    await over(table)
    assert (table.status().counts.ghosted, len(table.models.requests)) == (6, 1)


async def test_a_turn_that_holds_all_up_is_told(table: Held) -> None:
    """Status and the prompt say why nothing folds, until something does."""
    roll(table, context_size=400, max_summary_tokens=100)
    drafts = [Draft(Role.USER, "wide " * 500), Draft(Role.ASSISTANT, "Indeed.")]
    table.services.recording.store("c", drafts, fold="none")
    await table.say(1)
    status = table.status()
    assert status.last_error is not None
    assert "rolling.context_size" in status.last_error.detail
    with table.server.db.read() as session:
        found = report(read_state(session, require_chat(session, "c")))
    assert found is not None
    assert found.reason == "input_too_large"
    roll(table, oversize="clip", context_size=400, max_summary_tokens=100)
    await table.models.answer(*range(1, 9))
    await table.say(2)
    assert table.status().last_error is None


async def test_a_connection_that_is_missing_is_a_model_error(table: Held) -> None:
    """The reason is one of the eight, the detail says what to do, and diagnostics have it."""
    roll(table)
    table.services.keeping.patch("c", {"settings": {"connection": "nowhere"}})
    await table.say(1, 2)
    [job] = [job for _, job in table.services.working.page("c", None, None, 10)]
    assert (job.state, job.reason) == ("failed", "model_error")
    assert job.error is not None
    assert "nowhere" in job.error.detail


async def test_a_cancelled_job_is_noted(table: Held) -> None:
    """Whoever cancels it."""
    roll(table)
    await table.say(1, 2, fold="background")
    await table.models.arrived(1)
    [job] = [job for _, job in table.services.working.page("c", None, None, 10)]
    await table.services.working.cancel(job.id)
    assert value(table, "count(*) FROM diagnostics WHERE data LIKE '%cancelled%'") == 1


async def test_a_text_of_a_persons_is_left(table: Held) -> None:
    """An edit under it makes it stale; only what comes in under it lets it give way."""
    roll(table)
    await table.models.answer(*range(1, 9))
    await table.say(1, 2)
    [summary] = table.services.browsing.snippets(
        "c", layer=None, state="live", stale=None, degraded=None, offset=0, limit=9
    )
    table.services.revising.edit("c", summary.id, "Hand-written truth.")
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    assert table.services.reporting.preview("c").text.count("Hand-written truth.") == 1
    assert table.status().stale_snippets == 1


async def test_forgetting_what_sleeps_is_no_new_version(table: Held) -> None:
    """memory_version counts the texts of the present memory."""
    roll(table)
    await table.models.answer(*range(1, 9))
    await table.say(1, 2)
    table.services.keeping.patch("c", {"strategy": "layered"})
    before = table.status().memory_version
    await table.services.steering.clear("c")
    assert table.status().memory_version == before


@pytest.mark.parametrize("turns", [3, 127, 128, 129, 300])
@pytest.mark.parametrize("rolling", [{}, {"trigger_turns": 0, "trigger_tokens": 900}, {"keep_recent_turns": 200}])
async def test_the_oldest_turns_are_enough(table: Held, turns: int, rolling: dict[str, Any]) -> None:
    """What is due is the same whether all of a long backlog is read or its beginning."""
    roll(table, **rolling)
    await table.say(*range(turns), fold="none")
    with table.server.db.read() as session:
        chat = require_chat(session, "c")
        head, whole = read_head(session, chat), read_state(session, chat)
    assert head.dialog.size == whole.dialog.size == turns
    if not head.later:
        assert head.dialog == whole.dialog
    assert isinstance(check(head), Rewrite) <= isinstance(check(whole), Rewrite)


async def test_what_an_edit_gave_up_folds_again(table: Held) -> None:
    """In the background, without a further reply."""
    roll(table)
    await table.models.answer(*range(1, 9))
    await table.say(1, 2)
    await table.say(3)
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    await until(lambda: len(table.models.requests), lambda calls: calls == 3)
    await over(table)
    assert table.status().counts.ghosted == 4
