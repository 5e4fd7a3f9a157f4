"""Running a job: read and plan, ask the model with no transaction open, commit if the plan still holds, repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Usage
from app.core.promotion import Merge, Seed
from app.core.settings import ChatSettings
from app.core.summary import Connection, Summarizer, Summary, SummaryRequest
from app.errors import InvalidRequest, ModelError, ModelRejected, NotFound
from app.services.asking import Asking
from app.services.basis import Basis, note_usage
from app.services.choosing import Headway, Plan, choose, remember
from app.services.committing import commit_fold, commit_merge, commit_seed
from app.services.connections import EXTRACTIVE, Connections
from app.services.failure import CRASHED, REFUSALS, UNSETTLED, Failure, batch_of, refusals
from app.services.ports import InThread
from app.services.reading import ChatState, read_head, read_state
from app.services.remaking import commit_remake, note_failure
from app.store import chats, jobs
from app.store.clock import to_ms
from app.store.engine import Database
from app.store.faults import UNAVAILABLE, cause, reason
from app.store.tables import Job

log = structlog.get_logger()

_MOST_REFUSED = 20
"""So many answers in a row that came too late to hold: rather than ask on, a job ends and is taken up again later."""


@dataclass
class _Run:
    """What a run remembers between its steps. `unnoted`: what was paid for a summary that is not stored yet;
    `refused`: how many plans in a row did not hold any more when their answers came.
    """

    headway: Headway = field(default_factory=Headway)
    refused: int = 0
    unnoted: Usage = field(default_factory=Usage)
    step: "_Step | None" = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A planned step and, unless it is a seed move, what is asked for it, and of whom if the first one fails."""

    basis: Basis
    plan: Plan
    request: SummaryRequest | None
    others: tuple[Connection, ...]

    @property
    def batch(self) -> str:
        return batch_of(self.plan)


