"""The next step of a job, ready to be asked for: read, decide, and build the question, in one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import structlog
from sqlmodel import Session

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.promotion import Merge, Seed
from app.core.settings import ChatSettings
from app.core.summary import Connection, SummaryRequest
from app.core.underway import Underway, raw_before
from app.errors import InvalidRequest, ModelRejected, NotFound
from app.services.asking import Asking
from app.services.basis import Basis
from app.services.choosing import Headway, Plan, choose
from app.services.connections import EXTRACTIVE, Connections
from app.services.failure import REFUSALS, batch_of, refusals
from app.services.reading import ChatState, read_head, read_state
from app.store import chats
from app.store.tables import Job

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Step:
    """A planned step and, unless it is a seed move, what is asked for it, and of whom if the first one fails.

    `refused`: how often the model has refused it by now; `waits`: refused again, its turns wait (`on_refused`).
    """

    basis: Basis
    plan: Plan
    request: SummaryRequest | None
    others: tuple[Connection, ...]
    refused: int = 0
    waits: bool = False

    @property
    def batch(self) -> str:
        """What tells it from others."""
        return batch_of(self.plan)

    @property
    def chain(self) -> Literal["fold", "promotion", "remake"]:
        """Steps of a chain are committed in the order they were planned."""
        return "fold" if isinstance(self.plan, Fold) else "remake" if isinstance(self.plan, Remake) else "promotion"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is when the next step is planned. `refused`: how often batches were refused in it."""

    headway: Headway
    underway: Underway
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Look:
    """The next step, if there is one now, and how many calls may run at once."""

    step: Step | None
    width: int = 1


@dataclass(frozen=True)
class Planning:
    """Plans steps. Raises ModelRejected where a chat's connection cannot be used."""

    asking: Asking
    connections: Connections

    def look(self, session: Session, job: Job, owner: str, progress: Progress) -> Look:
        """What a running job does next."""
        chat = chats.get(session, job.chat_key)
        if chat is None:
            return Look(None)
        state = read_head(session, chat, len(progress.underway.taken))
        plan = choose(session, state, job, progress.headway, progress.underway)
        if plan is None and state.later and progress.underway.idle:
            state = read_state(session, chat)
            plan = choose(session, state, job, progress.headway, progress.underway)
        width = self._width(session, state)
        if plan is None:
            return Look(None, width)
        basis = Basis(chat.key, chat.epoch, chat.strategy, job.id, owner)
        request = self._request(session, state, plan, progress.underway)
        return Look(self._step(session, state, basis, plan, request, progress), width)

    def _step(
        self,
        session: Session,
        state: ChatState,
        basis: Basis,
        plan: Plan,
        request: SummaryRequest | None,
        progress: Progress,
    ) -> Step:
        batch = batch_of(plan)
        refused = max(progress.refused.get(batch, 0), refusals(state.chat.last_error, batch))
        if request is not None:
            request = replace(request, batch=batch)
        others = self._others(session, state, plan, refused)
        return Step(basis, plan, request, others, refused, state.settings.on_refused == "wait")

    def _width(self, session: Session, state: ChatState) -> int:
        """The smaller of backlog_concurrency and the connection's concurrency; the built-in summarizer is no faster
        with several passages at once, and writes better lines after the ones before.
        """
        wanted = state.settings.layered.backlog_concurrency
        if wanted == 1:
            return 1
        connection = self._connection(session, state.settings.connection)
        return 1 if connection.provider == EXTRACTIVE.provider else max(1, min(wanted, connection.concurrency))

    def _request(self, session: Session, state: ChatState, plan: Plan, underway: Underway) -> SummaryRequest | None:
        if isinstance(plan, Seed):
            return None
        connection = self._connection(session, _connection_name(state.settings, plan))
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
        extracts = state.settings.on_refused == "extract" and not isinstance(plan, Remake)
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


def _connection_name(settings: ChatSettings, plan: Fold | Merge | Remake) -> str:
    condenses = isinstance(plan, Merge) or (isinstance(plan, Remake) and plan.parts)
    return (settings.merge_connection if condenses else None) or settings.connection
