"""The next step of a job, ready to be asked for: read, decide, and build the question, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import structlog
from sqlmodel import Session

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.promotion import Merge, Seed
from app.core.rewrite import Rewrite, Skip
from app.core.settings import ChatSettings
from app.core.summary import Connection, SummaryRequest
from app.core.underway import Underway, raw_before
from app.errors import InvalidRequest, ModelRejected, NotFound
from app.services.asking import Asking
from app.services.basis import Basis
from app.services.choosing import Headway, Plan, choose, one_at_a_time
from app.services.connections import EXTRACTIVE, Connections
from app.services.counters import ChatCounters
from app.services.failure import REFUSALS, Failure, batch_of, refusals
from app.services.reading import ChatState, read_head, read_state
from app.services.remaking import plan_remake
from app.services.retelling import Retelling
from app.services.rewriting import Rewriting
from app.store import chats
from app.store.tables import Job

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Step:
    """A planned step and, unless it is a seed move, what is asked for it, and of whom if the first one fails.

    `refused`: how often the model has refused it by now; `waits`: refused again, its turns wait (`on_refused`);
    `aside`: it is a merge that another connection makes than folds.
    """

    basis: Basis
    plan: Plan
    request: SummaryRequest | None
    others: tuple[Connection, ...]
    refused: int = 0
    waits: bool = False
    aside: bool = False

    @property
    def batch(self) -> str:
        """What tells it from others."""
        return batch_of(self.plan)

    @property
    def chain(self) -> Literal["fold", "promotion", "remake"]:
        """Steps of a chain are committed in the order they were planned."""
        return (
            "fold"
            if isinstance(self.plan, Fold | Rewrite)
            else "remake"
            if isinstance(self.plan, Remake)
            else "promotion"
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands when the next step is planned. `refused`: how often batches were refused in it."""

    headway: Headway
    underway: Underway
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Look:
    """The next step, if there is one now, and how many calls may run at once; or why none may be begun any more.

    `skip`: why one summary is not written anew.
    """

    step: Step | None
    width: int = 1
    failure: Failure | None = None
    skip: Skip | None = None


