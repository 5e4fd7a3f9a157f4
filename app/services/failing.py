"""What is stored when a step or a job fails, or is cut; the messages stay visible, and status says why."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlmodel import Session

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Message, Usage
from app.services.basis import note_usage
from app.services.failure import Failure, Reaction
from app.services.noting import note_progress
from app.services.planning import Step
from app.services.remaking import note_failure
from app.services.rewriting import note_skipped
from app.store import chats, events, jobs, messages
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.tables import Chat, Job

JOINED = "joined"
"""What the error of a job that begins nothing more says, once somebody has asked for more (starting.queue)."""


@dataclass(frozen=True)
class Failing:
    """Notes failures. A job that another process or a person ended by now is left alone; what was paid is noted."""

    db: Database

    def note(self, job_id: str, owner: str, step: Step, failure: Failure, reaction: Reaction, cost: Usage) -> Reaction:
        """A step failed for good; what the run is to do, which is to try again if what it was made of has changed."""
        with self.db.write() as session:
            found = _ours(session, job_id, owner, cost)
            if found is None:
                return reaction
            job, chat = found
            if isinstance(step.plan, Remake) and cost.calls:
                note_failure(session, step.plan)
            if reaction == "skip" and isinstance(step.plan, Fold) and not _skip(session, step, step.plan.covers):
                reaction = "again"
            job.failed += reaction != "again"
            chat.last_error = replace(failure, retry_at=None).report((chat.last_error or {}).get("refusals"))
            if reaction == "end":  # its end tells of it
                job.error = failure.report()
            else:
                _tell(session, chat, job, replace(failure, retry_at=None))
            if reaction in ("leave", "skip"):
                note_progress(session, job)
            return reaction

    def close(self, job_id: str, owner: str, failure: Failure) -> None:
        """Say that a job begins nothing more: who joins it from now on is served after it (see starting.queue)."""
        with self.db.write() as session:
            found = _ours(session, job_id, owner, Usage())
            if found is not None:
                found[0].error = failure.report()

    def pay(self, job_id: str, cost: Usage) -> None:
        """Count what was paid for answers that nobody can use any more."""
        with self.db.write() as session:
            job = jobs.by_id(session, job_id)
            note_usage(chats.get(session, job.chat_key) if job else None, job, cost)

    def end(self, job_id: str, owner: str, failure: Failure, cost: Usage, refused: Mapping[str, int]) -> None:
        """The job has failed; when it is taken up again is the failure's `retry_at`, or now if somebody asked since.

        `refused`: how often its batches were.
        """
        with self.db.write() as session:
            found = _ours(session, job_id, owner, cost)
            if found is None:
                return
            job, chat = found
            asked_again = bool(job.error and job.error.get(JOINED))
            chat.last_error = told = failure.report(refused)  # once: chat and job name the same moment
            chat.retry_at = now_ms() if asked_again else failure.retry_at
            if failure.skip:
                note_skipped(session, chat, failure.skip)
            jobs.finish(session, job, "failed", failure.skip or failure.detail, {**told, "refusals": {}})
            _tell(session, chat, job, failure)


def give_up(session: Session, chat: Chat, job: Job, failure: Failure) -> bool:
    """An answer has waited for a job long enough, and those until the failure's `retry_at` do not wait. Whether the job
    was ended: one that somebody asked for goes on.
    """
    told = failure.report()
    chat.last_error, chat.retry_at = told, failure.retry_at
    if job.kind != "fold":
        return False
    jobs.finish(session, job, "cancelled", failure.detail, told)
    _tell(session, chat, job, failure)
    return True


def _ours(session: Session, job_id: str, owner: str, cost: Usage) -> tuple[Job, Chat] | None:
    job = jobs.by_id(session, job_id)
    chat = chats.get(session, job.chat_key) if job else None
    note_usage(chat, job, cost)
    return (job, chat) if job is not None and chat is not None and jobs.runs(job, owner) else None


def _skip(session: Session, step: Step, covers: Sequence[Message]) -> bool:
    """Leave the turns of a fold to a person; False if they are not any more what the model has refused."""
    leaf = messages.leaf_of(step.basis.strategy)
    if leaf is None or not messages.unchanged(session, covers, leaf):
        return False
    messages.set_skipped(session, [message.key for message in covers])
    return True


def _tell(session: Session, chat: Chat, job: Job, failure: Failure) -> None:
    """The event `error`."""
    wanted = ("code", "detail", "connection", "status", "retry_at")
    told: dict[str, Any] = {name: value for name, value in asdict(failure).items() if name in wanted}
    session.flush()
    events.add(session, chat.key, "error", {**told, "job_id": job.id}, job.key)
