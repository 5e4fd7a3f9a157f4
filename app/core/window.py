"""What a view keeps between requests: where its window begins, until another coverage holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.core.blocks import BEGINNING, Mark
from app.core.prefix import Prefix, from_json


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
    """What the last prompt of a view left: the memory it stood behind, where it began, what it began with."""

    coverage: Coverage
    mark: Mark = BEGINNING
    prefix: Prefix | None = None

    def mark_now(self, now: Coverage) -> Mark:
        """Where the window begins; afresh where the memory stands for something else."""
        return self.mark if self.coverage.holds(now) else BEGINNING

    def as_json(self) -> dict[str, Any]:
        """All of it, for `window_from_json`."""
        held = self.coverage
        return {
            "coverage": [held.strategy, held.version, held.messages, held.newest],
            "mark": [self.mark.key, self.mark.index, self.mark.before],
            "prefix": self.prefix.as_json() if self.prefix else None,
        }


def window_from_json(value: Mapping[str, Any] | None) -> Window | None:
    """The window that `as_json` wrote."""
    if value is None:
        return None
    return Window(Coverage(*value["coverage"]), Mark(*value["mark"]), from_json(value["prefix"]))


def reopened(window: Window) -> Window:
    """The same window, begun afresh: it still knows what the last prompt began with."""
    return replace(window, mark=BEGINNING)


def newer(stored: Window | None, made: Window) -> Window:
    """Which of two windows of a view is kept where another request stored one after `made` was begun.

    Neither the memory nor the start goes back. Deletions move indices: which message was dropped last tells first.
    """
    if stored is None or stored.coverage.version < made.coverage.version:
        return made
    if stored.coverage.version > made.coverage.version:
        return stored
    kept, moved = stored.mark, made.mark
    further = stored.coverage.holds(made.coverage) and (kept.before, kept.index) > (moved.before, moved.index)
    return replace(made, mark=kept) if further else made
