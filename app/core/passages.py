"""Which turns of a chat prompts are tried on (docs/api.md, Trying prompts)."""

from app.core.folding import DRAIN, Fold, fit_passage, plan_fold
from app.core.model import Message, Outline, Turn
from app.core.rewrite import Rewrite, Told, fit, foldable
from app.core.settings import LayeredSettings


def turns_within(view: Outline, first: int, last: int) -> tuple[Turn, ...]:
    """The closed turns that say something to fold and have a message between these indices, both included."""
    return tuple(turn for turn in foldable(view) if any(first <= message.index <= last for message in turn.messages))


def next_fold(view: Outline, settings: LayeredSettings) -> Fold | None:
    """The full batch that would fold next; None if none waits outside the window."""
    return plan_fold(view, settings, DRAIN)


def as_fold(turns: tuple[Turn, ...], settings: LayeredSettings) -> Fold:
    """A fold of as many of these turns, at least one, as a passage holds."""
    return fit_passage(turns, settings.passage_tokens)


def as_rewrite(turns: tuple[Turn, ...], room: int, told: Told, before: int) -> Rewrite:
    """A new summary of as many of these turns, at least one, as fit `room` tokens; `before` turns precede them."""
    some = fit([told(turn) for turn in turns], room)
    return Rewrite(turns[: max(1, some)], clipped=not some, room=room, folded=before)


def spoken(turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    """What these turns say, pinned messages included."""
    return tuple(message for turn in turns for message in turn.messages if not message.blank)
