"""The runner alone: a real database, and work that ends when the test says so."""

import asyncio
import threading

import pytest
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.jobs.runner import Recovery, Runner
from tests.support.machine import Machine
from tests.support.processes import Process, living
from tests.support.waiting import until


class Troubled:
    """A recovery whose first calls find no connection left in the pool."""

    def __init__(self, recovery: Recovery) -> None:
        self.troubles = 3
        self._recovery = recovery

    def wake(self) -> None:
        self._recovery.wake()

    def recover(self, owner: str) -> list[str]:
        if self.troubles:
            self.troubles -= 1
            raise PoolTimeout("QueuePool limit reached")
        return self._recovery.recover(owner)


async def test_runs_what_it_is_poked_with(machine: Machine) -> None:
    """A poked job is run, and who waits for it sees its end."""
    process = await machine.process(resume_jobs=False)
    job_id = process.queue()
    process.runner.poke(job_id)
    await process.running(job_id)
    assert not await process.runner.wait(job_id, 0.05)
    process.work.go.set()
    assert await process.runner.wait(job_id, 20)
    assert process.states() == ["succeeded"]


async def test_a_poke_before_the_start_counts(machine: Machine) -> None:
    """A job that was poked before the runner started is run, even where nothing else is recovered."""
    process = Process(machine.url, resume_jobs=False)
    job_id = process.queue()
    process.runner.poke(job_id)
    async with living(process):
        await process.running(job_id)


async def test_runs_what_waits(machine: Machine) -> None:
    """A queued job nobody poked is found by the beat."""
    process = await machine.process()
    await process.running(process.queue())


async def test_leaves_others_alone_without_resume_jobs(machine: Machine) -> None:
    """Where RESUME_JOBS is false jobs that wait or lost their process stay as they are."""
    process = await machine.process(resume_jobs=False)
    process.queue("waits")
    process.queue("dead")
    process.sql("UPDATE jobs SET state = 'running', lease_owner = 'gone', lease_until = 1 WHERE key = 2")
    await asyncio.sleep(0.2)
    assert (process.states(), process.work.ran) == (["queued", "running"], [])


async def test_a_dead_process_is_noticed(machine: Machine) -> None:
    """A job whose lease ran out is interrupted, and another takes its place."""
    process = Process(machine.url)
    process.queue()
    process.sql("UPDATE jobs SET state = 'running', lease_owner = 'gone', lease_until = 1")
    async with living(process):
        await until(process.states, lambda states: states == ["interrupted", "running"])


async def test_a_lost_lease_cuts_the_task(machine: Machine) -> None:
    """A job that another process took over is cut here."""
    process = await machine.process(resume_jobs=False)
    job_id = process.queue()
    process.runner.poke(job_id)
    await process.running(job_id)
    other = Process(machine.url)
    other.sql("UPDATE jobs SET lease_owner = 'another'")
    await process.was_cut(job_id)
    other.db.dispose()


@pytest.mark.parametrize(
    "change", ["UPDATE jobs SET state = 'cancelled'", "DELETE FROM jobs", "UPDATE jobs SET state = 'interrupted'"]
)
async def test_what_another_process_ends_is_cut(machine: Machine, change: str) -> None:
    """A job that was cancelled, deleted or given up elsewhere is cut here, and who waits sees its end."""
    process = await machine.process(resume_jobs=False)
    job_id = process.queue()
    process.runner.poke(job_id)
    await process.running(job_id)
    waiting = asyncio.create_task(process.runner.wait(job_id, 20))
    other = Process(machine.url)
    other.sql(change)
    await process.was_cut(job_id)
    assert await waiting
    other.db.dispose()


async def test_sees_the_end_of_a_job_elsewhere(machine: Machine) -> None:
    """Waiting sees the end of a job that runs in another process."""
    here, there = await machine.process(resume_jobs=False), await machine.process(resume_jobs=False)
    job_id = here.queue()
    there.runner.poke(job_id)
    await there.running(job_id)
    waiting = asyncio.create_task(here.runner.wait(job_id, 20))
    there.work.go.set()
    assert await waiting


async def test_two_runners_never_run_the_same_job(machine: Machine) -> None:
    """Of two processes at one database, each job has one."""
    one, two = await machine.process(), await machine.process()
    queued = [one.queue(f"chat {number}") for number in range(20)]
    for job_id in queued:
        one.runner.poke(job_id)
        two.runner.poke(job_id)
    await until(lambda: [*one.work.ran, *two.work.ran], lambda ran: len(ran) >= len(queued))
    await asyncio.sleep(0.1)
    assert sorted([*one.work.ran, *two.work.ran]) == sorted(queued)


async def test_stop_releases_only_its_own_jobs(machine: Machine) -> None:
    """A runner that stops interrupts what it runs; what others run goes on."""
    stays = await machine.process(resume_jobs=False)
    mine = stays.queue("stays")
    stays.runner.poke(mine)
    await stays.running(mine)
    goes = Process(machine.url, resume_jobs=False)
    async with living(goes):
        theirs = goes.queue("goes")
        goes.runner.poke(theirs)
        await goes.running(theirs)
    assert (stays.states(), goes.work.cut) == (["running", "interrupted"], [theirs])
    stays.work.go.set()
    assert await stays.runner.wait(mine, 20)
    assert stays.states() == ["succeeded", "interrupted"]


async def test_renews_leases(machine: Machine) -> None:
    """A job that runs for long keeps its lease."""
    process = await machine.process()
    job_id = process.queue()
    await process.running(job_id)
    first = process.column("lease_until FROM jobs") or 0
    await until(lambda: process.column("lease_until FROM jobs") or 0, lambda later: later > first)
    assert (process.states(), process.work.cut) == (["running"], [])


async def test_a_failing_beat_recovers(machine: Machine) -> None:
    """Beats that find no connection or a locked database are not the last ones."""
    process = Process(machine.url)
    troubled = Troubled(process.recovery)
    process.runner = Runner(process.db, process.work, troubled, beat_s=0.02)
    async with living(process):
        await process.running(process.queue())
        assert (process.runner.alive, troubled.troubles) == (True, 0)


async def test_a_crash_is_ended(machine: Machine) -> None:
    """Work that raises what nobody foresaw is ended as failed, and the next job runs."""
    process = await machine.process()
    process.work.fails = True
    process.work.go.set()
    job_id = process.queue()
    assert await process.runner.wait(job_id, 20)
    process.work.fails = False
    assert await process.runner.wait(process.queue(), 20)
    assert (process.states(), process.work.crashes) == (["failed", "succeeded"], [job_id])


async def test_wakes_for_the_next_retry(machine: Machine) -> None:
    """A retry that is due before the next beat is taken up when it is due."""
    process = Process(machine.url, beat_s=3600)
    process.work.go.set()
    async with living(process):
        job_id = process.queue()
        process.sql("UPDATE chats SET retry_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) + 300")
        process.runner.poke(job_id)
        assert await process.runner.wait(job_id, 20)
        await until(lambda: process.column("retry_at FROM chats"), lambda moment: moment is None)


async def test_slow_threads_elsewhere_hold_nothing_up(machine: Machine) -> None:
    """Jobs are started, waited for and cut while every thread of asyncio's own is busy."""
    process = await machine.process()
    free = threading.Event()
    slow = [asyncio.create_task(asyncio.to_thread(free.wait)) for _ in range(40)]
    job_id = process.queue()
    await process.running(job_id)
    process.work.go.set()
    assert await process.runner.wait(job_id, 5)
    free.set()
    await asyncio.gather(*slow)
