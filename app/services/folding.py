"""Running a job: read and plan, ask the model with no transaction open, commit if the plan still holds, repeat."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.core.healing import Remake
from app.core.model import Strategy, Usage
from app.core.promotion import Merge, Seed
from app.core.resolving import resolve
from app.core.rewrite import Rewrite, Skip
from app.core.summary import Summarizer, Summary, SummaryRequest, spent_on
from app.errors import ModelError, ModelRejected, ModelWithdrawn
from app.services import journal
from app.services.committing import commit_fold, commit_merge, commit_rewrite, commit_seed
from app.services.diagnosing import note_fold
from app.services.failing import Failing
from app.services.failure import (
    CRASHED,
    REFUSALS,
    TOO_LARGE,
    UNSETTLED,
    Circumstances,
    Failure,
    is_refusal,
    needs_rest,
    react,
    skip_of,
)
from app.services.planning import Look, Planning, Step
from app.services.ports import InThread
from app.services.reading import read_head
from app.services.remaking import commit_remake
from app.services.rewriting import note_skipped
from app.services.run import Entry, Run
from app.services.trying import Trying
from app.store import chats, jobs
from app.store.clock import now_ms, to_ms
from app.store.engine import Database
from app.store.faults import UNAVAILABLE, cause, reason
from app.store.tables import Job

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
    failing: Failing
    summarizer: Summarizer
    limits: Limits
    cooldown_s: float
    in_thread: InThread

    async def run(self, job_id: str, owner: str) -> None:
        """Do the work of a claimed job to its end. Cancelling it cuts all its calls to the model."""
        run = Run(job_id, owner)
        try:
            await self._steps(run)
        except UNAVAILABLE as error:
            run.end(_store_failure(error, self._after_cooldown()))
        finally:
            await self._pay(run, await run.cut())
        if run.failure is not None:
            await self._end(run, run.failure)

    async def crashed(self, job_id: str, owner: str) -> None:
        """End a job that met an error nobody foresaw; the chat is as it was, and says so."""
        await self._end(Run(job_id, owner), Failure("internal", CRASHED))

    async def _steps(self, run: Run) -> None:
        while await self._begin(run):
            await run.next_answer()
            entry = run.take()
            if entry is not None:
                await self._settle(run, entry)

    async def _begin(self, run: Run) -> bool:
        """Begin as many steps as may run at once; whether any is under way."""
        while run.has_room:
            try:
                look = await self.in_thread(self._plan, run)
            except ModelError as error:  # the connection cannot be used as it is set
                await self._close(run, Failure.of(error, self._retry_at(error), None))
                break
            if look.failure is not None:
                await self._close(run, look.failure)
            if look.step is None:
                break
            run.width = look.width
            run.begin(look.step, self._ask)
        return bool(run.entries) and not run.lost

    async def _ask(self, step: Step, request: SummaryRequest) -> Summary:
        return await Trying(self.summarizer).summarize(request, step.others)

    async def _settle(self, run: Run, entry: Entry) -> None:
        """Store what came back, or note that nothing did."""
        if isinstance(entry.error, ModelWithdrawn):
            return  # nobody failed: it is planned anew
        if entry.error is not None:
            await self._react(run, entry.step, entry.error)
            return
        run.unnoted = entry.summary.usage if entry.summary else Usage()
        done = await self.in_thread(self._commit, entry.step, entry.summary)
        run.unnoted = Usage()
        if done:
            run.note_commit(entry.step, entry.summary)
            seconds = monotonic() - entry.begun
            journal.committed(entry.step.batch, entry.summary, folds=run.headway.folds, seconds=seconds)
        else:
            run.note_spoiled(entry.step)
        if run.unsettled:
            await self._close(run, Failure("internal", UNSETTLED, retry_at=self._after_cooldown()))

    async def _react(self, run: Run, step: Step, error: ModelError) -> None:
        """Note that a step failed, and do about it what the rules say."""
        times = max(step.refused, run.refused[step.batch]) + 1 if is_refusal(error) else 0
        at = Circumstances(times, run.credit_of(step), run.width > 1, step.aside, step.waits)
        reaction = react(error, step.plan, at)
        # What was refused for the last time waits for a person or the next append, not for the connection.
        retry_at = None if times >= REFUSALS or _waits_for_answer(step) else self._retry_at(error)
        failure = Failure.of(error, retry_at, step.batch, skip_of(error) if isinstance(step.plan, Rewrite) else None)
        run.unnoted = spent_on(error)
        note = partial(self.failing.note, run.job_id, run.owner)
        reaction = await self.in_thread(note, step, failure, reaction, run.unnoted)
        run.unnoted = Usage()
        passes = not (is_refusal(error) or needs_rest(error))
        run.note_failure(step, reaction, failure, times=times, passes=passes)

    def _plan(self, run: Run) -> Look:
        """The next step; with none left the job ends, in a transaction that sees every append."""
        with self.db.read() as session:
            look = self._look(session, run)
        if look.step is not None or look.failure is not None or run.entries or run.over:
            return look
        with self.db.write() as session:
            look = self._look(session, run)
            job = jobs.owned(session, run.job_id, run.owner)
            if look.step is None and look.failure is None and job is not None and run.failure is None:
                jobs.finish(session, job, "succeeded", _ending(session, job, run, look.skip))
        return look

    def _look(self, session: Session, run: Run) -> Look:
        job = jobs.look(session, run.job_id, run.owner)
        if job is None:
            run.lost = True
            return Look(None)
        look = self.planning.look(session, job, run.owner, run.standing)
        reached = self._limit_reached(job, look.step, len(run.calls)) if look.step is not None else None
        return look if reached is None else Look(None, failure=Failure("limit_reached", reached))

    def _limit_reached(self, job: Job, step: Step, calls: int) -> str | None:
        """Why a job may do no more. One that waits for a frontend may take as long as people are away."""
        made = jobs.read_usage(job.usage).calls + calls
        spent = (now_ms() - (job.started_at or now_ms())) / 1000
        if made >= self.limits.calls:
            limit = f"made {made} calls, as many as one job may (TURNFOLD_JOB_MAX_CALLS)"
        elif spent >= self.limits.seconds and not (step.request and step.request.connection.provider == "client"):
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
            if isinstance(step.plan, Rewrite):
                return self._commit_rewrite(session, step, step.plan, summary, tokens)
            if isinstance(step.plan, Remake):
                return commit_remake(session, step.basis, step.plan, summary, tokens)
            return commit_fold(session, step.basis, step.plan, summary, tokens)

    def _commit_rewrite(self, session: Session, step: Step, plan: Rewrite, summary: Summary, tokens: int) -> bool:
        done = commit_rewrite(session, step.basis, plan, summary, tokens)
        chat = chats.get(session, step.basis.chat_key) if done else None
        if chat is not None and step.request is not None:
            settings = resolve(chats.server_settings(session), chat.settings)[0]
            note_fold(session, chat, settings, plan.dialog - 1, plan, step.request, summary)
        return done

    async def _close(self, run: Run, failure: Failure) -> None:
        """Begin nothing more, and say so while something is under way."""
        run.end(failure)
        if run.entries:
            await self.in_thread(self.failing.close, run.job_id, run.owner, failure)

    async def _pay(self, run: Run, cost: Usage) -> None:
        """Note what was paid for answers that were not waited for."""
        try:
            if cost != Usage():
                await self.in_thread(self.failing.pay, run.job_id, cost)
        except SQLAlchemyError as error:
            log.warning("cost_not_noted", job=run.job_id, calls=cost.calls, detail=cause(error))

    async def _end(self, run: Run, failure: Failure) -> None:
        """End a job that failed. If even that cannot be written its lease runs out, and it is found so."""
        try:
            await self.in_thread(self.failing.end, run.job_id, run.owner, failure, run.unnoted, run.refused)
        except SQLAlchemyError as error:
            log.warning("job_not_ended", job=run.job_id, detail=cause(error))
            return
        log.warning(
            "job_failed", job=run.job_id, connection=failure.connection, status=failure.status, detail=failure.detail
        )

    def _retry_at(self, error: ModelError) -> int | None:
        """A wrong key or address waits for a person and the next append; a batch that is refused, and anything else,
        for the connection to cool down.
        """
        if error.retry_at is None and (is_refusal(error) or not isinstance(error, ModelRejected)):
            return self._after_cooldown()
        return to_ms(error.retry_at) if error.retry_at else None

    def _after_cooldown(self) -> int:
        return to_ms(datetime.now(UTC) + timedelta(seconds=self.cooldown_s))


def _ending(session: Session, job: Job, run: Run, skip: Skip | None) -> str | None:
    """Why a job ended without folding anything, or what it left."""
    if run.skipped_turns:
        return f"The model refused {run.skipped_turns} turns again and again; they stay as they are (on_refused: wait)."
    if run.headway.folds or job.done:
        return None
    chat = chats.get(session, job.chat_key)
    if chat is not None and skip is not None:
        note_skipped(session, chat, skip.reason)
        if skip.reason == "input_too_large":  # it will be so after every reply: somebody should know
            chat.last_error = Failure("invalid_request", TOO_LARGE, skip=skip.reason).report()
    reason = read_head(session, chat).idle_reason() if chat else None
    return reason or (skip.reason if skip else "nothing_to_fold")


def _waits_for_answer(step: Step) -> bool:
    """Whether its fold is tried again before the next answer rather than by itself."""
    return step.basis.strategy == Strategy.SUMMARY_BUFFER


def _store_failure(error: SQLAlchemyError, retry_at: int) -> Failure:
    detail = f"The memory could not be stored: the database did not take it, because {reason(error)}."
    return Failure("internal", detail, retry_at=retry_at)
