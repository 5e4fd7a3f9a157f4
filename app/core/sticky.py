"""Where a view's window begins: it is kept between requests and only moves on (rolling-and-buffer.md, Projection)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.model import Turn
from app.core.prefix import Prefix, from_json


def advance(turns: Sequence[int], current: int, fixed: int, budget: int, start: int) -> int:
    """The index of the first turn that is sent; the caller keeps it for the next prompt of the same view.

    `turns` are the costs in tokens of the visible closed turns from the first uncovered one on, `current` what the
    current turn costs, `fixed` what every prompt holds, `start` where the window began. Over budget, whole oldest turns
    go until 75 % of it is left over; at exactly the budget none does. It never moves back: between folds, turns only
    join at the end. With len(turns) there is no history.
    """
    start = min(max(start, 0), len(turns))
    total = fixed + current + sum(turns[start:])
    if total <= budget:
        return start
    while start < len(turns) and 4 * total > 3 * budget:
        total -= turns[start]
        start += 1
    return start


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the memory of a chat stood for at one moment.

    `strategy` is the one whose memory is sent, `version` the chat's memory_version, `messages` how many are covered,
    `newest` the index of the newest of these.
    """

    strategy: str
    version: int
    messages: int
    newest: int | None

    def holds(self, now: "Coverage") -> bool:
        """Whether nothing was folded, unwound, cleared or switched since.

        A deletion moves indices and counts too, so they tell of a fold only together with another memory_version.
        """
        if self.strategy != now.strategy:
            return False
        return self.version == now.version or (self.messages, self.newest) == (now.messages, now.newest)


@dataclass(frozen=True, slots=True)
class Window:
    """Where a view's window begins, told so that deletions and insertions elsewhere do not move it.

    `first` is the key of the message it begins with, `after` that of the last message before it, `index` where it was.
    A window that lost nothing yet has neither. `prefix` is what the last prompt began with.
    """

    coverage: Coverage
    first: int | None = None
    after: int | None = None
    index: int = 0
    prefix: Prefix | None = None

    def as_json(self) -> dict[str, Any]:
        """All of it, for `window_from_json`."""
        held = self.coverage
        return {
            "coverage": [held.strategy, held.version, held.messages, held.newest],
            "start": [self.first, self.after, self.index],
            "prefix": self.prefix.as_json() if self.prefix else None,
        }


def window_from_json(value: Mapping[str, Any] | None) -> Window | None:
    """The window that `as_json` wrote."""
    if value is None:
        return None
    first, after, index = value["start"]
    return Window(Coverage(*value["coverage"]), first, after, index, from_json(value["prefix"]))


def open_window(turns: Sequence[Turn], start: int, coverage: Coverage, prefix: Prefix | None = None) -> Window:
    """The window that begins with the turn `start` of the visible closed turns; len(turns): with the next one."""
    if start == 0:
        return Window(coverage, prefix=prefix)
    before = turns[start - 1].messages[-1]
    first = turns[start].messages[0] if start < len(turns) else None
    return Window(coverage, first.key if first else None, before.key, before.index + 1, prefix)


def find_start(window: Window | None, turns: Sequence[Turn], coverage: Coverage) -> int:
    """The index of the visible closed turn with which the window begins now; 0 where it begins afresh.

    A message that is gone is looked for by the one before it, then by its place.
    """
    if window is None or not window.coverage.holds(coverage) or window.after is None:
        return 0
    for key, offset in ((window.first, 0), (window.after, 1)):
        for place, turn in enumerate(turns):
            if any(message.key == key for message in turn.messages):
                return place + offset
    return next((place for place, turn in enumerate(turns) if turn.messages[-1].index >= window.index), len(turns))
