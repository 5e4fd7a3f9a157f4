"""Runs jobs in this process: one asyncio task a job, a lease in the database, and a beat that keeps both honest."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol
from uuid import uuid4
from weakref import WeakSet

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.jobs import journal
from app.jobs.threads import Threads
from app.store import chats, jobs
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.faults import cause
from app.store.tables import Job

log = structlog.get_logger()

LEASE_MS = 10_000
BEAT_S = 2.0
LOOK_S = 0.25
"""How often a process that runs jobs looks whether they are still its own: a stop cuts them in this time, wherever it
was called."""
POLL_S = 0.05
_LEAST_REST_S = 0.01

Standing = Literal["active", "dead", "ended"]


class Work(Protocol):
    """Does claimed jobs."""

    async def run(self, job_id: str, owner: str) -> None:
        """Do a job to its end, and say in the database how it ended."""
        ...

    async def crashed(self, job_id: str, owner: str) -> None:
        """End a job whose run raised what nobody foresaw."""
        ...


class Recovery(Protocol):
    """Finds work that was left. Both may raise SQLAlchemyError, and are then called again."""

    def wake(self) -> None:
        """Once, when the process starts."""
        ...

    def recover(self, owner: str) -> list[str]:
        """Ids of the jobs to run now; called at every beat, so it looks before it writes."""
        ...


class Runner:
    """Starts queued jobs, cuts those that are not ours any more, renews leases and takes up work that was left.

    Nothing it needs is in its memory alone: what to do is read from the database at every beat, every `beat_s` seconds.
    """

    def __init__(self, db: Database, work: Work, recovery: Recovery, beat_s: float = BEAT_S) -> None:
        self.owner = f"{os.getpid()}-{uuid4()}"
        self._db = db
        self._work = work
        self._recovery = recovery
        self._beat_s = beat_s
        self._look_s = min(LOOK_S, beat_s)
        self._looks = Threads("turnfold-looks", 2)
        self._changes = Threads("turnfold-changes", 2)  # a locked database must not keep others from looking
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._past_cutting = WeakSet[asyncio.Task[None]]()
        self._poked: set[str] = set()
        self._woken = self._stopped = False
        self._nudge = asyncio.Event()
        self._busy = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pulse: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to run jobs, those first that an earlier process left."""
        self._loop = asyncio.get_running_loop()
        self._pulse = [asyncio.create_task(self._keep_beating()), asyncio.create_task(self._keep_looking())]

    async def stop(self) -> None:
        """Cut what runs; what was committed stays, the rest is interrupted and taken up by the next process.

        Who waits for a job waits no longer; to stop twice changes nothing.
        """
        self._loop = None
        tasks = [*self._tasks.values(), *self._pulse]
        for task in tasks:
            self._cut(task)
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._changes(self._release)
        except SQLAlchemyError as error:
            # Their leases run out, and the next process finds them so.
            log.warning("jobs_not_released", detail=cause(error))
        self._stopped = True

    @property
    def alive(self) -> bool:
        """Whether the beat goes on."""
        return bool(self._pulse) and not any(task.done() for task in self._pulse)

    def poke(self, job_id: str) -> None:
        """Start a queued job soon; from any thread, before the start too."""
        loop = self._loop
        if loop is None:
            self._poked.add(job_id)
        else:
            loop.call_soon_threadsafe(self._begin, job_id)

    async def cancel(self, job_id: str) -> None:
        """Cut a job's task and wait until it is gone."""
        task = self._tasks.get(job_id)
        if task is not None:
            self._cut(task)
            await asyncio.wait([task])

    async def wait(self, job_id: str, seconds: float) -> bool:
        """Wait until a job has ended, in whatever process it runs; False if it has not by then.

        A job whose process died has ended too: where nobody else says so, this does. When this process stops nobody
        waits on.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        while (standing := await self._looks(self._standing, job_id)) != "ended":
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or self._stopped:
                return False
            task = self._tasks.get(job_id)
            if task is not None:
                # Not for ever: another process may have ended the job, and the look that cuts the task be late.
                await asyncio.wait([task], timeout=min(left, self._beat_s))
                continue
            if standing == "dead":
                await self._bear(lambda: self._changes(self._bury, job_id))
            await asyncio.sleep(min(left, POLL_S))
        return True

    def _begin(self, job_id: str) -> None:
        if job_id not in self._tasks and self._loop is not None:
            self._poked.discard(job_id)
            task = asyncio.create_task(self._run(job_id), name=f"job {job_id}")
            self._tasks[job_id] = task
            self._busy.set()
            task.add_done_callback(lambda _: self._over(job_id))

    def _over(self, job_id: str) -> None:
        del self._tasks[job_id]
        self._nudge.set()
        if not self._tasks:
            self._busy.clear()

    async def _run(self, job_id: str) -> None:
        try:
            chat_id = await self._changes(self._claim, job_id)
        except SQLAlchemyError as error:
            log.warning("job_not_claimed", job=job_id, detail=cause(error))
            self._poked.add(job_id)  # the next beat tries again
            return
        if chat_id is None:
            return
        journal.of_job(job_id, chat_id)
        try:
            await self._work.run(job_id, self.owner)
        except Exception:  # a bug in one job must not silence the runner; the job is ended, its chat left as it was
            log.exception("job_crashed", job=job_id)
            await self._work.crashed(job_id, self.owner)
        finally:
            self._past_cutting.add(self._tasks[job_id])  # its job has ended, so a look may find it lost
            await self._bear(lambda: self._tell_end(job_id))

    async def _tell_end(self, job_id: str) -> None:
        journal.ended(await self._looks(self._ending, job_id))

    async def _keep_beating(self) -> None:
        while True:
            await self._bear(self._renew_and_begin)
            await self._rest()

    async def _keep_looking(self) -> None:
        """One query by an index at a time, and none while nothing runs."""
        while True:
            await self._busy.wait()
            await self._bear(self._cut_lost)
            await asyncio.sleep(self._look_s)

    async def _bear(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await step()
        except SQLAlchemyError as error:
            # A full disk, a locked database or a busy pool passes; the beat must not end with it.
            log.warning("beat_failed", detail=cause(error))

    async def _cut_lost(self) -> None:
        """Cut tasks whose jobs another process ended, deleted or took over."""
        running = list(self._tasks)
        for job_id in await self._looks(self._lost, running) if running else ():
            task = self._tasks.get(job_id)
            if task is not None:
                self._cut(task)

    async def _renew_and_begin(self) -> None:
        """In this order, so that what still runs here is never taken for dead."""
        running = list(self._tasks)
        if running:
            await self._changes(self._renew, running)
        if not self._woken:
            await self._changes(self._recovery.wake)
            self._woken = True
        for job_id in [*self._poked, *await self._changes(self._recovery.recover, self.owner)]:
            self._begin(job_id)

    async def _rest(self) -> None:
        """Until the next beat, or until failed work is to be taken up again, if that comes first.

        Whenever a job ends it may have left such work, so the time is looked up anew.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + self._beat_s
        while True:
            self._nudge.clear()
            left = min(end - loop.time(), await self._until_retry())
            try:
                async with asyncio.timeout(max(left, _LEAST_REST_S)):
                    await self._nudge.wait()
            except TimeoutError:
                return

    async def _until_retry(self) -> float:
        """Seconds until the next retry; a whole beat if there is none, or it cannot be read."""
        try:
            moment = await self._looks(self._next_retry)
        except SQLAlchemyError as error:
            log.warning("beat_failed", detail=cause(error))
            return self._beat_s
        return self._beat_s if moment is None else (moment - now_ms()) / 1000

    def _cut(self, task: asyncio.Task[None]) -> None:
        """Cancel it once, and not when its work is over: that would cut what it does to end well.

        That is noted here, as `Task.cancelling` also counts what runs out of time inside the task.
        """
        if task not in self._past_cutting:
            self._past_cutting.add(task)
            task.cancel()

    def _lost(self, job_ids: list[str]) -> list[str]:
        with self._db.read() as session:
            return jobs.lost(session, job_ids, self.owner)

    def _renew(self, job_ids: list[str]) -> None:
        with self._db.write() as session:
            jobs.renew(session, job_ids, self.owner, LEASE_MS)

    def _next_retry(self) -> int | None:
        with self._db.read() as session:
            return chats.next_retry(session)

    def _claim(self, job_id: str) -> str | None:
        """The id of the job's chat, if the job is ours now."""
        with self._db.write() as session:
            job = jobs.claim(session, job_id, self.owner, LEASE_MS)
            chat = chats.get(session, job.chat_key) if job else None
            return chat.id if chat else None

    def _ending(self, job_id: str) -> dict[str, Any]:
        with self._db.read() as session:
            return journal.ending(jobs.by_id(session, job_id))

    def _standing(self, job_id: str) -> Standing:
        with self._db.read() as session:
            return _standing(jobs.by_id(session, job_id))

    def _bury(self, job_id: str) -> None:
        with self._db.write() as session:
            job = jobs.by_id(session, job_id)
            if job is not None and _standing(job) == "dead":
                jobs.interrupt(session, job, "The process that ran it ended.")

    def _release(self) -> None:
        with self._db.write() as session:
            for job in jobs.owned_by(session, self.owner):
                jobs.interrupt(session, job, "The server was shut down.")


def _standing(job: Job | None) -> Standing:
    if job is None or job.state not in jobs.ACTIVE:
        return "ended"
    return "dead" if job.state == "running" and (job.lease_until or 0) < now_ms() else "active"