@dataclass(frozen=True)
class Planning:
    """Plans steps. Raises ModelRejected where a chat's connection cannot be used."""

    asking: Asking
    retelling: Retelling
    connections: Connections
    counters: ChatCounters

    def look(self, session: Session, job: Job, owner: str, standing: Standing) -> Look:
        """What a running job does next."""
        chat = chats.look_by_key(session, job.chat_key)
        if chat is None:
            return Look(None)
        state = read_head(session, chat, len(standing.underway.taken), rough=True)
        if state.rewrites:
            return self._rewrite(session, state, job, owner, standing)
        plan = choose(session, state, job, standing.headway, standing.underway)
        if plan is None and state.later and _may_be_hidden(state, standing.underway):
            state = read_state(session, chat)
            plan = choose(session, state, job, standing.headway, standing.underway)
        if plan is None:
            return Look(None)
        basis = Basis(chat.key, chat.epoch, chat.strategy, job.id, owner)
        main = self._connection(session, state.settings.connection)
        request = self._request(session, state, plan, standing.underway, main)
        step = self._step(session, state, basis, plan, request, standing)
        return Look(step, 1 if one_at_a_time(state, job) else _width(state, main))

    def _rewrite(self, session: Session, state: ChatState, job: Job, owner: str, standing: Standing) -> Look:
        """The next step where one summary is written anew: one at a time."""
        if not standing.underway.idle:
            return Look(None)
        name = state.settings.summarizer(state.chat.strategy)
        try:
            main = self.retelling.connection_for(state, self._connection(session, name))
        except ModelRejected as error:
            return Look(None, failure=Failure.of(error, None, None, "model_error"))
        plan = self._next_rewrite(session, state, job, standing.headway, main)
        if state.later and (
            isinstance(plan, Skip) or (isinstance(plan, Rewrite) and len(plan.turns) == len(state.dialog.turns))
        ):
            state = read_state(session, state.chat)
            plan = self._next_rewrite(session, state, job, standing.headway, main)
        if plan is None or isinstance(plan, Skip):
            return Look(None, skip=plan)
        basis = Basis(state.chat.key, state.chat.epoch, state.chat.strategy, job.id, owner)
        if isinstance(plan, Remake):
            request = self.retelling.remake(session, state, plan, main)
        else:
            request = self.retelling.request(session, state, plan, main)
        return Look(self._step(session, state, basis, plan, request, standing))

    def _next_rewrite(
        self, session: Session, state: ChatState, job: Job, headway: Headway, main: Connection
    ) -> Rewrite | Remake | Skip | None:
        """What a person asked to have made anew comes first, whatever the pause, and healing last."""
        asked = plan_remake(session, state, unasked=False)
        idle = state.idle_reason() is not None
        if asked is not None or job.kind == "regenerate" or (idle and job.kind in ("fold", "heal")):
            return asked
        found = None
        if job.kind != "heal":
            found = Rewriting(self.retelling).next(state, job, headway, main)
        if isinstance(found, Rewrite) or idle:
            return found
        return plan_remake(session, state, unasked=True, asked=False) or found

    def _step(
        self,
        session: Session,
        state: ChatState,
        basis: Basis,
        plan: Plan,
        request: SummaryRequest | None,
        standing: Standing,
    ) -> Step:
        batch = batch_of(plan)
        refused = max(standing.refused.get(batch, 0), refusals(state.chat.last_error, batch))
        if request is not None:
            count = self.counters.counter_for(session, state.settings)
            request = replace(request, batch=batch, count=count)
        others = self._others(session, state, plan, refused)
        waits = state.settings.on_refused == "wait"
        aside = isinstance(plan, Merge) and request is not None and request.connection.name != state.settings.connection
        return Step(basis, plan, request, others, refused, waits, aside)

    def _request(
        self, session: Session, state: ChatState, plan: Plan, underway: Underway, main: Connection
    ) -> SummaryRequest | None:
        if isinstance(plan, Seed | Rewrite):
            return None
        name = _connection_name(state.settings, plan)
        connection = main if name == main.name else self._connection(session, name)
        if isinstance(plan, Merge):
            return self.asking.merge(state, plan, connection)
        if isinstance(plan, Remake):
            return self.asking.remake(session, state, plan, connection)
        raw = raw_before(state.uncovered, plan, underway.taken) if underway.folds else ()
        return self.asking.fold(session, state, plan, connection, raw)

    def _connection(self, session: Session, name: str) -> Connection:
        try:
            return self.connections.resolve(session, name)
        except (NotFound, InvalidRequest) as error:
            raise ModelRejected(error.detail, connection=name) from error

    def _others(self, session: Session, state: ChatState, plan: Plan, refused: int) -> tuple[Connection, ...]:
        """Who is asked if the first one fails: the fallback; and for a batch refused twice, the built-in summarizer.

        A snippet that is made anew has a text already, which is better than that one's.
        """
        fallback = self._fallback(session, state)
        extracts = state.settings.on_refused == "extract" and not isinstance(plan, Remake | Rewrite)
        last = EXTRACTIVE if extracts and refused >= REFUSALS - 1 else None
        return tuple(connection for connection in (fallback, last) if connection is not None)

    def _fallback(self, session: Session, state: ChatState) -> Connection | None:
        """None too where it does not exist: the first connection may do."""
        name = state.settings.fallback_connection
        try:
            return self._connection(session, name) if name else None
        except ModelRejected as error:
            log.warning("fallback_missing", connection=name, detail=error.detail)
            return None


def _is_certain(state: ChatState, plan: Rewrite | Remake | Skip | None) -> bool:
    """Whether the oldest turns were enough to plan on: a fold of all of them might take more, and a skip none."""
    if isinstance(plan, Rewrite):
        return len(plan.turns) < len(state.dialog.turns)
    return not isinstance(plan, Skip)


def _may_be_hidden(state: ChatState, underway: Underway) -> bool:
    """Whether a fold may be found beyond the oldest messages, where these are hidden, skipped or left."""
    return not underway.remakes and len(underway.folds) < state.settings.layered.backlog_concurrency


def _width(state: ChatState, connection: Connection) -> int:
    """The smaller of backlog_concurrency and the connection's concurrency; the built-in summarizer is no faster with
    several passages at once, and writes better lines after the ones before.
    """
    if connection.provider == EXTRACTIVE.provider:
        return 1
    return max(1, min(state.settings.layered.backlog_concurrency, connection.concurrency))


def _connection_name(settings: ChatSettings, plan: Fold | Merge | Remake) -> str:
    condenses = isinstance(plan, Merge) or (isinstance(plan, Remake) and plan.parts)
    return (settings.merge_connection if condenses else None) or settings.connection
