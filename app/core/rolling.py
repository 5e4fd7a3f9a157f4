"""When rolling memory folds, and how much (rolling-and-buffer.md, `rolling`; Tryll's Summarize node)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.model import Snippet, Turn
from app.core.rewrite import Rewrite, Skip, SkipReason, Told, fit
from app.core.settings import RollingSettings


@dataclass(frozen=True, slots=True)
class Dialog:
    """A chat as rolling memory sees it: its closed turns that are not folded yet, how many are, and their summary."""

    turns: Sequence[Turn]
    folded: int = 0
    previous: Snippet | None = None

    @property
    def size(self) -> int:
        """All closed turns."""
        return self.folded + len(self.turns)


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
    pending = dialog.turns[: max(0, len(dialog.turns) - settings.keep_recent_turns)]
    if not pending:
        return Skip("nothing_new_outside_hot_window")
    skip = None if forced else _below(pending, settings)
    return skip or _bounded(dialog, pending, settings, room, told)


def skipped(reason: SkipReason, dialog: Dialog, settings: RollingSettings) -> Skip:
    """A reason with the figures of what waits outside the hot window."""
    return _skip(reason, dialog.turns[: max(0, len(dialog.turns) - settings.keep_recent_turns)], settings)


def _skip(reason: SkipReason, pending: Sequence[Turn], settings: RollingSettings) -> Skip:
    """Turns are looked at first; tokens are only counted where these do not fire."""
    by_turns = bool(settings.trigger_turns) and len(pending) >= settings.trigger_turns
    counted = settings.trigger_tokens and not by_turns
    return Skip(reason, len(pending), sum(turn.tokens for turn in pending) if counted else 0)


def _below(pending: Sequence[Turn], settings: RollingSettings) -> Skip | None:
    """Nothing if a trigger fires."""
    found = _skip("below_threshold", pending, settings)
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
    return _skip("input_too_large", pending, settings)
