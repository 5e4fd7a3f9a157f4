"""Where the memory stands in the prompt (rolling-and-buffer.md, Projection)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

Where = Literal["system_end", "system_message", "user_message", "in_chat"]

_IN_CHAT = re.compile(r"in_chat:(0|[1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Placement:
    """A place for the memory; `depth` counts messages from the prompt's end and is 0 but for `in_chat`."""

    where: Where
    depth: int = 0

    @property
    def apart(self) -> bool:
        """Whether the memory is a message of its own, with the tokens a message costs."""
        return self.where != "system_end"

    def __str__(self) -> str:
        return f"in_chat:{self.depth}" if self.where == "in_chat" else self.where


def parse_placement(text: str) -> Placement:
    """`system_end`, `system_message`, `user_message` or `in_chat:DEPTH`, DEPTH a whole number from 0 to 999999.

    Raises ValueError, which says so, for anything else.
    """
    found = _IN_CHAT.fullmatch(text)
    if found:
        return Placement("in_chat", int(found[1]))
    if text == "in_chat" or text not in get_args(Where):
        raise ValueError("Must be system_end, system_message, user_message or in_chat:DEPTH, as in in_chat:4.")
    return Placement(cast("Where", text))


@dataclass(frozen=True, slots=True)
class Slot:
    """A message of a prompt behind the first system message, as far as a placement looks at it.

    `calls` are the ids of the tool calls it makes, `answers` the id of the call it answers; `current`: it belongs to
    the current turn.
    """

    system: bool = False
    calls: tuple[str, ...] = ()
    answers: str | None = None
    current: bool = False


def place(slots: Sequence[Slot], placement: Placement) -> int:
    """The number of the slot before which a memory of its own stands; len(slots) is the prompt's end.

    At a depth it moves back until it stands between no call and its results, and before the current turn's calls: a
    model that is about to go on from a tool's answer reads that last.
    """
    if placement.where != "in_chat":
        after_system = placement.where == "user_message"
        return next((n for n, slot in enumerate(slots) if not slot.system), len(slots)) if after_system else 0
    at = max(0, len(slots) - placement.depth)
    at = min([at, *(n for n, slot in enumerate(slots) if slot.current and (slot.calls or slot.answers is not None))])
    for start, end in sorted(_pairs(slots), reverse=True):
        at = start if start < at <= end else at
    return at


def _pairs(slots: Sequence[Slot]) -> Iterator[tuple[int, int]]:
    """Each call with each of its results, by their numbers; a result answers the last call of its id."""
    callers: dict[str, int] = {}
    for number, slot in enumerate(slots):
        callers.update(dict.fromkeys(slot.calls, number))
        if slot.answers in callers:
            yield callers[slot.answers], number
