"""Which passages a job folds now, or takes next: planned again from what is stored, as the job itself plans."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.folding import Fold
from app.core.model import Span
from app.core.rewrite import Rewrite
from app.core.summary import Connection
from app.core.underway import Underway
from app.errors import ModelRejected, NotFound
from app.services.choosing import FOLDS, Headway, choose
from app.services.connections import Connections
from app.services.estimating import width
from app.services.reading import ChatState, read_head
from app.services.retelling import Retelling
from app.services.rewriting import Rewriting
from app.store.tables import Chat, Job

_PER_BATCH = 16
"""Messages of a batch that are read beyond the first one's."""


@dataclass(frozen=True)
class Foreseeing:
    """Plans without doing."""

    connections: Connections
    retelling: Retelling

    def next_folds(self, session: Session, chat: Chat, job: Job) -> list[Span]:
        """What an active job of a chat folds now, or next: as many passages as calls run side by side.

        Until a fold is committed what is stored says nothing of it, so that the next plan is the one under way.
        """
        if job.kind not in FOLDS:
            return []
        state = read_head(session, chat, _PER_BATCH * job.total)
        try:
            name = state.settings.summarizer(chat.strategy)
            connection = self.connections.describe(session, name)
            return self._rewrite(state, job, connection) if state.rewrites else _folds(session, state, job, connection)
        except (NotFound, ModelRejected):  # the job will say so
            return []

    def _rewrite(self, state: ChatState, job: Job, connection: Connection) -> list[Span]:
        if state.idle_reason() is not None and job.kind == "fold":
            return []
        headway = Headway(folds=job.done, rest=job.done > 0)
        main = self.retelling.connection_for(state, connection)
        plan = Rewriting(self.retelling).next(state, job, headway, main)
        return [_span(plan)] if isinstance(plan, Rewrite) else []


def _folds(session: Session, state: ChatState, job: Job, connection: Connection) -> list[Span]:
    folds: list[Fold] = []
    for _ in range(width(connection, state.settings.layered.backlog_concurrency)):
        underway = Underway(folds=tuple(folds), promotes=False)
        plan = choose(session, state, job, Headway(folds=job.done), underway)
        if not isinstance(plan, Fold):
            break
        folds.append(plan)
    return [_span(fold) for fold in folds]


def _span(plan: Fold | Rewrite) -> Span:
    return Span(plan.turns[0].messages[0].index, plan.turns[-1].messages[-1].index)
