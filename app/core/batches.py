"""Which batches a backlog will fold in, foreseen from the sizes of its turns alone (layered.md, Folding and Backlog).

`app.core.folding` decides the next fold from the messages themselves; here all of them are foreseen at once, in a time
that grows with the number of turns. Both come to the same batches: a property test holds them together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.core.model import Outline, Turn
from app.core.settings import LayeredSettings


class TurnSize(NamedTuple):
    """A closed turn as far as sizes go. `tokens`: its messages, pinned ones too; `lines`: those that say something.
    `coverable`: a fold of it covers something. `first` and `last`: indices of its outermost messages.
    """

    tokens: int
    lines: int
    coverable: bool = True
    skipped: bool = False
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Uncovered turns with no covered message between them (`app.core.model.Run`), as sizes.

    `layer`: of the live snippet that follows, where late folds enter.
    """

    turns: Sequence[TurnSize]
    preceded: bool = False
    followed: bool = False
    layer: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """A fold to come: its turns, the tokens of its passage, and how many lines these stand in.

    `late`: turns after it have folded already; `first`: nothing before its stretch has; `layer`: where it enters.
    """

    turns: int
    tokens: int
    lines: int
    layer: int = 0
    late: bool = False
    first: bool = False


def sizes_of(view: Outline, layers: Sequence[int] = ()) -> list[Stretch]:
    """The stretches of an outline that is whole, without those that join a snippet instead of folding.

    `layers`: of the live snippet after each stretch that covered turns follow, in order.
    """
    after = iter(layers)
    return [
        Stretch(
            [size_of(turn) for turn in run.turns],
            run.preceded,
            run.followed,
            next(after, 0) if run.followed and any(turn.coverable for turn in run.turns) else 0,
        )
        for run in view.runs
        if not run.enclosed
    ]


def size_of(turn: Turn) -> TurnSize:
    """A turn's size."""
    said = [message for message in turn.messages if not message.blank]
    first, last = turn.messages[0].index, turn.messages[-1].index
    return TurnSize(turn.tokens, len(said), bool(turn.coverable), turn.skipped, first, last)


def count_over(stretches: Iterable[Stretch], settings: LayeredSettings) -> int:
    """Turns over the window; skipped ones do not count."""
    return max(0, sum(1 for _ in countable(stretches)) - settings.verbatim_turns)


def foresee_batches(stretches: Sequence[Stretch], settings: LayeredSettings, *, partial: bool = False) -> list[Batch]:
    """The folds of `all`, in order; with `partial` those of `summarize`, which folds what makes no full batch too."""
    room = _Room(list(countable(stretches)), settings)
    found: list[Batch] = []
    for chain in _chains(stretches, room.candidates):
        start = 0
        while start < len(chain.turns):
            size = _size(chain, start, room, settings, partial=partial)
            if not size:
                return found
            taken = _fitting(chain.turns[start : start + size], settings.passage_tokens)
            found.append(_batch(chain, taken, settings))
            room.take(taken)
            start += len(taken)
    return found


@dataclass(frozen=True, slots=True)
class _Chain:
    """Adjacent turns that may fold together (`app.core.folding`)."""

    turns: Sequence[TurnSize]
    grows: bool
    stretch: Stretch


class _Room:
    """What is still to be folded: turns over the window, and the tokens of those outside it."""

    def __init__(self, turns: Sequence[TurnSize], settings: LayeredSettings) -> None:
        self.over = max(0, len(turns) - settings.verbatim_turns)
        self.tokens = sum(turn.tokens for turn in turns[: self.over])
        self.candidates = len(turns) if self.over and settings.window == "compat" else self.over

    def take(self, turns: Sequence[TurnSize]) -> None:
        """Fold the oldest."""
        self.over -= len(turns)
        self.tokens -= sum(turn.tokens for turn in turns)


def countable(stretches: Iterable[Stretch]) -> Iterator[TurnSize]:
    """The turns that can fold, and that nobody skipped."""
    return (turn for stretch in stretches for turn in stretch.turns if turn.coverable and not turn.skipped)


def _chains(stretches: Iterable[Stretch], most: int) -> Iterator[_Chain]:
    """The oldest `most` countable turns, cut where a skipped one or a covered message lies between."""
    left = most
    for stretch in stretches:
        taken: list[TurnSize] = []
        for turn in (turn for turn in stretch.turns if turn.coverable):
            if turn.skipped or not left:
                if taken:
                    yield _Chain(taken, not turn.skipped, stretch)
                taken = []
                if not left:
                    return
            else:
                taken.append(turn)
                left -= 1
        if taken:
            yield _Chain(taken, not stretch.followed, stretch)


def _size(chain: _Chain, start: int, room: _Room, settings: LayeredSettings, *, partial: bool) -> int:
    """How many turns of a chain fold next; 0 ends the folding."""
    rest = len(chain.turns) - start
    full = min(settings.turns_per_batch, rest)
    if room.over <= 0:
        return 0
    if settings.window == "compat":
        return full
    if room.over >= settings.turns_per_batch or partial or chain.stretch.followed:
        return full if full == settings.turns_per_batch or not chain.grows or partial else 0
    return min(full, _over_verbatim_tokens(chain.turns[start:], room.tokens, settings.verbatim_tokens))


def _over_verbatim_tokens(turns: Sequence[TurnSize], waiting: int, limit: int) -> int:
    """How many of the oldest must go until what waits holds no more than `limit` tokens (0: none)."""
    count = 0
    while limit and waiting > limit and count < len(turns):
        waiting -= turns[count].tokens
        count += 1
    return count


def _fitting(turns: Sequence[TurnSize], limit: int) -> Sequence[TurnSize]:
    """As many as fit the passage, at least one."""
    size, tokens = 1, turns[0].tokens
    while size < len(turns) and tokens + turns[size].tokens <= limit:
        tokens += turns[size].tokens
        size += 1
    return turns[:size]


def _batch(chain: _Chain, turns: Sequence[TurnSize], settings: LayeredSettings) -> Batch:
    tokens = min(settings.passage_tokens, sum(turn.tokens for turn in turns))
    stretch = chain.stretch
    late = stretch.followed
    return Batch(
        len(turns),
        tokens,
        sum(turn.lines for turn in turns),
        layer=stretch.layer if late else 0,
        late=late,
        first=not stretch.preceded,
    )
