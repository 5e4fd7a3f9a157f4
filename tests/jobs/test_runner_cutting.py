"""How soon the runner cuts what is not its own any more, and who stops waiting."""

import asyncio
from contextlib import suppress

from sqlalchemy import event

from app.jobs.runner import LOOK_S, Runner
from app.store.engine import Database
from tests.support.machine import Machine
from tests.support.processes import HeldWork, Process, living


class SlowToEnd(HeldWork):
    """Work that takes ten looks to end when it is cut."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.ending, self.ended = asyncio.Event(), asyncio.Event()

    async def run(self, job_id: str, owner: str) -> None:
        try:
            await super().run(job_id, owner)
        finally:
            self.ending.set()
            await asyncio.sleep(0.2)
            self.ended.set()


async def _runs(process: Process) -> str:
    """A job of the process that runs by now."""
    job_id = process.queue()
    process.runner.poke(job_id)
    await process.running(job_id)
    return job_id


async def test_what_another_process_ends_is_cut_at_once(machine: Machine) -> None:
    """A job that ends elsewhere is cut here in half a second, however far the next beat is."""
    process = Process(machine.url, beat_s=3600)
    async with living(process):
        job_id = await _runs(process)
        process.sql("UPDATE jobs SET state = 'cancelled'")
        async with asyncio.timeout(LOOK_S + 1):
            await process.was_cut(job_id)


async def test_looks_only_while_something_runs(machine: Machine) -> None:
    """A runner with a job looks some times a second whether it is still its own, and without one never."""
    process = Process(machine.url, beat_s=3600)
    looks: list[str] = []
    async with living(process):
        job_id = await _runs(process)
        event.listen(process.db.engine, "before_cursor_execute", lambda *args: looks.append(args[2]))
        await asyncio.sleep(3 * LOOK_S)
        assert 1 <= sum(map(_is_look, looks)) <= 4
        process.work.go.set()
        assert await process.runner.wait(job_id, 20)
        await asyncio.sleep(2 * LOOK_S)
        looks.clear()
        await asyncio.sleep(2 * LOOK_S)
        assert not any(map(_is_look, looks))


def _is_look(statement: str) -> bool:
    return statement.startswith("SELECT jobs.id, jobs.state") and " IN (" in statement


async def test_a_job_is_cut_once(machine: Machine) -> None:
    """However often it is cancelled, and looked at meanwhile, a job has its time to end well."""
    process = Process(machine.url, resume_jobs=False)
    process.work = work = SlowToEnd(process.db)
    process.runner = Runner(process.db, work, process.recovery, beat_s=0.02)
    async with living(process):
        job_id = await _runs(process)
        process.sql("UPDATE jobs SET state = 'cancelled'")
        await work.ending.wait()
        await asyncio.gather(process.runner.cancel(job_id), process.runner.cancel(job_id))
        assert work.ended.is_set()


class AlwaysLate(HeldWork):
    """Work in which something runs out of time at every turn of the loop."""

    async def run(self, job_id: str, owner: str) -> None:
        self.ran.append(job_id)
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(0):
                    await asyncio.Event().wait()


async def test_a_cut_in_the_moment_of_a_time_out_counts(machine: Machine) -> None:
    """A job is cut although something inside it ran out of time just before."""
    process = Process(machine.url, resume_jobs=False)
    process.work = AlwaysLate(process.db)
    process.runner = Runner(process.db, process.work, process.recovery, beat_s=3600)
    async with living(process), asyncio.timeout(20):
        for turns in range(6):
            job_id = await _runs(process)
            for _ in range(turns):
                await asyncio.sleep(0)
            await process.runner.cancel(job_id)
            process.sql("UPDATE jobs SET state = 'cancelled'")


async def test_waiting_finds_a_dead_process(machine: Machine) -> None:
    """Who waits for a job whose process died hears of its end, even where nothing else is recovered."""
    process = await machine.process(resume_jobs=False)
    job_id = process.queue()
    process.sql("UPDATE jobs SET state = 'running', lease_owner = 'gone', lease_until = 1")
    assert await process.runner.wait(job_id, 20)
    assert process.states() == ["interrupted"]


async def test_nobody_waits_for_a_runner_that_stopped(machine: Machine) -> None:
    """Waiting for a job that another process may run for long ends with this process."""
    here, there = Process(machine.url), await machine.process(resume_jobs=False)
    job_id = await _runs(there)
    async with living(here):
        waiting = asyncio.create_task(here.runner.wait(job_id, 20))
        await asyncio.sleep(0.1)
        await here.runner.stop()
        assert await waiting is False
    assert there.states() == ["running"]
