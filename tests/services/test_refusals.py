"""Batches that a model refuses for their own sake (layered.md, Failing calls: `on_refused`)."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from app.core.summary import SummaryRequest
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable
from tests.support.checks import assert_promises
from tests.support.table import Table, laid
from tests.support.waiting import until

MODEL: dict[str, Any] = {"llm_provider": "openai", "llm_base_url": "http://127.0.0.1:9", "llm_concurrency": 4}
WIDTHS = pytest.mark.parametrize("width", [1, 4])


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path, **MODEL) as table:
        yield table


def refusing(*gates: int, error: Callable[[], ModelError] | None = None) -> Callable[[SummaryRequest], str]:
    """A model that will not hear of these gates; the built-in summarizer takes them."""

    def answer(request: SummaryRequest) -> str:
        first = request.passage[0].text
        if request.connection.name != "default":
            return f"Extracted: {first}"
        if any(f"gate {gate}." in first for gate in gates):
            raise (error or _refusal)()
        return f"Told: {first}"

    return answer


def _refusal() -> ModelError:
    return ModelUnusable("The model of connection 'default' refused to answer.", connection="default", calls=1)


def _calls_for(table: Table, gate: int) -> list[str]:
    found = [request for request in table.models.requests if f"gate {gate}." in request.passage[0].text]
    return [request.connection.name for request in found if request.kind == "fold"]


async def _backlog(table: Table, turns: int, width: int, **settings: Any) -> None:
    layered = {"backlog_concurrency": width, "snippets_per_layer": 30}
    table.services.keeping.put("c", {"settings": {**settings, "layered": layered}})
    await table.say(*range(1, turns + 1), fold="none")
    table.services.steering.backlog("c", "all")


@WIDTHS
async def test_one_refused_batch_stops_nothing(table: Table, width: int) -> None:
    """After three refusals in the same run the built-in summarizer takes the batch, marked, and the run goes on."""
    table.models.default = refusing(7)
    await _backlog(table, 31, width)
    status = await table.settled()
    assert (status.counts.ghosted, status.degraded_snippets, status.last_error) == (42, 1, None)
    assert _calls_for(table, 7) == ["default", "default", "default", "extractive"]
    [job] = [job for _, job in table.services.working.page("c", None, None, 10)]
    assert (job.state, job.progress.failed) == ("succeeded", 0)
    assert "Extracted: Mira asks about gate 7." in table.services.reporting.preview("c").text
    assert_promises(table.database, "c")


@WIDTHS
async def test_waiting_leaves_the_batch_and_goes_on(table: Table, width: int) -> None:
    """With `wait` its turns stay in the prompt, count as skipped, and are folded in their place when asked for."""
    table.models.default = refusing(7)
    await _backlog(table, 31, width, on_refused="wait")
    status = await table.settled()
    assert (status.counts.ghosted, status.counts.skipped, status.degraded_snippets) == (36, 3, 0)
    assert _calls_for(table, 7) == ["default"] * 3
    [job] = [job for _, job in table.services.working.page("c", None, None, 10)]
    assert (job.state, job.progress.failed) == ("succeeded", 1)
    assert job.reason is not None
    assert "3 turns" in job.reason
    table.models.default = None
    table.services.steering.backlog("c", "all")
    status = await table.settled()
    assert (status.counts.ghosted, status.counts.skipped) == (42, 0)
    assert_promises(table.database, "c")


async def test_a_first_refusal_may_be_the_settings(table: Table) -> None:
    """A model that has accepted nothing yet is asked once; the job fails and says why, and nothing has advanced."""
    table.models.default = refusing(1, error=_bad_request)
    await _backlog(table, 31, 1)
    failed = await until(table.status, lambda status: status.job is None)
    assert (failed.counts.ghosted, failed.memory_version) == (0, 0)
    assert failed.last_error is not None
    assert failed.last_error.status == 400
    status = await until(table.status, lambda status: status.counts.ghosted == 42 and status.job is None)
    assert status.degraded_snippets == 1
    assert _calls_for(table, 1) == ["default", "default", "default", "extractive"]
    states = [job.state for _, job in table.services.working.page("c", None, None, 10)]
    assert states == ["succeeded", "failed", "failed"]


async def test_too_many_refusals_speak_against_the_settings(table: Table) -> None:
    """Three different batches refused in a row, and a fourth ends the job: somebody should look at the connection."""
    table.models.default = refusing(*range(4, 40))
    await _backlog(table, 40, 1)
    status = await until(table.status, lambda status: status.job is None)
    assert status.degraded_snippets == 3
    assert status.last_error is not None
    assert status.counts.ghosted == 24
    assert_promises(table.database, "c")


async def test_a_refused_merge_holds_up_no_fold(table: Table) -> None:
    """A merge that the model refuses, and that waits, leaves the layer over its limit and the folds going."""

    def no_merges(request: SummaryRequest) -> str:
        if request.kind == "merge":
            raise _refusal()
        return f"Told: {request.passage[0].text}"

    table.models.default = no_merges
    layered = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "max_layers": 2}
    table.services.keeping.put("c", {"settings": {"on_refused": "wait", "layered": layered}})
    await table.say(*range(1, 32), fold="none")
    table.services.steering.backlog("c", "all")
    status = await until(table.status, lambda status: status.job is None)
    assert status.counts.ghosted == 42
    assert status.last_error is not None
    assert [request.kind for request in table.models.requests].count("merge") == 3
    assert_promises(table.database, "c")


async def test_the_fallback_comes_first(table: Table) -> None:
    """A fallback connection is asked at once, and what it writes is marked."""
    second = {"provider": "openai", "base_url": "http://127.0.0.1:9", "model": "m"}
    table.services.connections.put("second", second, keep_key=False, api_key=None)
    table.models.default = refusing(*range(1, 40), error=_only_default)
    await _backlog(table, 31, 1, fallback_connection="second")
    status = await table.settled()
    assert (status.counts.ghosted, status.degraded_snippets) == (42, 7)


def _bad_request() -> ModelError:
    return ModelRejected("Connection 'default' answered 400.", connection="default", status=400, calls=1)


def _only_default() -> ModelError:
    return ModelUnavailable("Connection 'default' answered 503.", connection="default", status=503, calls=6)


async def test_a_job_has_a_limit_of_calls(tmp_path: Path) -> None:
    """A job that reaches its limit ends and says so; what is folded stays, and the next message goes on."""
    async with laid(tmp_path, **MODEL, job_max_calls=3) as table:
        await _backlog(table, 31, 1)
        status = await until(table.status, lambda status: status.job is None)
        assert status.counts.ghosted == 18
        assert status.last_error is not None
        assert "TURNFOLD_JOB_MAX_CALLS" in status.last_error.detail
        assert status.last_error.retry_at is None
        await table.say(32)
        assert table.status().counts.ghosted == 36


async def test_a_job_has_a_limit_of_time(tmp_path: Path) -> None:
    """The same for seconds."""
    async with laid(tmp_path, **MODEL, job_max_s=0.001) as table:
        await _backlog(table, 31, 1)
        status = await until(table.status, lambda status: status.job is None)
        assert status.last_error is not None
        assert "TURNFOLD_JOB_MAX_S" in status.last_error.detail