@dataclass(frozen=True)
class Folding:
    """Carries jobs out. `cooldown_s`: how long after a failure the work is taken up again by itself.

    `in_thread` bears with a database that is locked for a while: an answer that was paid for is not thrown away.
    """

    db: Database
    asking: Asking
    connections: Connections
    summarizer: Summarizer
    cooldown_s: float
    in_thread: InThread

    async def run(self, job_id: str, owner: str) -> None:
        """Do the work of a claimed job to its end. Cancelling it cuts the call to the model."""
        run = _Run()
        try:
            await self._steps(job_id, owner, run)
        except ModelError as error:
            failure = Failure.of(error, self._retry_at(error), run.step.batch if run.step else None)
            await self._end(job_id, owner, failure, Usage(calls=error.calls), run.step)
        except UNAVAILABLE as error:
            await self._end(job_id, owner, _store_failure(error, self._after_cooldown()), run.unnoted)

    async def crashed(self, job_id: str, owner: str) -> None:
        """End a job that met an error nobody foresaw; the chat is as it was, and says so."""
        await self._end(job_id, owner, Failure("internal", CRASHED), Usage())

    async def _steps(self, job_id: str, owner: str, run: _Run) -> None:
        while step := await self.in_thread(self._plan, job_id, owner, run):
            run.step = step
            summary = await self._summarize(step.request, step.others) if step.request else None
            run.unnoted = summary.usage if summary else Usage()
            done = await self.in_thread(self._commit, step, summary)
            run.unnoted = Usage()
            run.refused = 0 if done else run.refused + 1
            if done:
                remember(run.headway, step.plan, summary)
            elif run.refused == _MOST_REFUSED:
                await self._end(job_id, owner, Failure("internal", UNSETTLED, retry_at=self._after_cooldown()), Usage())
                return

    async def _end(self, job_id: str, owner: str, failure: Failure, cost: Usage, step: _Step | None = None) -> None:
        """End a job that failed. If even that cannot be written its lease runs out, and it is found so."""
        try:
            await self.in_thread(self._fail, job_id, owner, failure, cost, step)
        except SQLAlchemyError as error:
            log.warning("job_not_ended", job=job_id, detail=cause(error))
            return
        log.warning(
            "job_failed", job=job_id, connection=failure.connection, status=failure.status, detail=failure.detail
        )

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

    def _plan(self, job_id: str, owner: str, run: _Run) -> _Step | None:
        """The next step; with none left the job ends, in a transaction that sees every append."""
        with self.db.read() as session:
            step = self._next(session, job_id, owner, run)
        if step is not None:
            return step
        with self.db.write() as session:
            step = self._next(session, job_id, owner, run)
            job = jobs.owned(session, job_id, owner)
            if step is None and job is not None:
                jobs.finish(session, job, "succeeded", _ending(session, job, run))
        return step

    def _next(self, session: Session, job_id: str, owner: str, run: _Run) -> _Step | None:
        job = jobs.owned(session, job_id, owner)
        chat = chats.get(session, job.chat_key) if job else None
        if job is None or chat is None:
            return None
        state = read_head(session, chat)
        basis = Basis(chat.key, chat.epoch, chat.strategy, job_id, owner)
        plan = choose(session, state, job, run.headway)
        if plan is None and state.later:
            state = read_state(session, chat)
            plan = choose(session, state, job, run.headway)
        if plan is None:
            return None
        return _Step(basis, plan, self._request(session, state, plan), self._others(session, state, plan))

    def _request(self, session: Session, state: ChatState, plan: Plan) -> SummaryRequest | None:
        if isinstance(plan, Seed):
            return None
        connection = self._connection(session, _connection_name(state.settings, plan))
        if isinstance(plan, Merge):
            return self.asking.merge(state, plan, connection)
        if isinstance(plan, Remake):
            return self.asking.remake(session, state, plan, connection)
        return self.asking.fold(session, state, plan, connection)

    def _connection(self, session: Session, name: str) -> Connection:
        try:
            return self.connections.resolve(session, name)
        except (NotFound, InvalidRequest) as error:
            raise ModelRejected(error.detail, connection=name) from error

    def _others(self, session: Session, state: ChatState, plan: Plan) -> tuple[Connection, ...]:
        """Who is asked if the first one fails: the fallback; and for a batch refused twice, the built-in summarizer.

        A snippet that is made anew has a text already, which is better than that one's.
        """
        fallback = self._fallback(session, state)
        if isinstance(plan, Remake):
            return (fallback,) if fallback else ()
        last = EXTRACTIVE if refusals(state.chat.last_error, batch_of(plan)) >= REFUSALS - 1 else None
        return tuple(connection for connection in (fallback, last) if connection is not None)

    def _fallback(self, session: Session, state: ChatState) -> Connection | None:
        """None too where it does not exist: the first connection may do."""
        name = state.settings.fallback_connection
        try:
            return self._connection(session, name) if name else None
        except ModelRejected as error:
            log.warning("fallback_missing", connection=name, detail=error.detail)
            return None

    def _commit(self, step: _Step, summary: Summary | None) -> bool:
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

    def _fail(self, job_id: str, owner: str, failure: Failure, cost: Usage, step: _Step | None) -> None:
        """The messages stay visible, and status says what is wrong and when it goes on."""
        with self.db.write() as session:
            job = jobs.by_id(session, job_id)
            chat = chats.get(session, job.chat_key) if job else None
            note_usage(chat, job, cost)
            if job is None or chat is None or not jobs.runs(job, owner):
                return
            job.failed += 1
            if step is not None and isinstance(step.plan, Remake) and cost.calls:
                note_failure(session, step.plan)
            times = refusals(chat.last_error, failure.refused) + 1 if failure.refused is not None else 0
            report = failure.report()
            chat.last_error, chat.retry_at = {**report, "times": times}, failure.retry_at
            jobs.finish(session, job, "failed", failure.detail, report)

    def _retry_at(self, error: ModelError) -> int | None:
        """A refusal waits for a person and the next append, anything else for the connection to cool down."""
        if error.retry_at is None and not isinstance(error, ModelRejected):
            return self._after_cooldown()
        return to_ms(error.retry_at) if error.retry_at else None

    def _after_cooldown(self) -> int:
        return to_ms(datetime.now(UTC) + timedelta(seconds=self.cooldown_s))


def _ending(session: Session, job: Job, run: _Run) -> str | None:
    """Why a job ended without folding anything."""
    if run.headway.folds or job.done:
        return None
    chat = chats.get(session, job.chat_key)
    reason = read_state(session, chat).idle_reason() if chat else None
    return reason or "nothing_to_fold"


def _connection_name(settings: ChatSettings, plan: Fold | Merge | Remake) -> str:
    condenses = isinstance(plan, Merge) or (isinstance(plan, Remake) and plan.parts)
    merges = condenses and settings.merge_connection
    return settings.merge_connection or settings.connection if merges else settings.connection


def _store_failure(error: SQLAlchemyError, retry_at: int) -> Failure:
    detail = f"The memory could not be stored: the database did not take it, because {reason(error)}."
    return Failure("internal", detail, retry_at=retry_at)
