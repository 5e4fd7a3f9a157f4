"""Running a job: read and plan, ask the model with no transaction open, commit if the plan still holds, repeat."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlmodel import Session

from app.core.folding import AUTO, DRAIN, FORCE, Fold, Mode
from app.core.model import Usage
from app.core.promotion import Merge, Promotion, Seed
from app.core.settings import ChatSettings
from app.core.summary import Connection, Summarizer, Summary, SummaryRequest
from app.errors import InvalidRequest, ModelError, ModelRejected, NotFound
from app.services.asking import Asking
from app.services.committing import Basis, commit_fold, commit_merge, commit_seed, note_usage
from app.services.connections import Connections
from app.services.ports import Retry
from app.services.reading import ChatState, read_head, read_state
from app.store import chats, jobs
from app.store.clock import now_ms, to_ms
from app.store.engine import Database
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
    """What a run remembers between its steps. `shrinks`: memory_tokens may still ask for merges."""

    basis: Basis | None = None
    folds: int = 0
    shrinks: bool = True


@dataclass(frozen=True, slots=True)
class _Step:
    """A planned step and, unless it is a seed move, what is asked for it, and of whom if the first one fails."""

    basis: Basis
    plan: Fold | Promotion
    request: SummaryRequest | None
    fallback: Connection | None


@dataclass(frozen=True)
class Folding:
    """Carries jobs out. `cooldown_s`: how long after a failure the work is taken up again by itself."""

    db: Database
    asking: Asking
    connections: Connections
    summarizer: Summarizer
    cooldown_s: float

    async def run(self, job_id: str, owner: str) -> Retry | None:
        """Do the work of a claimed job to its end; says when to take it up again, if a model could not be had.

        Cancelling it cuts the call to the model.
        """
        run = _Run()
        try:
            while step := await asyncio.to_thread(self._plan, job_id, owner, run):
                summary = await self._summarize(step.request, step.fallback) if step.request else None
                done = await asyncio.to_thread(self._commit, step, summary)
                _remember(run, step, summary, done=done)
        except ModelError as error:
            return await asyncio.to_thread(self._fail, job_id, owner, error)
        return None

    async def _summarize(self, request: SummaryRequest, fallback: Connection | None) -> Summary:
        """The summary, by the fallback connection if the first one fails: then it is degraded."""
        try:
            return await self.summarizer.summarize(request)
        except ModelError as error:
            if fallback is None:
                raise
            failed = Usage(calls=error.calls)
        summary = await self.summarizer.summarize(replace(request, connection=fallback))
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
        return _Step(basis, plan, self._request(session, state, plan), self._fallback(session, state))

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

    def _fail(self, job_id: str, owner: str, error: ModelError) -> Retry | None:
        """End the job; the messages stay visible, and status says what is wrong and when it goes on."""
        retry_at = self._retry_at(error)
        report = _report(error, retry_at)
        with self.db.write() as session:
            job = jobs.owned(session, job_id, owner)
            chat = chats.get(session, job.chat_key) if job else None
            if job is None or chat is None:
                return None
            job.failed += 1
            note_usage(chat, job, Usage(calls=error.calls))
            chat.last_error = report
            jobs.finish(job, "failed", error.detail, report)
            chat_key = chat.key
        log.warning("job_failed", job=job_id, connection=error.connection, status=error.status, detail=error.detail)
        return Retry(chat_key, retry_at) if retry_at else None

    def _retry_at(self, error: ModelError) -> datetime | None:
        """A refusal waits for a person and the next append, anything else for the connection to cool down."""
        if error.retry_at is None and not isinstance(error, ModelRejected):
            return datetime.now(UTC) + timedelta(seconds=self.cooldown_s)
        return error.retry_at


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


def _report(error: ModelError, retry_at: datetime | None) -> dict[str, Any]:
    return {
        "code": error.code,
        "detail": error.detail,
        "connection": error.connection,
        "status": error.status,
        "at": now_ms(),
        "retry_at": to_ms(retry_at) if retry_at else None,
    }
