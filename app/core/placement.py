"""Where the memory stands in the prompt (rolling-and-buffer.md, Projection)."""

import re
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
