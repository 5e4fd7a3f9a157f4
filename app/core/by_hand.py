"""Which turns a person may write a snippet over (http-api.md, POST …/snippets)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.model import Message, Outline, Turn

Why = Literal["reversed", "covered", "prompt", "enclosed", "cut", "open", "stray", "window", "nothing"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why not: `first` and `last` say where what is in the way begins and ends (indices).

    `covered`: a message of the range is under a snippet. `prompt`: it is the chat's own system prompt. `enclosed`: it
    lies inside a live snippet's range. `cut`: only a part of a turn is in the range. `open`, `stray`: no reply closes
    it, yet or ever. `window`: it is one of the newest turns. `nothing`: the range holds nothing that can be covered.
    """

    why: Why
    first: int
    last: int


def choose_turns(
    view: Outline, uncovered: Sequence[Message], verbatim_turns: int, first: int, last: int
) -> tuple[Turn, ...] | Refusal:
    """The turns from one index to another, both included, if they are whole, uncovered and outside the window.

    `uncovered` holds all uncovered messages by index, as `view` was made from them. Hidden and omitted ones are in no
    turn, and in nobody's way.
    """
    if first > last:
        return Refusal("reversed", first, last)
    free = {message.index for message in uncovered if first <= message.index <= last}
    missing = next((index for index in range(first, last + 1) if index not in free), None)
    if missing is not None:
        return Refusal("covered", missing, missing)
    turns = tuple(turn for run in view.runs for turn in run.turns if _touches(turn.messages, first, last))
    return _obstacle(view, turns, verbatim_turns, first, last) or turns


def _obstacle(view: Outline, turns: Sequence[Turn], verbatim_turns: int, first: int, last: int) -> Refusal | None:
    strays = [run.strays for run in view.runs]
    groups: list[tuple[Why, Sequence[Message]]] = [
        ("prompt", view.prompt),
        *(("enclosed", turn.messages) for run in view.runs if run.enclosed for turn in run.turns),
        *(("cut", turn.messages) for turn in turns if _reaches_out(turn, first, last)),
        ("open", view.open),
        *(("stray", messages) for messages in strays),
        *(("window", turn.messages) for turn in _newest(view, verbatim_turns)),
    ]
    for why, messages in groups:
        if _touches(messages, first, last):
            return Refusal(why, messages[0].index, messages[-1].index)
    return None if any(turn.coverable for turn in turns) else Refusal("nothing", first, last)


def _newest(view: Outline, verbatim_turns: int) -> list[Turn]:
    turns = [turn for run in view.runs if not run.enclosed for turn in run.turns if turn.coverable]
    return turns[-verbatim_turns:]


def _touches(messages: Sequence[Message], first: int, last: int) -> bool:
    return any(first <= message.index <= last for message in messages)


def _reaches_out(turn: Turn, first: int, last: int) -> bool:
    return turn.messages[0].index < first or turn.messages[-1].index > last
