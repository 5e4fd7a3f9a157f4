"""A chat as a picture: what lies under each snippet, and its history in stretches of one state.

Where a chat has more stretches than a picture can show, the shortest neighbours are shown as one: `mixed`.
"""

from collections.abc import Iterable, Mapping, Sequence
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


class Leaf(NamedTuple):
    """What a snippet covers itself: 0-based indices, numbers of messages and closed turns, tokens of their texts."""

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

    @property
    def stretch(self) -> Stretch:
        """All of it as one; only of a leaf that is not torn."""
        return Stretch(self.first_index, self.last_index, "ghosted", False, self.turns, self.tokens)


def state_of(*, ghosted: bool, hidden: bool, omitted: bool) -> State:
    """A message's state (http-api.md, Memory: messages = visible + ghosted + hidden + omitted)."""
    if ghosted:
        return "ghosted"
    if hidden:
        return "hidden"
    return "omitted" if omitted else "visible"


def gather(leaves: Iterable[Leaf], parents: Mapping[int, int]) -> dict[int, Leaf]:
    """What lies under each root, through whatever layers, by its key. `parents`: what absorbed a snippet."""
    roots: dict[int, int] = {}
    found: dict[int, Leaf] = {}
    for leaf in leaves:
        root = _root_of(leaf.key, parents, roots)
        known = found.get(root)
        found[root] = _together(known, leaf) if known else leaf
    return found


def _root_of(key: int, parents: Mapping[int, int], roots: dict[int, int]) -> int:
    """The end of a chain, which may be as long as a chat: one walk along it tells the root of all on the way."""
    way: list[int] = []
    while key not in roots and key in parents:
        way.append(key)
        key = parents[key]
    root = roots.get(key, key)
    roots.update(dict.fromkeys(way, root))
    return root


def _together(one: Leaf, other: Leaf) -> Leaf:
    return Leaf(
        one.key,
        min(one.first_index, other.first_index),
        max(one.last_index, other.last_index),
        one.messages + other.messages,
        one.turns + other.turns,
        one.tokens + other.tokens,
    )


def draw(pieces: Iterable[Stretch], most: int = MOST_STRETCHES) -> list[Stretch]:
    """The stretches of a history: neighbours of one state as one, and at most `most` of them.

    `pieces` make up the history without gap or overlap, in any order.
    """
    found: list[Stretch] = []
    for piece in sorted(pieces):
        if found and piece.state != "mixed" and found[-1][2:4] == piece[2:4]:
            found[-1] = _joined(found[-1], piece)
        else:
            found.append(piece)
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
            found[-1] = _joined(found[-1], stretch)
            surplus -= 1
        else:
            found.append(stretch)
    return found


def _joined(one: Stretch, other: Stretch) -> Stretch:
    alike = one[2:4] == other[2:4]
    state: State = one.state if alike else "mixed"
    skipped = alike and one.skipped
    return Stretch(
        one.first_index, other.last_index, state, skipped, one.turns + other.turns, one.tokens + other.tokens
    )


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
