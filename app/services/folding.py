"""Running a job: read and plan, ask the model with no transaction open, commit if the plan still holds, repeat."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.core.folding import AUTO, DRAIN, FORCE, Fold, Mode
from app.core.model import Usage
from app.core.promotion import Merge, Promotion, Seed
from app.core.settings import ChatSettings
from app.core.summary import Connection, Summarizer, Summary, SummaryRequest
from app.errors import InvalidRequest, ModelError, ModelRejected, NotFound
from app.services.asking import Asking
from app.services.committing import Basis, commit_fold, commit_merge, commit_seed, note_usage
from app.services.connections import EXTRACTIVE, Connections
from app.services.failure import CRASHED, REFUSALS, Failure, batch_of, refusals
from app.services.ports import InThread
from app.services.reading import ChatState, read_head, read_state
from app.store import chats, jobs
from app.store.clock import to_ms
from app.store.engine import Database
from app.store.faults import UNAVAILABLE, cause, reason
from app.store.tables import Job

log = structlog.get_logger()

_MODES = {"fold": AUTO, "one": FORCE, "backlog": DRAIN, "summarize": FORCE}
"""Kinds of job, weakest first: a second start on a chat joins the running job and can only strengthen it."""


def stronger(kind: str, other: str) -> str:
    """The kind that does more."""
    order = list(_MODES)
    return max(kind, other, key=order.index)


@dataclass
class _Run:
    """What a run remembers between its steps.

    `shrinks`: memory_tokens may still ask for merges. `unnoted`: what was paid for a summary that is not stored yet.
    """

    folds: int = 0
    shrinks: bool = True
    unnoted: Usage = field(default_factory=Usage)
    step: "_Step | None" = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A planned step and, unless it is a seed move, what is asked for it, and of whom if the first one fails."""

    basis: Basis
    plan: Fold | Promotion
    request: SummaryRequest | None
    others: tuple[Connection, ...]

    @property
    def batch(self) -> int:
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
            await self._end(job_id, owner, failure, Usage(calls=error.calls))
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
            _remember(run, step, summary, done=done)

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
                jobs.finish(job, "succeeded", _ending(session, job, run))
        return step

    def _next(self, session: Session, job_id: str, owner: str, run: _Run) -> _Step | None:
        job = jobs.owned(session, job_id, owner)
        chat = chats.get(session, job.chat_key) if job else None
        if job is None or chat is None:
            return None
        state = read_head(session, chat)
        basis = Basis(chat.key, chat.epoch, chat.strategy, job_id, owner)
        plan = _choose(state, job, run)
        if plan is None and state.later:
            state = read_state(session, chat)
            plan = _choose(state, job, run)
        if plan is None:
            return None
        return _Step(basis, plan, self._request(session, state, plan), self._others(session, state, plan))

    def _request(self, session: Session, state: ChatState, plan: Fold | Promotion) -> SummaryRequest | None:
        if isinstance(plan, Seed):
            return None
        connection = self._connection(session, _connection_name(state.settings, plan))
        if isinstance(plan, Merge):
            return self.asking.merge(state, plan, connection)
        return self.asking.fold(session, state, plan, connection)

    def _connection(self, session: Session, name: str) -> Connection:
        try:
            return self.connections.resolve(session, name)
        except (NotFound, InvalidRequest) as error:
            raise ModelRejected(error.detail, connection=name) from error

    def _others(self, session: Session, state: ChatState, plan: Fold | Promotion) -> tuple[Connection, ...]:
        """Who is asked if the first one fails: the fallback; and for a batch refused twice, the built-in summarizer."""
        fallback = self._fallback(session, state)
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
            return commit_fold(session, step.basis, step.plan, summary, tokens)

    def _fail(self, job_id: str, owner: str, failure: Failure, cost: Usage) -> None:
        """The messages stay visible, and status says what is wrong and when it goes on."""
        with self.db.write() as session:
            job = jobs.by_id(session, job_id)
            chat = chats.get(session, job.chat_key) if job else None
            note_usage(chat, job, cost)
            if job is None or chat is None or not jobs.runs(job, owner):
                return
            job.failed += 1
            times = refusals(chat.last_error, failure.refused) + 1 if failure.refused is not None else 0
            report = failure.report()
            chat.last_error, chat.retry_at = {**report, "times": times}, failure.retry_at
            jobs.finish(job, "failed", failure.detail, report)

    def _retry_at(self, error: ModelError) -> int | None:
        """A refusal waits for a person and the next append, anything else for the connection to cool down."""
        if error.retry_at is None and not isinstance(error, ModelRejected):
            return self._after_cooldown()
        return to_ms(error.retry_at) if error.retry_at else None

    def _after_cooldown(self) -> int:
        return to_ms(datetime.now(UTC) + timedelta(seconds=self.cooldown_s))


def _choose(state: ChatState, job: Job, run: _Run) -> Fold | Promotion | None:
    """Promotions come before the next fold; a job of kind `fold` minds pauses and choices, others were asked for."""
    if job.kind == "fold" and state.idle_reason() is not None:
        return None
    return state.promotion(shrink=run.shrinks) or _next_fold(state, job, run)


def _next_fold(state: ChatState, job: Job, run: _Run) -> Fold | None:
    if run.folds and _one_at_a_time(state, job):
        return None
    mode: Mode = _MODES[job.kind]
    if job.kind == "fold" and (run.folds or job.done):
        mode = DRAIN
    return state.fold(mode)


def _one_at_a_time(state: ChatState, job: Job) -> bool:
    """`one` folds a batch now and, while there is a backlog, one extra per reply (layered.md, Backlog)."""
    return job.kind == "one" or (job.kind == "fold" and state.chat.backlog_answer == "one" and state.has_backlog)


def _remember(run: _Run, step: _Step, summary: Summary | None, *, done: bool) -> None:
    if not done:
        return
    if isinstance(step.plan, Fold):
        run.folds, run.shrinks = run.folds + 1, True
    elif isinstance(step.plan, Merge) and step.plan.for_tokens and summary is not None:
        run.shrinks = summary.tokens < sum(source.tokens for source in step.plan.sources)


def _ending(session: Session, job: Job, run: _Run) -> str | None:
    """Why a job ended without folding anything."""
    if run.folds or job.done:
        return None
    chat = chats.get(session, job.chat_key)
    reason = read_state(session, chat).idle_reason() if chat else None
    return reason or "nothing_to_fold"


def _connection_name(settings: ChatSettings, plan: Fold | Merge) -> str:
    merges = isinstance(plan, Merge) and settings.merge_connection
    return settings.merge_connection or settings.connection if merges else settings.connection


def _store_failure(error: SQLAlchemyError, retry_at: int) -> Failure:
    detail = f"The memory could not be stored: the database did not take it, because {reason(error)}."
    return Failure("internal", detail, retry_at=retry_at)
