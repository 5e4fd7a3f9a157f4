"""When rolling memory folds, and how much (rolling-and-buffer.md, `rolling`; Tryll's Summarize node)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.model import Snippet, Turn
from app.core.rewrite import Rewrite, Skip, SkipReason, Told, fit
from app.core.settings import RollingSettings


@dataclass(frozen=True, slots=True)
class Dialog:
    """A chat as rolling memory sees it: its closed turns that are not folded yet, how many are, and their summary.

    Of a long backlog `turns` may hold the oldest only; `later` turns then follow.
    """

    turns: Sequence[Turn]
    folded: int = 0
    previous: Snippet | None = None
    later: int = 0

    @property
    def size(self) -> int:
        """The closed turns that are folded or can be."""
        return self.folded + len(self.turns) + self.later

    def outside(self, window: int) -> int:
        """How many turns wait outside a hot window of so many."""
        return max(0, len(self.turns) + self.later - window)


def plan_rolling(
    dialog: Dialog, settings: RollingSettings, room: int | None, told: Told, *, forced: bool = False
) -> Rewrite | Skip:
    """The next fold, or why there is none, looked at in the order of Tryll's own checks.

    `room`: tokens that the summarizer's window leaves for the turns; None does not bound the fold. `told` gives a
    turn's tokens in its prompt. `forced` asks for no trigger.
    """
    if not dialog.size:
        return Skip("empty_dialog")
    if dialog.size <= settings.keep_recent_turns:
        return Skip("hot_window_covers_dialog")
    pending = dialog.turns[: dialog.outside(settings.keep_recent_turns)]
    if not pending:
        return Skip("nothing_new_outside_hot_window")
    skip = None if forced else _below(dialog, settings)
    return skip or _bounded(dialog, pending, settings, room, told)


def skipped(reason: SkipReason, dialog: Dialog, settings: RollingSettings) -> Skip:
    """A reason with the figures of what waits outside the hot window.

    Turns are looked at first; tokens are only counted where these do not fire.
    """
    turns = dialog.outside(settings.keep_recent_turns)
    by_turns = bool(settings.trigger_turns) and turns >= settings.trigger_turns
    counted = settings.trigger_tokens and not by_turns
    return Skip(reason, turns, sum(turn.tokens for turn in dialog.turns[:turns]) if counted else 0)


def _below(dialog: Dialog, settings: RollingSettings) -> Skip | None:
    """Nothing if a trigger fires."""
    found = skipped("below_threshold", dialog, settings)
    by_turns = settings.trigger_turns and found.pending_turns >= settings.trigger_turns
    by_tokens = settings.trigger_tokens and found.pending_tokens >= settings.trigger_tokens
    return None if by_turns or by_tokens else found


def _bounded(
    dialog: Dialog, pending: Sequence[Turn], settings: RollingSettings, room: int | None, told: Told
) -> Rewrite | Skip:
    """The largest chronological prefix that fits; a first turn that does not fit alone holds all up, or is cut."""
    count = fit([told(turn) for turn in pending], room)
    plan = Rewrite(tuple(pending[: max(1, count)]), dialog.previous, False, room, dialog.folded, dialog.size)
    if count:
        return plan
    if settings.oversize == "clip":
        return replace(plan, clipped=True)
    return skipped("input_too_large", dialog, settings)
