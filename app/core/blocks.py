"""What a budget can drop of a prompt: whole turns, each behind what stands alone before it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from app.core.left_out import Unsent, is_empty
from app.core.model import Message, Outline, Turn
from app.core.trim import MESSAGE_OVERHEAD


class Block:
    """A turn that a budget can drop, behind what stands alone before it: pinned messages of folded turns, strays.

    `droppable` is the cost of what a budget can take away.
    """

    __slots__ = ("_pinned_before", "_said", "droppable", "is_turn", "messages", "own", "pinned")

    def __init__(self, alone: Sequence[Message], turn: Turn | None, unsent: Unsent) -> None:
        self.own = turn.messages if turn else ()
        self._said = sendable(self.own, unsent)
        before = sendable(alone, unsent) if alone else ()
        self.messages = (*before, *self._said) if before else self._said
        self.pinned = _pinned(self.messages)
        self._pinned_before = _pinned(before) if before else ()
        self.is_turn = bool(self._said)
        self.droppable = cost(self.messages) - (cost(self.pinned) if self.pinned else 0)

    def sent(self, *, dropped: bool) -> Sequence[Message]:
        """Pinned messages are always sent."""
        return self.pinned if dropped else self.messages

    def early(self, *, dropped: bool) -> Sequence[Message]:
        """Pinned messages whose turn is not sent: they stand before the window and count as the system's."""
        return self.pinned if dropped else self._pinned_before

    @property
    def first_index(self) -> int:
        """Where the turn begins, as far as it is sent."""
        return self._said[0].index

    def was_dropped(self, mark: "Mark") -> bool:
        """Whether a message before the window that began at `mark` would be sent with this turn."""
        earlier = takewhile(lambda message: message.key != mark.key, self._said)
        return any(message.key <= mark.before and not message.pinned for message in earlier)

    @property
    def asked(self) -> Sequence[Message]:
        """The turn's messages before its reply: what was current when the reply was made."""
        reply = self.own[-1].key if self.own else None
        return [message for message in self._said if message.key != reply]


@dataclass(frozen=True, slots=True)
class Mark:
    """The message at which a window began, by key and by where it stood; `before`: the key of the one before it.

    A window that begins with the next turn has no message yet: its key is 0.
    """

    key: int
    index: int
    before: int = 0


BEGINNING = Mark(0, 0)
"""The window of a view that has dropped nothing yet."""


def blocks_of(view: Outline, unsent: Unsent) -> list[Block]:
    """The blocks of a chat's uncovered closed turns, oldest first."""
    return [Block(alone, turn, unsent) for alone, turn in _parts(view)]


def place_of(blocks: Sequence[Block], mark: Mark) -> int:
    """The number of the block in which a window began, after all blocks of which something was dropped.

    Deletions move indices, so the blocks before the window tell where its first message is gone; what came since has a
    greater key than these, unless turns were inserted among the oldest: then the place tells.
    """
    found = next((place for place, block in enumerate(blocks) if any(m.key == mark.key for m in block.own)), None)
    if not mark.before or 0 < mark.key < mark.before:
        after = (place for place, block in enumerate(blocks) if block.own and block.own[0].index >= mark.index)
        return next(after, len(blocks)) if found is None else found
    known = range(len(blocks) if found is None else found + 1)
    start = next((place + 1 for place in reversed(known) if blocks[place].was_dropped(mark)), 0)
    return start if found is None else max(start, _with_unseen(blocks, found, start, mark))


def mark_of(blocks: Sequence[Block], place: int, end: int, earlier: Mark = BEGINNING) -> Mark:
    """Where the window begins whose first block has this number; `end` is the index after the last closed turn.

    What an `earlier` mark says was dropped stays so, though it be hidden or deleted now: it may come back.
    """
    before = next((block.own[-1].key for block in reversed(blocks[:place]) if block.own), 0)
    first = next((block.own[0] for block in blocks[place:] if block.own), None)
    if first is not None and earlier.before < first.key:
        before = max(before, earlier.before)
    if not place and not before:
        return BEGINNING
    return Mark(first.key, first.index, before) if first else Mark(0, end, before)


def _with_unseen(blocks: Sequence[Block], place: int, start: int, mark: Mark) -> int:
    """The place of a window with the blocks before it that were not there to be dropped, as hidden ones."""
    while place > start and blocks[place - 1].own[-1].key < mark.key:
        place -= 1
    return place


def sendable(messages: Iterable[Message], unsent: Unsent) -> tuple[Message, ...]:
    """Those of `messages` that can be sent."""
    gone = unsent.keys
    return tuple(
        [m for m in messages if m.key not in gone and not (m.hidden or m.omitted or (m.blank and is_empty(m)))]
    )


def cost(messages: Iterable[Message]) -> int:
    """Tokens of messages in a prompt, what each costs besides its text included."""
    return sum([message.tokens + MESSAGE_OVERHEAD for message in messages])


def _parts(view: Outline) -> Iterable[tuple[Sequence[Message], Turn | None]]:
    alone: list[Message] = []
    for run in view.runs:
        for turn in run.turns:
            if turn.coverable:
                yield alone, turn
                alone = []
            else:
                alone += turn.messages
        alone += run.strays
    if alone:
        yield alone, None


def _pinned(messages: Iterable[Message]) -> tuple[Message, ...]:
    return tuple([message for message in messages if message.pinned])
