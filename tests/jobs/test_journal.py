"""What the log tells of jobs."""

from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
import structlog

from app.store import jobs
from tests.support.logs import captured_logs
from tests.support.machine import Machine
from tests.support.processes import Process
from tests.support.waiting import until

Logs = list[MutableMapping[str, Any]]


@pytest.fixture
def logs() -> Iterator[Logs]:
    with captured_logs(bound=True) as logs:
        yield logs


async def ending(logs: Logs) -> MutableMapping[str, Any]:
    """The line about the end of a job, once it is there."""
    [line] = await until(lambda: [line for line in logs if line["event"] == "job_ended"], bool)
    return line


async def begun(process: Process) -> str:
    job_id = process.queue("mira")
    process.runner.poke(job_id)
    await process.running(job_id)
    return job_id


async def test_the_end_of_a_job_is_one_line(machine: Machine, logs: Logs) -> None:
    """Which job of which chat, how it ended, what it did, what that cost and how long it took."""
    process = await machine.process(resume_jobs=False)
    job_id = await begun(process)
    process.sql(
        "UPDATE jobs SET done = 2, total = 3, failed = 1,"
        """ usage = '{"calls": 5, "prompt_tokens": 70, "completion_tokens": 8}'"""
    )
    process.work.go.set()
    line = await ending(logs)
    assert line.pop("seconds") >= 0
    assert line == {
        "event": "job_ended", "log_level": "info", "job": job_id, "chat": "mira", "kind": "fold", "state": "succeeded",
        "reason": None, "done": 2, "total": 3, "failed": 1, "calls": 5, "prompt_tokens": 70, "completion_tokens": 8,
    }  # fmt: skip


async def test_a_crash_is_told_before_the_end(machine: Machine, logs: Logs) -> None:
    """Both lines name the job and the chat."""
    process = await machine.process(resume_jobs=False)
    process.work.fails = True
    job_id = await begun(process)
    process.work.go.set()
    await ending(logs)
    assert [(line["event"], line["job"], line["chat"]) for line in logs] == [
        ("job_crashed", job_id, "mira"),
        ("job_ended", job_id, "mira"),
    ]
    assert logs[1]["state"] == "failed"


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ("UPDATE jobs SET state = 'cancelled'", "cancelled"),
        ("DELETE FROM jobs", "deleted"),
        ("UPDATE jobs SET lease_owner = 'another'", "interrupted"),
    ],
)
async def test_the_end_of_a_job_that_was_cut(machine: Machine, logs: Logs, change: str, state: str) -> None:
    """Whoever ended it, deleted it or took it over."""
    process = await machine.process(resume_jobs=False)
    await begun(process)
    process.sql(change)
    assert (await ending(logs))["state"] == state


async def test_a_shutdown_interrupts(machine: Machine, logs: Logs) -> None:
    """The line is there before the process ends."""
    process = await machine.process(resume_jobs=False)
    await begun(process)
    await process.runner.stop()
    assert [(line["event"], line["state"]) for line in logs] == [("job_ended", "interrupted")]


async def test_the_request_that_started_a_job_is_not_in_its_lines(machine: Machine, logs: Logs) -> None:
    """A job may serve many requests, and which of them was the first says nothing."""
    process = await machine.process(resume_jobs=False)
    process.work.go.set()
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        process.runner.poke(process.queue())
    assert "request_id" not in await ending(logs)


async def test_a_job_somebody_else_claimed_is_not_told(machine: Machine, logs: Logs) -> None:
    """It did not run here."""
    process = await machine.process(resume_jobs=False)
    job_id = process.queue()
    with process.db.write() as session:
        jobs.claim(session, job_id, "another", 60_000)
    process.runner.poke(job_id)
    assert not await process.runner.wait(job_id, 0.1)
    assert logs == []
