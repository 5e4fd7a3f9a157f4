"""What the log tells of the work on a chat. Job and chat are bound to every line by whoever runs the job."""

import structlog

from app.core.model import Usage
from app.core.summary import Summary

log = structlog.get_logger()


def committed(batch: str, summary: Summary | None, *, folds: int, seconds: float) -> None:
    """A step was stored, so many seconds after it began; without a summary a snippet moved by itself.

    `folds` counts those of this run.
    """
    usage = summary.usage if summary else Usage()
    log.info(
        "batch_committed",
        batch=batch,
        connection=summary.connection if summary else None,
        degraded=summary.degraded if summary else False,
        folds=folds,
        calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        seconds=round(seconds, 2),
    )
