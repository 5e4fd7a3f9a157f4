"""Memory that is one summary, written anew with every fold (rolling-and-buffer.md)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from app.core.model import Message, Outline, Snippet, Turn

SkipReason = Literal[
    "empty_dialog",
    "hot_window_covers_dialog",
    "nothing_new_outside_hot_window",
    "below_threshold",
    "input_too_large",
    "model_error",
    "cancelled",
    "empty_output",
]
"""Why nothing was folded: the closed set of rolling-and-buffer.md."""

Told = Callable[[Turn], int]
"""Tokens of a turn as the summarizer is told it."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fold that writes the one summary anew, from the one before (`previous`) and the turns that follow it.

    `clipped`: a single turn that is longer than the `room`, in tokens, has its middle cut. `folded` counts the turns
    that were covered before, `dialog` all closed turns of the chat. `rest`: more is due, and did not fit.
    """

    turns: tuple[Turn, ...]
    previous: Snippet | None = None
    clipped: bool = False
    room: int | None = None
    folded: int = 0
    dialog: int = 0
    rest: bool = False

    @property
    def covers(self) -> tuple[Message, ...]:
        """The messages that are ghosted once the summary is committed."""
        return tuple(message for turn in self.turns for message in turn.coverable)

    @property
    def passage(self) -> tuple[Message, ...]:
        """What the model reads: pinned messages are context, blank ones say nothing."""
        return tuple(message for turn in self.turns for message in turn.messages if not message.blank)

    @property
    def covered_through(self) -> int:
        """The 0-based index of the newest turn that the new summary covers."""
        return self.folded + len(self.turns) - 1


@dataclass(frozen=True, slots=True)
class Skip:
    """Why nothing is folded now, and what waits outside the hot window; tokens only where they were counted."""

    reason: SkipReason
    pending_turns: int = 0
    pending_tokens: int = 0


def fit(costs: Sequence[int], room: int | None) -> int:
    """How many of the oldest turns fit into `room` tokens: never one further back instead of an older one."""
    return len(costs) if room is None else sum(1 for total in accumulate(costs) if total <= room)


def calls_for(costs: Sequence[int], room: int) -> int:
    """How many folds turns of these costs take, one after the other; one that does not fit is one of them."""
    calls = left = 0
    for cost in costs:
        if cost > left:
            calls, left = calls + 1, room
        left -= cost
    return calls


def foldable(view: Outline) -> tuple[Turn, ...]:
    """The closed turns that a summary may take, oldest first; turns that are pinned whole are none of them."""
    return tuple(turn for turn in view.turns if turn.coverable)
