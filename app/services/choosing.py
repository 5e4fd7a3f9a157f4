"""What a job does next, and how far its kind lets it go."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.folding import AUTO, DRAIN, FORCE, Fold, Mode
from app.core.healing import Remake
from app.core.promotion import Merge, Promotion
from app.core.rewrite import Rewrite
from app.core.summary import Summary
from app.core.underway import Underway
from app.services.reading import ChatState
from app.services.remaking import plan_remake
from app.store.tables import Job

Plan = Fold | Promotion | Remake | Rewrite

_MODES = {"fold": AUTO, "one": FORCE, "backlog": DRAIN, "summarize": FORCE}
ASKED_FOR = ("one", "backlog", "summarize")
FOLDS = tuple(_MODES)
_KINDS = ("regenerate", "heal", *FOLDS)
"""Kinds of job, weakest first: a second start on a chat joins the running job and can only strengthen it."""


def mode_of(kind: str) -> Mode:
    """How far a kind of job folds, at first."""
    return _MODES.get(kind, AUTO)


def stronger(kind: str, other: str) -> str:
    """The kind that does more."""
    return max(kind, other, key=_KINDS.index)


@dataclass
class Headway:
    """What a run has committed so far. `shrinks`: memory_tokens may still ask for merges. `rest`: a fold that did not
    fit whole has more of it due.
    """

    folds: int = 0
    shrinks: bool = True
    rest: bool = False


def choose(session: Session, state: ChatState, job: Job, headway: Headway, underway: Underway) -> Plan | None:
    """The next step of a job beside what is under way; None if there is none now.

    What a person asked to have made anew comes first, whatever the pause. Promotions come before the next fold, and
    healing comes last: a snippet that cannot be healed must keep no turn from being folded. A snippet is made anew
    alone: what others would see of it, or it of them, is in between. A job of kind `fold` minds pauses and choices,
    stronger ones were asked for.
    """
    if underway.remakes:
        return None
    asked = plan_remake(session, state, unasked=False)
    if asked is not None:
        return asked if underway.idle else None
    idle = state.idle_reason() is not None
    plan = None if idle and job.kind == "fold" else _grow(state, job, headway, underway)
    if plan is not None or idle or not underway.idle:
        return plan
    return plan_remake(session, state, unasked=True, asked=False)


def remember(headway: Headway, plan: Plan, summary: Summary | None) -> None:
    """Note a step that was committed."""
    if isinstance(plan, Fold | Rewrite):
        headway.folds, headway.shrinks = headway.folds + 1, True
        headway.rest = isinstance(plan, Rewrite) and plan.rest
    elif isinstance(plan, Merge) and plan.for_tokens and summary is not None:
        headway.shrinks = summary.tokens < sum(source.tokens for source in plan.sources)


def _grow(state: ChatState, job: Job, headway: Headway, underway: Underway) -> Fold | Promotion | None:
    if job.kind not in _MODES:
        return None
    return state.promotion(underway, shrink=headway.shrinks) or _next_fold(state, job, headway, underway)


def _next_fold(state: ChatState, job: Job, headway: Headway, underway: Underway) -> Fold | None:
    """Batch i begins when batch i - backlog_concurrency is committed (layered.md, Backlog)."""
    begun = headway.folds + len(underway.folds)
    if len(underway.folds) >= state.settings.layered.backlog_concurrency:
        return None
    if one_at_a_time(state, job) and (begun or not job.total):  # none is left of a job that goes on after its batch
        return None
    mode: Mode = DRAIN if job.kind == "fold" and begun else _MODES[job.kind]
    return state.fold(mode, underway.taken)


def one_at_a_time(state: ChatState, job: Job) -> bool:
    """`one` folds a batch now and, while there is a backlog, one extra per reply (layered.md, Backlog)."""
    return job.kind == "one" or (job.kind == "fold" and state.chat.backlog_answer == "one" and state.has_backlog)
