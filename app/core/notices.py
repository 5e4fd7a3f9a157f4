"""What there is to know about a prompt's sizes: warnings by their codes (rolling-and-buffer.md, Projection)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.core.settings import RollingSettings


@dataclass(frozen=True, slots=True)
class Tokens:
    """The parts of a prompt, in tokens; `budget` None where no window is known."""

    system: int
    tools: int
    memory: int
    history: int
    current: int
    budget: int | None

    @property
    def total(self) -> int:
        return self.system + self.tools + self.memory + self.history + self.current


def notices(tokens: Tokens, reasons: Collection[str]) -> tuple[str, ...]:
    """Warnings of a prompt, given the reasons for which messages are left out of it."""
    found = []
    if "orphan" in reasons:
        found.append("orphaned_tool_messages")
    if "trimmed" in reasons:
        found.append("uncovered_turns_dropped")
    if tokens.budget is None:
        return tuple(found)
    if 2 * tokens.system > tokens.budget:
        found.append("system_over_half")
    if tokens.total > tokens.budget:
        found.append("over_budget")
    return tuple(found)


LABEL = 64
"""Tokens that the label and the fence around a summary take at most."""


def trigger_above_budget(settings: RollingSettings, tokens: Tokens, turns: Sequence[int]) -> bool:
    """Whether a rolling chat's budget drops turns before its token trigger folds them.

    The sizing rule (research on rolling summaries, 1.8): trigger_tokens is at most what the budget leaves beside the
    system prompt, tools, the summary at its longest with its label, the current turn, the turns that are kept, and one
    turn more for the overshoot. `turns` are costs of uncovered turns, of which the mean counts.
    """
    if tokens.budget is None or not settings.trigger_tokens:
        return False
    longest = max(tokens.memory, settings.max_summary_tokens + LABEL)
    mean = sum(turns) / len(turns) if turns else 0.0
    fixed = tokens.system + tokens.tools + longest + tokens.current
    return settings.trigger_tokens > tokens.budget - fixed - (settings.keep_recent_turns + 1) * mean
