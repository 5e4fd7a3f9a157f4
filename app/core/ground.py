"""What of a chat may come under snippets that were not folded here."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.core.model import Role


class Spot(NamedTuple):
    """A message as far as covering looks at it. `plain`: neither hidden, pinned nor omitted. `closes`: a turn ends
    here (layered.md, Words).
    """

    role: Role
    blank: bool
    closes: bool
    plain: bool
    covered: bool


class Held(NamedTuple):
    """A live snippet that the chat has already: first and last index of what lies under it."""

    first: int
    last: int
    layer: int


@dataclass(frozen=True, slots=True)
class Ground:
    """A chat's messages, a byte each, by index: `free` ones may be covered, `said` ones of these have text, `closes`
    ones of these end a turn. `held` ascend, and nothing inside them is free.
    """

    free: bytes
    said: bytes
    closes: bytes
    held: tuple[Held, ...] = ()

    @property
    def total(self) -> int:
        """How many messages the chat has."""
        return len(self.free)

    def says(self, first: int, last: int) -> int:
        """How many messages with text may be covered from `first` to `last`."""
        return self.said.count(1, first, last + 1)

    def turn_ends(self, first: int, last: int) -> list[int]:
        """Where turns that may be covered end, from `first` to `last`."""
        return [index for index in range(first, last + 1) if self.closes[index]]

    def turns_after(self, index: int) -> int:
        """How many turns that may be covered end after a place."""
        return self.closes.count(1, index + 1)

    def widest(self, first: int, last: int) -> tuple[int, int] | None:
        """The first and last free message of that stretch from `first` to `last` between held ranges in which most is
        said, the earliest of several; None where nothing is.
        """
        stretches = self._stretches(first, last)
        best = max(stretches, key=lambda stretch: self.says(*stretch), default=None)
        if best is None or not self.says(*best):
            return None
        return self.free.find(1, best[0], best[1] + 1), self.free.rfind(1, best[0], best[1] + 1)

    def held_within(self, first: int, last: int) -> tuple[Held, ...]:
        """The snippets of the chat that reach into a range."""
        start = bisect_left(self.held, first, key=lambda held: held.last)
        return self.held[start : bisect_right(self.held, last, key=lambda held: held.first)]

    def _stretches(self, first: int, last: int) -> list[tuple[int, int]]:
        held = self.held_within(first, last)
        starts = [first, *(one.last + 1 for one in held)]
        stops = [*(one.first - 1 for one in held), last]
        return [stretch for stretch in zip(starts, stops, strict=True) if stretch[0] <= stretch[1]]


def survey(spots: Iterable[Spot], held: Sequence[Held] = ()) -> Ground:
    """The ground of a chat, from all its messages in order.

    Not free are: what a person marked, what is covered or lies inside a held range, what stands before the first user
    or assistant message (the chat's own system prompt), and the open turn.
    """
    free, said, closes = bytearray(), bytearray(), bytearray()
    begun, end = False, 0
    for index, spot in enumerate(spots):
        begun = begun or spot.covered or spot.role in (Role.USER, Role.ASSISTANT)
        mine = begun and spot.plain and not spot.covered
        free.append(mine)
        said.append(mine and not spot.blank)
        closes.append(mine and spot.closes)
        end = index + 1 if spot.closes or spot.covered else end
    for marks in (free, said, closes):
        _clear(marks, end, len(marks))
        for inside in held:
            _clear(marks, inside.first, inside.last + 1)
    return Ground(bytes(free), bytes(said), bytes(closes), tuple(held))


def _clear(marks: bytearray, start: int, stop: int) -> None:
    marks[start:stop] = bytes(max(0, stop - start))
