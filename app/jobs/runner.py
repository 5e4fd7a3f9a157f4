"""Runs jobs in this process: one asyncio task a job, a lease in the database, and a beat that keeps both honest."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

import structlog
from sqlalchemy.exc import OperationalError

from app.store import jobs
from app.store.engine import Database

log = structlog.get_logger()

LEASE_MS = 10_000
BEAT_S = 2.0
POLL_S = 0.05


class Retry(Protocol):
    """When the work on a chat is taken up again."""

    @property
    def chat_key(self) -> int: ...
    @property
    def moment(self) -> datetime: ...


Work = Callable[[str, str], Awaitable[Retry | None]]
"""Does a claimed job (id, owner) to its end."""


class Runner:
    """Starts queued jobs, cuts cancelled ones, renews leases and finds the jobs of processes that died.

    `resume` queues what is due on a chat and returns the job's id. `recover` marks what dead processes left and returns
    the ids of jobs that wait; it is told whether it is asked for the first time.
    """

    def __init__(
        self,
        db: Database,
        work: Work,
        resume: Callable[[int], str | None],
        recover: Callable[[bool], list[str]],
    ) -> None:
        self.owner = f"{os.getpid()}-{uuid4()}"
        self._db = db
        self._work = work
        self._resume = resume
        self._recover = recover
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beat: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to run jobs, those first that an earlier process left."""
        self._loop = asyncio.get_running_loop()
        self._beat = asyncio.create_task(self._keep_beating())

    async def stop(self) -> None:
        """Cut what runs; what was committed stays, the rest is interrupted and taken up by the next process."""
        for timer in self._timers.values():
            timer.cancel()
        tasks = [*self._tasks.values(), *([self._beat] if self._beat else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._release)
        self._loop = None

    @property
    def alive(self) -> bool:
        """Whether the beat goes on."""
        return self._beat is not None and not self._beat.done()

    def poke(self, job_id: str) -> None:
        """Start a queued job soon; from any thread. Before the start there is nothing to do: it finds the job."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._begin, job_id)

    async def cancel(self, job_id: str) -> None:
        """Cut a job's task and wait until it is gone."""
        task = self._tasks.get(job_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def wait(self, job_id: str, seconds: float) -> bool:
        """Wait until a job has ended, in whatever process it runs; False if it has not by then."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not await asyncio.to_thread(self._ended, job_id):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return False
            task = self._tasks.get(job_id)
            if task is not None:
                await asyncio.wait([task], timeout=left)
            else:
                await asyncio.sleep(min(left, POLL_S))
        return True

    def _begin(self, job_id: str) -> None:
        if job_id not in self._tasks:
            task = asyncio.create_task(self._run(job_id), name=f"job {job_id}")
            self._tasks[job_id] = task
            task.add_done_callback(lambda _: self._tasks.pop(job_id, None))

    async def _run(self, job_id: str) -> None:
        if not await asyncio.to_thread(self._claim, job_id):
            return
        try:
            retry = await self._work(job_id, self.owner)
        except Exception:
            # A bug in one job must not silence the runner; the job is ended, and its chat is left as it was.
            log.exception("job_crashed", job=job_id)
            await asyncio.to_thread(self._end, job_id)
            return
        if retry is not None:
            self._take_up_later(retry)

    def _take_up_later(self, retry: Retry) -> None:
        loop = asyncio.get_running_loop()
        seconds = max(0.0, (retry.moment - datetime.now(UTC)).total_seconds())
        old = self._timers.pop(retry.chat_key, None)
        if old is not None:
            old.cancel()
        self._timers[retry.chat_key] = loop.call_later(seconds, self._take_up, retry.chat_key)

    def _take_up(self, chat_key: int) -> None:
        self._timers.pop(chat_key, None)
        task = asyncio.create_task(self._resume_chat(chat_key))
        self._tasks[f"resume {chat_key}"] = task
        task.add_done_callback(lambda _: self._tasks.pop(f"resume {chat_key}", None))

    async def _resume_chat(self, chat_key: int) -> None:
        job_id = await asyncio.to_thread(self._resume, chat_key)
        if job_id is not None:
            self._begin(job_id)

    async def _keep_beating(self) -> None:
        first = True
        while True:
            try:
                await self._beat_once(first=first)
                first = False
            except OperationalError as error:
                # A full disk or a locked database passes; the beat must not end with it.
                log.warning("beat_failed", detail=str(error.orig))
            await asyncio.sleep(BEAT_S)

    async def _beat_once(self, *, first: bool) -> None:
        for job_id in await asyncio.to_thread(self._renew_and_recover, first):
            self._begin(job_id)
        for job_id in await asyncio.to_thread(self._taken_away):
            await self.cancel(job_id)

    def _renew_and_recover(self, first: bool) -> list[str]:
        running = list(self._tasks)
        if running:
            with self._db.write() as session:
                jobs.renew(session, running, self.owner, LEASE_MS)
        return self._recover(first)

    def _taken_away(self) -> list[str]:
        """Jobs we still run that have ended in the store: another process cancelled them."""
        with self._db.read() as session:
            found = [jobs.by_id(session, job_id) for job_id in list(self._tasks)]
            return [job.id for job in found if job is not None and job.state not in jobs.ACTIVE]

    def _claim(self, job_id: str) -> bool:
        with self._db.write() as session:
            return jobs.claim(session, job_id, self.owner, LEASE_MS) is not None

    def _ended(self, job_id: str) -> bool:
        with self._db.read() as session:
            job = jobs.by_id(session, job_id)
            return job is None or job.state not in jobs.ACTIVE

    def _end(self, job_id: str) -> None:
        with self._db.write() as session:
            job = jobs.owned(session, job_id, self.owner)
            if job is not None:
                jobs.finish(job, "failed", "An error inside Turnfold ended this job; the log says which.")

    def _release(self) -> None:
        with self._db.write() as session:
            for job in jobs.owned_by(session, self.owner):
                jobs.finish(job, "interrupted", "The server was shut down.")
