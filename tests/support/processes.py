"""Processes at one database, for tests of the runner: each with connections and a runner of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from app.jobs.runner import Runner
from app.services.starting import Starting
from app.store import chats, jobs
from app.store.engine import Database
from tests.support.waiting import until


class HeldWork:
    """Work that remembers what it ran and what was cut, and ends when it is let go."""

    def __init__(self, db: Database) -> None:
        self.ran: list[str] = []
        self.cut: list[str] = []
        self.crashes: list[str] = []
        self.fails = False
        self.go = asyncio.Event()
        self._db = db

    async def run(self, job_id: str, owner: str) -> None:
        self.ran.append(job_id)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cut.append(job_id)
            raise
        if self.fails:
            raise RuntimeError("a mistake of ours")
        self._finish(job_id, owner, "succeeded")

    async def crashed(self, job_id: str, owner: str) -> None:
        self.crashes.append(job_id)
        self._finish(job_id, owner, "failed")

    def _finish(self, job_id: str, owner: str, state: str) -> None:
        with self._db.write() as session:
            job = jobs.owned(session, job_id, owner)
            if job is not None:
                jobs.finish(session, job, state, None)


class Process:
    """One process at the database: its own connections, its own runner."""

    def __init__(self, url: str, *, resume_jobs: bool = True, beat_s: float = 0.02) -> None:
        self.db = Database(url)
        self.work = HeldWork(self.db)
        self.recovery = Starting(self.db, resume_jobs)
        self.runner = Runner(self.db, self.work, self.recovery, beat_s)

    def queue(self, chat_id: str = "c") -> str:
        with self.db.write() as session:
            chat = chats.find(session, chat_id) or chats.add(session, chat_id, {})
            return jobs.add(session, chat.key, "fold", 1).id

    def sql(self, statement: str) -> None:
        with self.db.write() as session:
            session.execute(text(statement))

    def column(self, of: str) -> int | None:
        with self.db.read() as session:
            found: int | None = session.execute(text(f"SELECT {of}")).scalar_one()
            return found

    def states(self) -> list[str]:
        with self.db.read() as session:
            return list(session.execute(text("SELECT state FROM jobs ORDER BY key")).scalars())

    async def running(self, job_id: str) -> None:
        await until(lambda: self.work.ran, lambda ran: job_id in ran)

    async def was_cut(self, job_id: str) -> None:
        await until(lambda: self.work.cut, lambda cut: job_id in cut)


@asynccontextmanager
async def living(process: Process) -> AsyncIterator[Process]:
    """The process, from its start to a clean stop."""
    await process.runner.start()
    try:
        yield process
    finally:
        await process.runner.stop()
        process.db.dispose()
