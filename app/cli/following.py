"""Folding a chat before somebody's eyes: `turnfold import --fold` and `turnfold backlog`."""

import asyncio
import shlex
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from app.assembly import Server
from app.cli.failing import INTERRUPTED, TERMINATED, CannotRun, fail
from app.cli.progress import Show, job_bar
from app.cli.showing import printable
from app.core.facts import count
from app.services.phrasing import waiting_text
from app.services.working import JobView

Choice = Literal["all", "one"]

_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Followed:
    """The job that was followed to its end; None and the reason if there was nothing to do."""

    job: JobView | None
    reason: str | None = None


def fold(server: Server, chat_id: str, choice: Choice) -> Followed:
    """Answer a chat's backlog and show its job, in whatever process it runs, until it has succeeded.

    Ctrl-C and SIGTERM stop it there. Raises CannotRun if it ends in another way, typer.Exit when it is stopped.
    """
    try:
        followed = asyncio.run(_followed(server, chat_id, choice))
    except KeyboardInterrupt:
        raise fail(_stopped(server, chat_id, choice), INTERRUPTED) from None
    except asyncio.CancelledError:
        raise fail(_stopped(server, chat_id, choice), TERMINATED) from None
    if followed.job is not None and followed.job.state in ("failed", "cancelled"):
        raise CannotRun(_unfinished(followed.job, choice))
    return followed


def command(chat_id: str, choice: str | None = None) -> str:
    """The command that goes on with a chat's backlog, or asks what to do with it."""
    asked = f" --{choice}" if choice else ""
    return f"turnfold backlog {shlex.quote(printable(chat_id))}{asked}"


async def _followed(server: Server, chat_id: str, choice: Choice) -> Followed:
    with _sigterm_cancels():
        await server.start()
        try:
            with job_bar() as show:
                return await _to_the_end(server, chat_id, choice, show)
        except asyncio.CancelledError:
            await server.services.steering.stop(chat_id)
            raise
        finally:
            await server.stop()


@contextmanager
def _sigterm_cancels() -> Iterator[None]:
    """SIGTERM cancels this task, as Ctrl-C does."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None  # a coroutine runs in one
    before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(task.cancel))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


async def _to_the_end(server: Server, chat_id: str, choice: Choice, show: Show) -> Followed:
    """If the process that runs the job ends, the work goes on: here, or in another process that was faster."""
    last: JobView | None = None
    while last is None or last.state == "interrupted":
        started = await asyncio.to_thread(server.services.steering.backlog, chat_id, choice)
        if started.job is None:
            return Followed(last, started.reason)
        last = await _ended(server, started.job, show)
    return Followed(last)


async def _ended(server: Server, job: JobView, show: Show) -> JobView:
    ended = False
    while not ended:
        show(job.progress, await asyncio.to_thread(_waits, server, job.chat_id))
        ended = await server.runner.wait(job.id, _LOOK_S)
        job = await asyncio.to_thread(server.services.working.get, job.id)
    return job


def _waits(server: Server, chat_id: str) -> str:
    """What a job waits for: a frontend, or in this process, which runs this one alone, a connection that fails."""
    waiting = server.services.reporting.waiting(chat_id)
    if waiting is not None:
        return waiting_text(waiting)
    for name, health in server.services.health.servers.healths().items():
        if health.retry_at is not None:
            return f"connection {name!r} fails, asked again at {health.retry_at:%H:%M:%S} UTC"
    return ""


def _stopped(server: Server, chat_id: str, choice: Choice) -> str:
    done = "before the first batch"
    for _, job in server.services.working.page(chat_id, None, None, 1):
        done = f"after {_batches(job)}"
    kept = count(server.services.reporting.status(chat_id).counts.ghosted, "message")
    return f"Stopped {done}. What is folded stays ({kept}), the rest is verbatim. `{command(chat_id, choice)}` goes on."


def _unfinished(job: JobView, choice: Choice) -> str:
    retry_at = job.error.retry_at if job.error else None
    itself = f" A running server tries again by itself from {retry_at:%H:%M:%S} UTC on." if retry_at else ""
    told = f"Folding ended after {_batches(job)}, which stay: {job.reason or job.state}{itself}"
    return f"{told} `{command(job.chat_id, choice)}` goes on."


def _batches(job: JobView) -> str:
    batches = "batch" if job.progress.total == 1 else "batches"
    return f"{job.progress.done} of {job.progress.total} {batches}"
