"""Why a job failed, and how often a model has refused the same batch."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.promotion import Merge, Promotion
from app.errors import ModelError, ModelUnusable
from app.store.clock import now_ms

REFUSALS = 3
"""A batch that a model has refused so often is left to the built-in summarizer (layered.md, Failing calls)."""

UNSETTLED = (
    "The chat was changed again and again under the summaries that were being made, or what is stored of it is damaged:"
    " see what POST …/repair finds. It is tried again by itself."
)
CRASHED = "An error inside Turnfold ended this job; the log says which. The next message tries again."


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed. `connection`: of the model, empty if none is to blame; `retry_at`: epoch ms."""

    code: str
    detail: str
    connection: str = ""
    status: int | None = None
    retry_at: int | None = None
    refused: str | None = None

    @classmethod
    def of(cls, error: ModelError, retry_at: int | None, batch: str | None) -> "Failure":
        """`refused`: the batch, if it is the batch that the model would not take."""
        refused = batch if _for_its_own_sake(error) else None
        return cls(error.code, error.detail, error.connection, error.status, retry_at, refused)

    def report(self) -> dict[str, Any]:
        """As it is stored."""
        return {**asdict(self), "at": now_ms()}


def _for_its_own_sake(error: ModelError) -> bool:
    """Whether the model refuses this batch rather than every call (layered.md, Failing calls)."""
    return isinstance(error, ModelUnusable) or error.status in (400, 413, 422)


def refusals(last_error: Mapping[str, Any] | None, batch: str | None) -> int:
    """How often a batch has been refused in a row."""
    same = last_error is not None and batch is not None and last_error.get("refused") == batch
    return int(last_error.get("times", 0)) if same and last_error else 0


def batch_of(plan: Fold | Promotion | Remake) -> str:
    """What tells one batch from another: its first message, its first source, or the snippet that is made anew."""
    if isinstance(plan, Fold):
        return f"fold {plan.covers[0].key}"
    return f"merge {plan.sources[0].key}" if isinstance(plan, Merge) else f"snippet {plan.snippet.key}"
