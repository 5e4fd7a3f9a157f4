"""Running a job: read and plan, ask the model with no transaction open, commit if the plan still holds, repeat."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Usage
from app.core.promotion import Merge, Seed
from app.core.summary import Connection, Summarizer, Summary, SummaryRequest
from app.errors import ModelError, ModelRejected
from app.services.basis import note_usage
from app.services.committing import commit_fold, commit_merge, commit_seed
from app.services.failure import CRASHED, UNSETTLED, Failure, Reaction, is_refusal, react
from app.services.planning import Look, Planning, Step
from app.services.ports import InThread
from app.services.reading import read_state
from app.services.remaking import commit_remake, note_failure
from app.services.run import Entry, Run
from app.store import chats, events, jobs, messages
from app.store.clock import now_ms, to_ms
from app.store.engine import Database
from app.store.faults import UNAVAILABLE, cause, reason
from app.store.tables import Chat, Job

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one job may do: model calls, and seconds."""

    calls: int
    seconds: float


@dataclass(frozen=True)
class Folding:
    """Carries jobs out. `cooldown_s`: how long after a failure the work is taken up again by itself.

    `in_thread` bears with a database that is locked for a while: an answer that was paid for is not thrown away.
    """

    db: Database
    planning: Planning
    summarizer: Summarizer
    limits: Limits
    cooldown_s: float
    in_thread: InThread

    async def run(self, job_id: str, owner: str) -> None:
        """Do the work of a claimed job to its end. Cancelling it cuts all its calls to the model."""
        run = Run(job_id, owner)
        try:
            await self._steps(run)
        except ModelError as error:
            run.end(Failure.of(error, self._retry_at(error), None, 0))
        except UNAVAILABLE as error:
            run.end(_store_failure(error, self._after_cooldown()))
        finally:
            await run.cut()
        if run.failure is not None:
            await self._end(job_id, owner, run.failure, run.unnoted)

    async def crashed(self, job_id: str, owner: str) -> None:
        """End a job that met an error nobody foresaw; the chat is as it was, and says so."""
        await self._end(job_id, owner, Failure("internal", CRASHED), Usage())

    async def _steps(self, run: Run) -> None:
        while await self._begin(run):
            await run.next_answer()
            while (entry := run.take()) is not None:
                await self._settle(run, entry)

    async def _begin(self, run: Run) -> bool:
        """Begin as many steps as may run at once; whether any is under way."""
        while run.has_room:
            look = await self.in_thread(self._plan, run)
            run.width = look.width
            if run.lost:
                return False
            if look.step is None:
                break
            run.begin(look.step, self._ask)
        return bool(run.entries)

    async def _ask(self, step: Step) -> Summary:
        assert step.request is not None  # a step without a question is never asked
        return await self._summarize(step.request, step.others)

    async def _summarize(self, request: SummaryRequest, others: Sequence[Connection]) -> Summary:
        """The summary, by another connection if the first one fails: then it is degraded."""
        try:
            return await self.summarizer.summarize(request)
        except ModelError as error:
            if not others:
                raise
            failed = Usage(calls=error.calls)
        summary = await self._summarize(replace(request, connection=others[0]), others[1:])
        return replace(summary, degraded=True, usage=failed + summary.usage)

    async def _settle(self, run: Run, entry: Entry) -> None:
        """Store what came back, or note that nothing did."""
        if entry.error is not None:
            await self._react(run, entry.step, entry.error)
            return
        run.unnoted = entry.summary.usage if entry.summary else Usage()
        done = await self.in_thread(self._commit, entry.step, entry.summary)
        run.unnoted = Usage()
        if done:
            run.committed(entry.step, entry.summary)
        else:
            run.spoiled += 1
        if run.unsettled:
            run.end(Failure("internal", UNSETTLED, retry_at=self._after_cooldown()))

    async def _react(self, run: Run, step: Step, error: ModelError) -> None:
        times = max(step.refused, run.refused[step.batch]) + 1 if is_refusal(error) else 0
        reaction = react(error, step.plan, times=times, credit=run.credit, alone=run.width == 1, waits=step.waits)
        failure = Failure.of(error, self._retry_at(error), step.batch, times)
        await self.in_thread(self._note, run, step, failure, reaction, Usage(calls=error.calls))
        run.failed(step, reaction, failure)

    def _plan(self, run: Run) -> Look:
        """The next step; with none left the job ends, in a transaction that sees every append."""
        with self.db.read() as session:
            look = self._look(session, run)
        if look.step is not None or run.entries or run.over:
            return look
        with self.db.write() as session:
            look = self._look(session, run)
            job = jobs.owned(session, run.job_id, run.owner)
            if look.step is None and job is not None and run.failure is None:
                jobs.finish(session, job, "succeeded", _ending(session, job, run))
        return look

    def _look(self, session: Session, run: Run) -> Look:
        job = jobs.owned(session, run.job_id, run.owner)
        if job is None:
            run.lost = True
            return Look(None)
        look = self.planning.look(session, job, run.owner, run.progress)
        reached = self._limit_reached(job, len(run.calls)) if look.step is not None else None
        if reached is None:
            return look
        run.end(Failure("rate_limited", reached))
        return Look(None)

    def _limit_reached(self, job: Job, calls: int) -> str | None:
        """Why a job may do no more."""
        made = jobs.read_usage(job.usage).calls + calls
        spent = (now_ms() - (job.started_at or now_ms())) / 1000
        if made >= self.limits.calls:
            limit = f"made {made} calls, as many as one job may (TURNFOLD_JOB_MAX_CALLS)"
        elif spent >= self.limits.seconds:
            limit = f"took {spent:.0f} s, as long as one job may (TURNFOLD_JOB_MAX_S)"
        else:
            return None
        return f"This job {limit}. What is folded stays; the next message, or POST …/summarize, goes on."

    def _commit(self, step: Step, summary: Summary | None) -> bool:
        tokens = step.request.source_tokens if step.request else 0
        with self.db.write() as session:
            if isinstance(step.plan, Seed):
                return commit_seed(session, step.basis, step.plan)
            if summary is None:
                return False
            if isinstance(step.plan, Merge):
                return commit_merge(session, step.basis, step.plan, summary, tokens)
            if isinstance(step.plan, Remake):
                return commit_remake(session, step.basis, step.plan, summary, tokens)
            return commit_fold(session, step.basis, step.plan, summary, tokens)

    def _note(self, run: Run, step: Step, failure: Failure, reaction: Reaction, cost: Usage) -> None:
        """Note that a step failed: its messages stay visible, and status says why."""
        with self.db.write() as session:
            job = jobs.by_id(session, run.job_id)
            chat = chats.get(session, step.basis.chat_key)
            note_usage(chat, job, cost)
            if job is None or chat is None or not jobs.runs(job, run.owner):
                return
            if isinstance(step.plan, Remake) and cost.calls:
                note_failure(session, step.plan)
            if reaction == "skip" and isinstance(step.plan, Fold):
                messages.set_skipped(session, [message.key for message in step.plan.covers])
            job.failed += reaction != "again"
            chat.last_error = {**failure.report(), "retry_at": None}
            if reaction != "end":  # the end of the job tells of that
                _tell(session, chat, job, failure)

    async def _end(self, job_id: str, owner: str, failure: Failure, cost: Usage) -> None:
        """End a job that failed. If even that cannot be written its lease runs out, and it is found so."""
        try:
            await self.in_thread(self._fail, job_id, owner, failure, cost)
        except SQLAlchemyError as error:
            log.warning("job_not_ended", job=job_id, detail=cause(error))
            return
        log.warning(
            "job_failed", job=job_id, connection=failure.connection, status=failure.status, detail=failure.detail
        )

    def _fail(self, job_id: str, owner: str, failure: Failure, cost: Usage) -> None:
        """The messages stay visible, and status says what is wrong and when it goes on."""
        with self.db.write() as session:
            job = jobs.by_id(session, job_id)
            chat = chats.get(session, job.chat_key) if job else None
            note_usage(chat, job, cost)
            if job is None or chat is None or not jobs.runs(job, owner):
                return
            chat.last_error, chat.retry_at = failure.report(), failure.retry_at
            jobs.finish(session, job, "failed", failure.detail, failure.report())
            _tell(session, chat, job, failure)

    def _retry_at(self, error: ModelError) -> int | None:
        """A wrong key or address waits for a person and the next append; a batch that is refused, and anything else,
        for the connection to cool down.
        """
        if error.retry_at is None and (is_refusal(error) or not isinstance(error, ModelRejected)):
            return self._after_cooldown()
        return to_ms(error.retry_at) if error.retry_at else None

    def _after_cooldown(self) -> int:
        return to_ms(datetime.now(UTC) + timedelta(seconds=self.cooldown_s))


def _tell(session: Session, chat: Chat, job: Job, failure: Failure) -> None:
    """The event `error`."""
    wanted = ("code", "detail", "connection", "status", "retry_at")
    told: dict[str, Any] = {name: value for name, value in asdict(failure).items() if name in wanted}
    session.flush()
    events.add(session, chat.key, "error", {**told, "job_id": job.id}, job.key)


def _ending(session: Session, job: Job, run: Run) -> str | None:
    """Why a job ended without folding anything, or what it left."""
    if run.skipped_turns:
        return f"The model refused {run.skipped_turns} turns again and again; they stay as they are (on_refused: wait)."
    if run.headway.folds or job.done:
        return None
    chat = chats.get(session, job.chat_key)
    reason = read_state(session, chat).idle_reason() if chat else None
    return reason or "nothing_to_fold"


def _store_failure(error: SQLAlchemyError, retry_at: int) -> Failure:
    detail = f"The memory could not be stored: the database did not take it, because {reason(error)}."
    return Failure("internal", detail, retry_at=retry_at)
