"""What leaves a prompt with each block that a budget drops (rolling-and-buffer.md, Projection)."""

from collections.abc import Mapping, Sequence
from itertools import chain

from app.core.blocks import Block, cost
from app.core.model import Message
from app.core.tool_pairs import pairs


class Leaving:
    """Which block takes which message along, and what that saves.

    A block takes its own messages along but for pinned ones. The messages of a tool pair all leave with the first
    block that takes one of them, pinned or not and wherever they stand: no server takes half a pair. So the total of a
    prompt is `fixed`, the `turns` that are not dropped, and `current`, to the token. All lists are by block.
    """

    def __init__(self, blocks: Sequence[Block], open_turn: Sequence[Message]) -> None:
        self._blocks = blocks
        self._taken = _taken(blocks, open_turn)
        self.turns = [block.droppable for block in blocks]
        self.fixed = sum([cost(block.pinned) for block in blocks if block.pinned])
        self.current = cost(open_turn)
        if self._taken:
            self._count(open_turn)

    @property
    def currents(self) -> list[int]:
        """What was current when each block's turn got its reply; never more than that block takes along."""
        if not self._taken:  # then a block takes what is not pinned
            return [cost([m for m in block.asked if not m.pinned]) for block in self._blocks]
        return [cost(m for m in block.asked if self._by(m, place) == place) for place, block in enumerate(self._blocks)]

    def torn(self, dropped: int) -> frozenset[int]:
        """Keys of messages that would be sent, were their other half not among the oldest `dropped` blocks."""
        lost = {key for key, place in self._taken.items() if place < dropped}
        if not lost:
            return frozenset()
        return frozenset(lost - {m.key for block in self._blocks[:dropped] for m in block.messages if not m.pinned})

    def _count(self, open_turn: Sequence[Message]) -> None:
        """The sums again, where pairs do not leave with the blocks they stand in."""
        self.turns, self.fixed, self.current = [0] * len(self._blocks), 0, 0
        for place, block in enumerate(self._blocks):
            for message in block.messages:
                taker = self._by(message, place)
                if taker is None:
                    self.fixed += cost([message])
                else:
                    self.turns[taker] += cost([message])
        for message in open_turn:
            if message.key in self._taken:
                self.turns[self._taken[message.key]] += cost([message])
            else:
                self.current += cost([message])

    def _by(self, message: Message, place: int) -> int | None:
        """The block that takes a message of block `place` along; None if none does."""
        return self._taken.get(message.key, None if message.pinned else place)


def _taken(blocks: Sequence[Block], open_turn: Sequence[Message]) -> Mapping[int, int]:
    """By key, the block that takes a message along which is of a pair that a budget could tear."""
    found: dict[int, int] = {}
    said = list(chain(chain.from_iterable([block.messages for block in blocks]), open_turn))
    groups = pairs(said)
    if not groups:
        return found
    places = {message.key: place for place, block in enumerate(blocks) for message in block.messages}
    for group in groups:
        loose = [places[message.key] for message in group if message.key in places and not message.pinned]
        together = len({places.get(message.key) for message in group}) == 1
        if loose and not (together and len(loose) == len(group)):
            found.update(dict.fromkeys([message.key for message in group], min(loose)))
    return found
