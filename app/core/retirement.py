"""When too few turns are left verbatim (layered.md, promise 3)."""

from app.core.model import Outline
from app.core.settings import LayeredSettings


def window_turns(view: Outline) -> int:
    """The visible turns after the newest covered message."""
    last = view.runs[-1] if view.runs else None
    if last is None or last.followed:
        return 0
    return sum(1 for turn in last.turns if turn.coverable)


def turns_to_uncover(view: Outline, settings: LayeredSettings) -> int:
    """How many turns must become visible again; 0 while at least half of the window is.

    A deletion, a fork or a setting can leave too few; folds of window `strict` never do.
    """
    if settings.window == "compat":
        return 0
    visible = window_turns(view)
    return settings.verbatim_turns - visible if 2 * visible < settings.verbatim_turns else 0
