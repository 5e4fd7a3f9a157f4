"""When a summary buffer folds before an answer, and how much (rolling-and-buffer.md, `summary_buffer`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.core.model import Message, Outline, Snippet, Turn
from app.core.rewrite import Rewrite, Told, fit, foldable
from app.core.settings import BufferSettings


@dataclass(frozen=True, slots=True)
class Buffered:
    """A chat as a summary buffer sees it. `waiting` counts its stored messages that no summary covers."""

    turns: Sequence[Turn]
    waiting: int
    folded: int = 0
    previous: Snippet | None = None


def buffered(view: Outline, folded: int = 0, previous: Snippet | None = None) -> Buffered:
    """What waits in a chat; messages that are never sent, or always, do not count."""
    strays = sum(_countable(run.strays) for run in view.runs)
    waiting = sum([_countable(turn.messages) for turn in view.turns]) + strays + _countable(view.open)
    return Buffered(foldable(view), waiting, folded, previous)


def plan_buffer(
    chat: Buffered, settings: BufferSettings, room: int | None, told: Told, *, forced: bool = False
) -> Rewrite | None:
    """The next fold: all but the newest messages to keep, or the part of it that fits `room` tokens; None if not due.

    The cut stands between turns, so that no reply is parted from what it answers and no call from its results; where
    the count falls inside a turn the cut moves back. `forced` asks for no threshold.
    """
    if not forced and not is_due(chat.waiting, settings):
        return None
    sizes = accumulate([_countable(turn.messages) for turn in chat.turns])  # what is pinned does not count anyway
    count = sum(1 for size in sizes if chat.waiting - size >= settings.recent_messages_to_keep)
    if not count:
        return None
    some = count if room is None else fit([told(turn) for turn in chat.turns[:count]], room)
    turns = tuple(chat.turns[: max(1, some)])
    size = chat.folded + len(chat.turns)
    return Rewrite(turns, chat.previous, not some, room, chat.folded, size, rest=len(turns) < count)


def is_due(waiting: int, settings: BufferSettings) -> bool:
    """Whether so many messages are folded before the next answer."""
    most = settings.max_messages_before_summary
    return waiting > most if settings.compare == "exceed" else waiting >= most


def _countable(messages: Iterable[Message]) -> int:
    return len([m for m in messages if not (m.blank or m.pinned or m.hidden or m.omitted)])
