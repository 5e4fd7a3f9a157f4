"""Jobs as they are shown, and cancelling one."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core.model import Usage
from app.core.progress import Progress
from app.errors import NotFound
from app.services.ports import Runner
from app.services.reading import require_chat
from app.services.rewriting import note_skipped
from app.store import chats, jobs, trees
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.tables import Job


@dataclass(frozen=True, slots=True)
class ErrorView:
    """Why a summary could not be had. `retry_at`: when it is tried again by itself."""

    code: str
    detail: str
    connection: str
    status: int | None
    at: datetime
    retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as it is shown."""

    id: str
    chat_id: str
    kind: str
    state: str
    progress: Progress
    usage: Usage
    reason: str | None
    error: ErrorView | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class Working:
    """Reads jobs."""

    db: Database
    runner: Runner

    def get(self, job_id: str) -> JobView:
        """One job. Raises NotFound."""
        with self.db.read() as session:
            job = jobs.by_id(session, job_id)
            chat = chats.get(session, job.chat_key) if job else None
            if job is None or chat is None:
                raise NotFound(f"There is no job {job_id!r}.")
            return show_job(job, chat.id)

    def page(self, chat_id: str | None, state: str | None, before: int | None, limit: int) -> list[tuple[int, JobView]]:
        """Jobs, newest first, each with its place in the list. Raises NotFound."""
        with self.db.read() as session:
            where = [jobs.of_chat(require_chat(session, chat_id).key)] if chat_id else []
            if state:
                where.append(jobs.in_state(state))
            found = jobs.matching(session, where, before, limit)
            names = {job.chat_key: chats.get(session, job.chat_key) for job in found}
            return [(job.key, show_job(job, chat.id)) for job in found if (chat := names[job.chat_key]) is not None]

    async def cancel(self, job_id: str) -> JobView:
        """Cut a job; one that has ended stays as it is. Raises NotFound."""
        await asyncio.to_thread(self._end, job_id)
        await self.runner.cancel(job_id)
        return await asyncio.to_thread(self.get, job_id)

    def _end(self, job_id: str) -> None:
        with self.db.write() as session:
            job = jobs.by_id(session, job_id)
            if job is not None and job.state in jobs.ACTIVE:
                jobs.finish(session, job, "cancelled", "Cancelled on request.")
                chat = chats.get(session, job.chat_key)
                if chat is not None:
                    note_skipped(session, chat, "cancelled")
                trees.withdraw_asked(session, job.chat_key)


def show_job(job: Job, chat_id: str, at: int | None = None) -> JobView:
    """A job as it is shown, now or as it was `at` a moment (epoch ms)."""
    return JobView(
        id=job.id,
        chat_id=chat_id,
        kind=job.kind,
        state=job.state,
        progress=jobs.progress_of(job, at or now_ms()),
        usage=jobs.read_usage(job.usage),
        reason=job.reason,
        error=show_error(job.error),
        created_at=from_ms(job.created_at),
        started_at=from_ms(job.started_at) if job.started_at else None,
        finished_at=from_ms(job.finished_at) if job.finished_at else None,
    )


def show_error(stored: dict[str, Any] | None) -> ErrorView | None:
    """A stored failure as it is shown."""
    if stored is None:
        return None
    retry_at = from_ms(stored["retry_at"]) if stored["retry_at"] else None
    return ErrorView(
        stored["code"], stored["detail"], stored["connection"], stored["status"], from_ms(stored["at"]), retry_at
    )
