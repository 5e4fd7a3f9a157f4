"""Strategies side by side: what each turn of a chat took, and what that comes to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from app.core.estimate import count_merges
from app.core.model import Strategy
from app.core.settings import ChatSettings


@dataclass(frozen=True, slots=True)
class Moment:
    """One reply: the prompt that asked for it, and the summarizing that its turn paid for, in tokens and turns.

    `turn` counts from 1. `sent`: the prompt; `memory`: the part of it that is summary; `verbatim`: turns in it word
    for word; `dropped`: turns that a budget left out, of which no summary tells either. `counted`: its tokens as text
    alone, `reused`: those it begins with in common with the prompt before. `calls` to the summarizer; `summarizing`:
    tokens it read and wrote.
    """

    turn: int
    sent: int
    memory: int
    verbatim: int
    dropped: int
    counted: int
    reused: int
    calls: int
    summarizing: int

    @property
    def past(self) -> int:
        """Turns before this one."""
        return self.turn - 1

    @property
    def in_memory(self) -> int:
        """Past turns that are in the prompt as summary."""
        return self.past - self.verbatim - self.dropped


@dataclass(frozen=True, slots=True)
class Account:
    """A strategy over the whole chat. `reusable`: share of all prompts but the first that began as the one before.

    `verbatim`, `in_memory` and `dropped`: what became of the turns before the last reply.
    """

    strategy: str
    median_sent: int
    peak_sent: int
    total_sent: int
    calls: int
    summarizing: int
    reusable: float
    verbatim: int
    in_memory: int
    dropped: int


def account(strategy: str, moments: Sequence[Moment]) -> Account:
    """Add up what a strategy took. At least one moment; a greeting, which needs no prompt, has `sent` 0."""
    prompts = [moment for moment in moments if moment.sent]
    sent = [moment.sent for moment in prompts] or [0]
    later, last = prompts[1:], moments[-1]
    counted = sum(moment.counted for moment in later)
    return Account(
        strategy=strategy,
        median_sent=round(median(sent)),
        peak_sent=max(sent),
        total_sent=sum(sent),
        calls=sum(moment.calls for moment in moments),
        summarizing=sum(moment.summarizing for moment in moments),
        reusable=sum(moment.reused for moment in later) / counted if counted else 0.0,
        verbatim=last.verbatim,
        in_memory=last.in_memory,
        dropped=last.dropped,
    )


class TurnCost(NamedTuple):
    """A turn before it is played: tokens of its texts, and its messages."""

    tokens: int
    messages: int


def foresee_calls(strategy: str, turns: Sequence[TurnCost], settings: ChatSettings) -> int:
    """About how many calls a strategy will make for a chat that comes turn by turn; repeated ones are not foreseen."""
    foresee = _FORESEEN.get(strategy)
    return foresee(turns, settings) if foresee else 0


def _layered(turns: Sequence[TurnCost], settings: ChatSettings) -> int:
    layered = settings.layered
    folds = max(0, len(turns) - layered.verbatim_turns) // layered.turns_per_batch
    return folds + count_merges([], folds, layered)


def _rolling(turns: Sequence[TurnCost], settings: ChatSettings) -> int:
    """Both triggers look at the turns that are neither in the summary nor among the newest."""
    rolling, calls = settings.rolling, 0
    pending: list[int] = []
    for cost in turns[: max(0, len(turns) - rolling.keep_recent_turns)]:
        pending.append(cost.tokens)
        by_turns = 0 < rolling.trigger_turns <= len(pending)
        if by_turns or 0 < rolling.trigger_tokens <= sum(pending):
            calls, pending = calls + 1, []
    return calls


def _buffer(turns: Sequence[TurnCost], settings: ChatSettings) -> int:
    buffer = settings.summary_buffer
    threshold = buffer.max_messages_before_summary + (buffer.compare == "exceed")
    stored = calls = 0
    for cost in turns:
        if stored >= threshold:
            calls, stored = calls + 1, buffer.recent_messages_to_keep
        stored += cost.messages
    return calls


_FORESEEN: Mapping[str, Callable[[Sequence[TurnCost], ChatSettings], int]] = {
    Strategy.LAYERED: _layered,
    Strategy.ROLLING: _rolling,
    Strategy.SUMMARY_BUFFER: _buffer,
}
