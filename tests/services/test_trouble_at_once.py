"""What can go wrong while several calls of a job are under way, or one after the other."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.core.model import Usage
from app.core.summary import SummaryRequest
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable
from app.services.working import JobView
from tests.support.checks import assert_promises
from tests.support.scripted import ScriptedModels
from tests.support.table import Table, laid
from tests.support.waiting import until
from tests.support.wide import WIDE, Held, held_table

ALL = range(1, 500)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    async with held_table(tmp_path) as held:
        yield held


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path, **WIDE) as table:
        yield table


async def _backlog(table: Table, turns: int = 40, chat: dict[str, Any] | None = None, **layered: Any) -> None:
    values = {"backlog_concurrency": 4, "memory_tokens": 0, **layered}
    table.services.keeping.put("c", {"settings": {**(chat or {}), "layered": values}})
    await table.say(*range(1, turns + 1), fold="none")
    table.services.steering.backlog("c", "all")


def _jobs(table: Table) -> list[JobView]:
    return [job for _, job in table.services.working.page("c", None, None, 50)]


def _refused(connection: str = "default") -> ModelError:
    return ModelUnusable("It rambled.", connection=connection, calls=1)


def _wrong_key() -> ModelError:
    return ModelRejected("Check the API key.", connection="default", status=401, calls=1)


def _away() -> ModelError:
    return ModelUnavailable("It is away.", connection="default", status=503, calls=6)


async def test_what_was_paid_is_counted_when_it_is_cut(held: Held) -> None:
    """Answers that had come back and waited for their turn cost what they cost, and one that was cut counts too."""
    await _backlog(held)
    await held.models.arrived(4)
    await held.models.answer(2, 3, 4)
    await held.services.steering.stop("c")
    usage = held.status().summarizer_usage
    assert (held.models.cut, usage) == (1, Usage(4, 300, 30))
    assert _jobs(held)[0].usage == usage


async def test_a_hidden_message_is_told_to_nobody(held: Held) -> None:
    """A message that is hidden while its fold is under way is no context of the next fold."""
    await _backlog(held)
    await held.models.arrived(4)
    held.sql("UPDATE messages SET hidden = 1 WHERE id = 'a5'")
    await held.models.answer(1)
    await held.models.arrived(5)
    assert not any("Tom opens gate 5." in line for line in held.models.requests[4].prior)


async def test_one_change_of_settings_is_no_damage(held: Held) -> None:
    """However many answers one change spoils, the job goes on or ends well."""
    await _backlog(held, 200, backlog_concurrency=32)
    await held.models.arrived(32)
    held.services.keeping.put("c", {"settings": {"layered": {"verbatim_turns": 199}}})
    await held.models.answer(*ALL)
    status = await until(held.status, lambda status: status.job is None)
    assert status.last_error is None
    assert_promises(held.database, "c", 199, shrunk=True)


async def test_who_joins_a_job_that_ends_is_served_after_it(held: Held) -> None:
    """A start while a failed job waits for what is under way is not swallowed."""
    held.models.script(_wrong_key())
    await _backlog(held)
    await held.models.arrived(4)
    await held.models.answer(1)
    await until(held.status, lambda status: status.last_error is not None)
    joined = held.services.steering.summarize("c").job
    await held.models.answer(*ALL)
    status = await until(held.status, lambda status: status.counts.ghosted == 60 and status.job is None)
    assert status.last_error is None
    first, second = reversed(_jobs(held))
    assert joined is not None
    assert (first.id, first.state, second.state, second.kind) == (joined.id, "failed", "succeeded", "summarize")


async def test_the_first_reason_counts(held: Held) -> None:
    """A wrong key that ended a job is not replaced by what the calls beside it met."""
    held.models.script(_wrong_key(), _refused(), _away())
    await _backlog(held)
    await held.models.arrived(4)
    for number in (1, 2, 3, 4):
        await held.models.answer(number)
        await until(lambda: _jobs(held)[0].usage.calls, lambda calls: calls > 0)
    await until(lambda: _jobs(held)[0], lambda job: job.state == "failed")
    error = _jobs(held)[0].error
    assert error is not None
    assert (error.status, error.retry_at) == (401, None)


async def test_batches_refused_at_once_are_counted_each(held: Held) -> None:
    """Two batches that are refused in turns are both at their third refusal after three jobs."""

    def answer(request: SummaryRequest) -> str:
        if request.connection.name == "default":
            raise _refused()
        return f"Extracted: {request.passage[0].text}"

    held.models.default = answer
    await _backlog(held, 31, backlog_concurrency=2)
    for number in range(1, 5, 2):
        await held.models.arrived(number + 1)
        await held.models.answer(number + 1)
        await held.models.answer(number)
    await held.models.answer(*ALL)
    status = await until(held.status, lambda status: status.counts.ghosted > 0)
    assert status.degraded_snippets > 0


async def test_bad_settings_skip_no_chat(table: Table) -> None:
    """With `wait`, three different passages refused in a row speak against the settings."""
    accepted: list[str] = []

    def answer(request: SummaryRequest) -> str:
        if accepted:
            raise ModelRejected("max_tokens is too large", connection="default", status=400, calls=1)
        accepted.append(request.batch)
        return "Once."

    table.models.default = answer
    await _backlog(table, 60, {"on_refused": "wait"}, backlog_concurrency=1)
    status = await until(table.status, lambda status: status.job is None)
    assert (status.counts.ghosted, status.counts.skipped) == (6, 9)
    assert status.last_error is not None


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_bad_merge_connection_is_told_and_holds_up_no_fold(table: Table, refuses: bool) -> None:
    """What is wrong with the connection of merges is said, though folds by another one go well."""
    second = {"provider": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    table.services.connections.put("second", second, keep_key=False, api_key=None)

    def answer(request: SummaryRequest) -> str:
        if request.connection.name == "second":
            raise _refused("second") if refuses else ModelUnavailable("Away.", connection="second", calls=6)
        return f"Told: {request.passage[0].text}"

    table.models.default = answer
    layers = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "max_layers": 2}
    await _backlog(table, 60, {"merge_connection": "second"}, backlog_concurrency=1, **layers)
    status = await until(table.status, lambda status: status.job is None)
    assert status.last_error is not None
    assert status.last_error.connection == "second"
    assert status.counts.ghosted == 96
    assert_promises(table.database, "c")


async def test_a_refused_batch_with_a_dead_fallback(table: Table) -> None:
    """Whether the batch is refused the first connection says; the third time the built-in summarizer takes it."""
    second = {"provider": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    table.services.connections.put("second", second, keep_key=False, api_key=None)

    def answer(request: SummaryRequest) -> str:
        name = request.connection.name
        if name == "second":
            raise ModelUnavailable("Away.", connection="second", calls=6)
        if name == "default" and "gate 4." in request.passage[0].text:
            raise _refused()
        return f"Told: {request.passage[0].text}"

    table.models.default = answer
    await _backlog(table, 31, {"fallback_connection": "second"}, backlog_concurrency=1)
    status = await table.settled()
    assert (status.counts.ghosted, status.degraded_snippets) == (42, 1)
    assert status.summarizer_usage.calls == 6 + 3 * 7 + 1


async def test_a_failed_merge_is_made_up_for(tmp_path: Path) -> None:
    """One merge that fails leaves the memory unmerged until the next fold, not for good."""
    failed: list[str] = []

    def answer(request: SummaryRequest) -> str:
        if request.kind == "merge" and not failed:
            failed.append(request.batch)
            raise _away()
        return f"Told: {request.passage[0].text}"

    models = ScriptedModels()
    models.default = answer
    async with laid(tmp_path, models, **WIDE) as table:
        await _backlog(table, 100, snippets_per_layer=3, snippets_per_promotion=2)
        await until(table.status, lambda status: status.job is None and status.backlog.turns < 3)
        await until(table.layers, lambda layers: max(layers) <= 3)
        assert_promises(table.database, "c")


async def test_a_failed_batch_of_a_flush_is_made_up_for(held: Held) -> None:
    """What a flush left is folded by itself, though it is no flush of its own."""
    held.models.script("One.", _away())
    await _backlog(held, 34, flush_turns=12)
    await held.models.answer(*ALL)
    await until(held.status, lambda status: status.counts.ghosted == 48 and status.job is None)
    assert_promises(held.database, "c")


@pytest.mark.parametrize("change", ["hidden = 1 WHERE position < 66", "skipped = 1 WHERE position < 100"])
async def test_what_nobody_folds_narrows_nothing(held: Held, change: str) -> None:
    """Many hidden or skipped messages at the beginning leave as many calls at once as ever."""
    held.settings(backlog_concurrency=16, memory_tokens=0)
    await held.say(*range(1, 151), fold="none")
    held.sql(f"UPDATE messages SET {change}")
    held.services.steering.summarize("c")
    await held.models.arrived(16)


async def test_one_is_one_however_much_is_to_come(table: Table) -> None:
    """`one` folds a batch now and one per reply, also where a flush is long and the backlog not read to its end."""
    table.settings(memory_tokens=0, flush_turns=60)
    await table.say(*range(1, 201), fold="none")
    table.services.steering.backlog("c", "one")
    await table.settled()
    await table.say(201)
    await table.settled()
    assert len(table.models.requests) == 2


async def test_an_error_is_told_without_a_false_promise(table: Table) -> None:
    """A batch that is tried again at once waits for no moment."""
    answers: list[Callable[[], ModelError] | None] = [None, _refused, None]

    def answer(request: SummaryRequest) -> str:
        made = answers.pop(0) if answers else None
        if made is not None:
            raise made()
        return f"Told: {request.passage[0].text}"

    table.models.default = answer
    await _backlog(table, 31, backlog_concurrency=1)
    await table.settled()
    with table.server.db.read() as session:
        found = session.execute(text("SELECT json_extract(data, '$.retry_at') FROM events WHERE kind = 'error'"))
        assert list(found.scalars()) == [None]


async def test_a_first_refusal_waits_for_what_runs_beside_it(held: Held) -> None:
    """Whether it speaks against the batch or the settings is open until another call has come back."""
    held.models.script(_refused(), _refused())
    await _backlog(held)
    await held.models.arrived(4)
    await held.models.answer(1)
    await held.models.answer(3)
    await held.models.answer(*ALL)
    status = await until(held.status, lambda status: status.job is None)
    assert ([job.state for job in _jobs(held)], status.last_error, status.degraded_snippets) == (["succeeded"], None, 0)
    assert_promises(held.database, "c")


async def test_if_all_that_runs_is_refused_it_is_the_settings(held: Held) -> None:
    """Nothing more is begun than what was under way at the first refusal."""
    held.models.default = _refused()
    await _backlog(held)
    await held.models.arrived(4)
    await held.models.answer(*ALL)
    status = await until(held.status, lambda status: status.job is None)
    assert ([job.state for job in _jobs(held)], len(held.models.requests)) == (["failed"], 4)
    assert status.counts.ghosted == 0
