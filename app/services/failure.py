"""Why a step or a job failed, and what a run does about it (layered.md, Failing calls and Backlog)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.promotion import Merge, Promotion
from app.core.rewrite import Rewrite, SkipReason
from app.core.summary import spent_on
from app.errors import ModelError, ModelRejected, ModelUnusable
from app.store.clock import now_ms

REFUSALS = 3
"""A batch that a model has refused so often is left to the built-in summarizer, or waits."""

CREDIT = 3
"""After an answer that could be used, so many different batches in a row may be refused before that speaks against the
connection's settings rather than against the batches."""

UNSETTLED = (
    "The chat was changed again and again under the summaries that were being made, or what is stored of it is damaged:"
    " see what POST …/repair finds. It is tried again by itself."
)
TOO_LARGE = (
    "The oldest turn outside the hot window is longer than the summarizer's window has room for, and holds folding up."
    " Raise rolling.context_size, or set rolling.oversize to clip."
)
CRASHED = "An error inside Turnfold ended this job; the log says which. The next message tries again."

Reaction = Literal["again", "leave", "skip", "end"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step or a job failed. `connection`: of the model, empty if none is to blame; `retry_at`: epoch ms.

    `refused`: the batch, if it is the batch that the model would not take. `skip`: the reason in the words of memory
    that is one summary.
    """

    code: str
    detail: str
    connection: str = ""
    status: int | None = None
    retry_at: int | None = None
    refused: str | None = None
    skip: SkipReason | None = None

    @classmethod
    def of(
        cls, error: ModelError, retry_at: int | None, batch: str | None, skip: SkipReason | None = None
    ) -> "Failure":
        """What failed, and when it is tried again."""
        refused = batch if is_refusal(error) else None
        return cls(error.code, error.detail, error.connection, error.status, retry_at, refused, skip)

    def report(self, refused: Mapping[str, int] | None = None) -> dict[str, Any]:
        """As it is stored, with how often each batch has been refused by now."""
        return {**asdict(self), "at": now_ms(), "refusals": dict(refused or {})}


def skip_of(error: ModelError) -> SkipReason:
    """The skip reason that a failed call leaves behind (rolling-and-buffer.md, `rolling`)."""
    return "empty_output" if isinstance(error, ModelUnusable) and error.blank else "model_error"


def is_refusal(error: ModelError) -> bool:
    """Whether the model refuses this batch rather than every call."""
    return isinstance(error, ModelUnusable) or error.status in (400, 413, 422)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Of a step that failed. `times`: how often its batch has been refused by now; `credit`: see CREDIT; `wide`: other
    calls run beside it; `aside`: another connection than that of the folds made it; `waits`: turns that are refused
    again and again wait (`on_refused`).
    """

    times: int
    credit: int
    wide: bool
    aside: bool
    waits: bool


def react(error: ModelError, plan: Fold | Promotion | Remake | Rewrite, at: Circumstances) -> Reaction:
    """What a run does after a step has failed for good.

    `again` plans the batch anew, `leave` does not try it again in this run, `skip` leaves its turns visible until a
    person takes them up, `end` begins nothing more.
    """
    if isinstance(plan, Remake | Rewrite):
        return "end"
    if is_refusal(error):
        if at.times >= REFUSALS:
            return "skip" if at.waits and isinstance(plan, Fold) else "leave"
        return "again" if at.credit else "leave" if at.aside else "end"
    return "leave" if at.aside or (at.wide and not needs_rest(error)) else "end"


def needs_rest(error: ModelError) -> bool:
    """Whether every further call to the connection would meet the same, for now or until a person changes it."""
    return isinstance(error, ModelRejected) or error.retry_at is not None


def both(first: ModelError, second: ModelError) -> ModelError:
    """The failure of a connection and of the one that was asked in its place: that of the first, unless only the
    second one's passes by itself. It names both, and costs what both did.
    """
    passes = isinstance(first, ModelRejected) and not is_refusal(first) and not isinstance(second, ModelRejected)
    final = second if passes else first
    final.detail = f"{first.detail} {second.detail}"
    cost = spent_on(first) + spent_on(second)
    final.calls, final.prompt_tokens, final.completion_tokens = cost.calls, cost.prompt_tokens, cost.completion_tokens
    return final


def refusals(last_error: Mapping[str, Any] | None, batch: str) -> int:
    """How often a batch had been refused when a job ended."""
    return int((last_error or {}).get("refusals", {}).get(batch, 0))


def batch_of(plan: Fold | Promotion | Remake | Rewrite) -> str:
    """What tells one batch from another: its first message, its first source, or the snippet that is made anew."""
    if isinstance(plan, Fold | Rewrite):
        return f"fold {plan.covers[0].key}"
    return f"merge {plan.sources[0].key}" if isinstance(plan, Merge) else f"snippet {plan.snippet.key}"
