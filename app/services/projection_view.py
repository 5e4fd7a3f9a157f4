"""A prompt as it is answered; shapes as in http-api.md, Projection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.left_out import LeftOut
from app.core.projection import Projection
from app.services.reading import Place


@dataclass(frozen=True, slots=True)
class MemoryView:
    """The memory block in the prompt."""

    text: str
    version: int
    tokens: int
    snippets: int
    covered_through: Place | None


@dataclass(frozen=True, slots=True)
class WindowView:
    """The verbatim turns sent: where they begin, how many, and how many a budget left out."""

    first_index: int | None
    turns: int
    dropped_turns: int


@dataclass(frozen=True, slots=True)
class TokensView:
    """The parts of the prompt; `total` is their sum, `budget` None where no window is known."""

    system: int
    tools: int
    memory: int
    history: int
    current: int
    total: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class WarningView:
    """Something to know about the prompt."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ProjectionView:
    """What the model should be sent now.

    `messages` are in the format asked for; `system` and `text` are None but for the formats that have them. `error`
    and `stored_messages` are None unless the chat's settings expose them; `sent`, the pieces of the prompt, unless the
    request asks for them.
    """

    messages: list[dict[str, Any]]
    memory: MemoryView
    window: WindowView
    tokens: TokensView
    prefix_hash: str
    left_out: tuple[LeftOut, ...]
    warnings: list[WarningView]
    system: str | list[dict[str, Any]] | None = None
    text: str | None = None
    prefix_changed_by: str | None = None
    skipped: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    stored_messages: Sequence[Mapping[str, Any]] | None = None
    sent: Sequence[Mapping[str, Any]] | None = None


WARNINGS = {
    "memory_trimmed": "The memory is larger than its share of the budget, so the newest lines of each layer are sent."
    " Raise context_size or memory_share, or lower memory_tokens.",
    "orphaned_tool_messages": "Tool calls without results, or results without their call, were left out.",
    "uncovered_turns_dropped": "The budget left out turns that no snippet covers yet: fold them or raise context_size.",
    "system_over_half": "The system prompt takes more than half of the budget.",
    "trigger_above_budget": "The budget drops turns before trigger_tokens are reached, so that they are never folded"
    " in time. Lower trigger_tokens or keep_recent_turns, or raise context_size.",
    "over_budget": "Even without history the prompt is over budget: shorten the system prompt or raise context_size.",
    "window_unknown": "No window size is known from the request or the connection: nothing is trimmed.",
    "fold_failed": "The fold before this answer failed or took too long; the history is sent as it is.",
    "session_missing": "The memory is kept session by session, and the request names none: what it brings itself is"
    " remembered for this answer alone. Send a session_id.",
    "connection_missing": "The chat names a connection that does not exist; choose another, or PUT it.",
}
"""What a warning of a projection means, by code."""


def window_view(plan: Projection) -> WindowView:
    """Of a plan."""
    return WindowView(plan.first_index, plan.window_turns, plan.dropped_turns)


def tokens_view(plan: Projection) -> TokensView:
    """Of a plan."""
    tokens = plan.tokens
    return TokensView(
        tokens.system, tokens.tools, tokens.memory, tokens.history, tokens.current, tokens.total, tokens.budget
    )
