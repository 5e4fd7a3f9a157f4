"""What the log tells of a job: how it ended, what it did and what that cost."""

from typing import Any

import structlog

from app.store import jobs
from app.store.clock import now_ms
from app.store.tables import Job

log = structlog.get_logger()


def of_job(job_id: str, chat_id: str) -> None:
    """From here on every line of this task, and of those it starts, names the job and its chat; and nothing else: the
    request that happened to start a job does not stand in its lines.
    """
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(job=job_id, chat=chat_id)


def ending(job: Job | None) -> dict[str, Any]:
    """What is told of a job that this process runs no longer; times in seconds.

    A job that was cut and that nobody has ended is interrupted, whoever notes that.
    """
    if job is None:
        return {"state": "deleted"}
    usage = jobs.read_usage(job.usage)
    finished = job.finished_at or now_ms()
    return {
        "kind": job.kind,
        "state": "interrupted" if job.state in jobs.ACTIVE else job.state,
        "reason": job.reason,
        "done": job.done,
        "total": job.total,
        "failed": job.failed,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round((finished - (job.started_at or finished)) / 1000, 1),
    }


def ended(facts: dict[str, Any]) -> None:
    """A job has ended, well or badly, or is not run here any more; `facts` as from `ending`."""
    log.info("job_ended", **facts)
