"""A chat as a picture: what lies under each snippet, and its history in stretches of one state.

Where a chat has more stretches than a picture can show, the shortest neighbours are shown as one: `mixed`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from app.core.buffer import buffered, plan_buffer
from app.core.model import Message, Outline, Strategy, Turn
from app.core.rewrite import foldable
from app.core.settings import BufferSettings, ChatSettings

State = Literal["ghosted", "visible", "hidden", "omitted", "mixed"]

MOST_STRETCHES = 500


class Stretch(NamedTuple):
    """Neighbouring messages, first and last 0-based index. `turns`: closed ones that end here; `tokens`: of the texts,
    hidden ones too; `skipped`: a person chose to leave the turns visible.
    """

    first_index: int
    last_index: int
    state: State
    skipped: bool = False
    turns: int = 0
    tokens: int = 0

    @property
    def messages(self) -> int:
        """How many there are."""
        return self.last_index - self.first_index + 1


class Cell(NamedTuple):
    """So many neighbouring messages from an index on, counted together: those in each state, and as in a stretch.

    `skipped` counts those of the visible ones.
    """

    first_index: int
    messages: int
    ghosted: int
    hidden: int
    omitted: int
    skipped: int
    turns: int
    tokens: int
    hidden_tokens: int

    @property
    def stretch(self) -> Stretch:
        """All of it as one."""
        state, skipped = self._state
        last = self.first_index + self.messages - 1
        return Stretch(self.first_index, last, state, skipped, self.turns, self.tokens)

    @property
    def _state(self) -> tuple[State, bool]:
        numbers: dict[State, int] = {"ghosted": self.ghosted, "hidden": self.hidden, "omitted": self.omitted}
        present = [state for state, number in numbers.items() if number]
        if not present and self.skipped in (0, self.messages):
            return "visible", bool(self.skipped)
        whole = len(present) == 1 and numbers[present[0]] == self.messages
        return (present[0] if whole else "mixed"), False


class Under(NamedTuple):
    """What lies under a snippet: 0-based indices, numbers of messages and closed turns, tokens of their texts."""

    key: int
    first_index: int
    last_index: int
    messages: int
    turns: int
    tokens: int

    @property
    def torn(self) -> bool:
        """Whether messages that it does not cover lie between those that it does."""
        return self.messages <= self.last_index - self.first_index


def state_of(*, ghosted: bool, hidden: bool, omitted: bool) -> State:
    """A message's state (http-api.md, Memory: messages = visible + ghosted + hidden + omitted)."""
    if ghosted:
        return "ghosted"
    if hidden:
        return "hidden"
    return "omitted" if omitted else "visible"


def whole(covered: Iterable[Under]) -> Iterator[Stretch]:
    """What snippets cover that are not torn, neighbours as one."""
    return runs((first, last, turns, tokens) for _, first, last, size, turns, tokens in covered if size > last - first)


def runs(covered: Iterable[tuple[int, int, int, int]]) -> Iterator[Stretch]:
    """Covered messages, neighbours as one: first and last index, turns and tokens of pieces, in any order."""
    start, end, turns, tokens = 0, -1, 0, 0
    for first, last, closed, size in sorted(covered):
        if first != end + 1:
            if end >= start:
                yield Stretch(start, end, "ghosted", False, turns, tokens)
            start, turns, tokens = first, 0, 0
        end, turns, tokens = last, turns + closed, tokens + size
    if end >= start:
        yield Stretch(start, end, "ghosted", False, turns, tokens)


def draw(pieces: Iterable[Stretch], most: int = MOST_STRETCHES) -> list[Stretch]:
    """The stretches of a history: neighbours of one state as one, and at most `most` of them.

    `pieces` make up the history without gap or overlap, in any order.
    """
    found: list[Stretch] = []
    for (state, _), alike in groupby(sorted(pieces), key=itemgetter(2, 3)):
        if state == "mixed":
            found.extend(alike)
        else:
            found.append(_joined(list(alike)))
    return _fewer(found, most)


def _fewer(stretches: list[Stretch], most: int) -> list[Stretch]:
    """Join neighbours until there are few enough: first all that come to two messages, then to four, and so on."""
    longest = 2
    while len(stretches) > max(1, most):
        stretches = _shorter_joined(stretches, longest, len(stretches) - max(1, most))
        longest *= 2
    return stretches


def _shorter_joined(stretches: Iterable[Stretch], longest: int, surplus: int) -> list[Stretch]:
    found: list[Stretch] = []
    for stretch in stretches:
        if surplus and found and stretch.last_index - found[-1].first_index < longest:
            found[-1] = _joined([found[-1], stretch])
            surplus -= 1
        else:
            found.append(stretch)
    return found


def _joined(stretches: Sequence[Stretch]) -> Stretch:
    """Neighbours as one, by index."""
    first, last = stretches[0], stretches[-1]
    alike = all(stretch[2:4] == first[2:4] for stretch in stretches)
    state: State = first.state if alike else "mixed"
    turns = sum(stretch.turns for stretch in stretches)
    tokens = sum(stretch.tokens for stretch in stretches)
    return Stretch(first.first_index, last.last_index, state, alike and first.skipped, turns, tokens)


def reopen(stretches: Iterable[Stretch], indices: Sequence[int]) -> list[Stretch]:
    """The same, where the replies at some places end no turn after all (layered.md, Words)."""
    found = []
    for stretch in stretches:
        here = sum(stretch.first_index <= index <= stretch.last_index for index in indices)
        found.append(stretch._replace(turns=stretch.turns - here))
    return found


def tail_of(uncovered: Sequence[Message], total: int) -> list[Message]:
    """The messages behind the newest covered one. `uncovered` ascends by index; `total` counts the chat's messages."""
    start, expected = len(uncovered), total - 1
    while start and uncovered[start - 1].index == expected:
        start, expected = start - 1, expected - 1
    return list(uncovered[start:])


def window_of(tail: Outline, strategy: str, settings: ChatSettings) -> Sequence[Turn]:
    """The newest turns, which do not fold yet, of those behind the newest covered message."""
    turns = foldable(tail)
    match Strategy(strategy):
        case Strategy.LAYERED:
            countable = [turn for turn in turns if not turn.skipped]
            return countable[-settings.layered.verbatim_turns :]
        case Strategy.ROLLING:
            return turns[max(0, len(turns) - settings.rolling.keep_recent_turns) :]
        case Strategy.SUMMARY_BUFFER:
            return _kept(tail, settings.summary_buffer)
        case _:
            return ()


def _kept(tail: Outline, settings: BufferSettings) -> Sequence[Turn]:
    """All turns but those that a fold, asked for now, would take."""
    due = plan_buffer(buffered(tail), settings, None, lambda turn: turn.tokens, forced=True)
    return foldable(tail)[len(due.turns) if due else 0 :]
