"""How a chat's prompt has grown, as if it had been played turn by turn with the memory it has.

Each snippet lives from the fold that made it until what absorbed it, or took its place, was made. A fold is taken to
have been made when the last turn that it covers left the window.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

Line = tuple[int, int | None, int]
"""A snippet, live or not: its key, that of what absorbed or succeeded it, and its tokens."""


class Step(NamedTuple):
    """A stretch of the history, or what a snippet itself covers: the 0-based index of the last message, closed turns
    that end in it, tokens of what is not hidden, and of what may be sent (neither hidden nor omitted).
    """

    last: int
    turns: int
    raw: int
    shown: int


@dataclass(frozen=True, slots=True)
class Recent:
    """What never folds: so many of the newest turns, or messages."""

    turns: int = 0
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """At a message: the closed turns up to it, the tokens of all messages that are not hidden, of the memory there was
    then, and of both as they were sent: the memory, and what it did not cover.
    """

    index: int
    turns: int
    raw_tokens: int
    memory_tokens: int
    sent_tokens: int


def grow(
    steps: Sequence[Step], lines: Sequence[Line], under: Mapping[int, Step], recent: Recent, points: int
) -> list[Point]:
    """At most so many points, the last one at the chat's end with the memory as it stands.

    `steps` ascend and leave nothing out; `lines` are in the order in which they were made, and `under` says
    by key what those cover that cover messages themselves.
    """
    if not steps:
        return []
    turns = list(accumulate(step.turns for step in steps))
    raw = list(accumulate(step.raw for step in steps))
    shown = list(accumulate(step.shown for step in steps))
    chosen = _spread(len(steps), points)
    folded = _folded(steps, turns, chosen, recent)
    memory, covered = _memory(lines, under, folded), _covered(under, folded)
    return [
        Point(steps[place].last, turns[place], raw[place], there, there + shown[place] - gone)
        for place, there, gone in zip(chosen, memory, covered, strict=True)
    ]


def _spread(count: int, points: int) -> list[int]:
    """Places among so many, evenly, the last one among them."""
    most = min(count, points)
    return [(number + 1) * count // most - 1 for number in range(most)]


def _folded(steps: Sequence[Step], turns: Sequence[int], chosen: Sequence[int], recent: Recent) -> list[int]:
    """The index up to which all was outside the window, at each place but the last: there the memory is what it is."""
    indices = [step.last for step in steps]
    found = []
    for place in chosen[:-1]:
        by_turns = bisect_right(turns, turns[place] - recent.turns)
        by_messages = bisect_right(indices, indices[place] - recent.messages)
        outside = min(by_turns, by_messages, place + 1)
        found.append(indices[outside - 1] if outside else -1)
    return found


def _memory(lines: Sequence[Line], under: Mapping[int, Step], folded: Sequence[int]) -> list[int]:
    """Tokens of the snippets that lived once all up to these indices had folded; at last, of those that live now."""
    place = {key: bisect_left(folded, moment) for key, moment in _births(lines, under).items()}
    change = [0] * (len(folded) + 1)
    for key, parent, tokens in lines:
        change[place[key]] += tokens
        if parent in place:
            change[place[parent]] -= tokens
    return list(accumulate(change))


def _covered(under: Mapping[int, Step], folded: Sequence[int]) -> list[int]:
    change = [0] * (len(folded) + 1)
    for last, _, tokens, _ in under.values():
        change[bisect_left(folded, last)] += tokens
    return list(accumulate(change))


def _births(lines: Sequence[Line], under: Mapping[int, Step]) -> dict[int, int]:
    """Up to which index all had folded when each was made: its own last message, or that of the newest fold before it,
    and never sooner than what it absorbed.
    """
    born: dict[int, int] = {}
    newest = -1
    for key, _, _ in lines:
        own = under.get(key)
        if own is not None:
            newest = max(newest, own.last)
        born[key] = newest if own is None else own.last
    early = [(key, parent) for key, parent, _ in lines if parent in born and born[parent] < born[key]]
    parents = {key: parent for key, parent, _ in lines} if early else {}
    for key, parent in early:
        moment = born[key]
        above: int | None = parent
        while above in born and born[above] < moment:
            born[above] = moment
            above = parents[above]
    return born
