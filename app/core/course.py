"""A long backlog played through once, and read from further on while it is folded."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.core.batches import Stretch, countable, foresee_batches
from app.core.estimate import Estimate, Play, Terms
from app.core.settings import LayeredSettings

_DRIFT, _PARTS, _FEWEST = 0.1, 50, 8
"""How far guessed lines may lie beside those that are written, and after which part of a course, or how many folds at
least, it is played anew for that."""


@dataclass
class Course:
    """The folds of one stretch that nothing covered follows, from the memory there was at its beginning.

    Where folding goes on as foreseen, the batches that are left are the last ones of those that were foreseen.
    `memory`: the tokens of the live snippets of each layer.
    """

    stretch: Stretch
    memory: Sequence[Sequence[int]]
    settings: LayeredSettings
    terms: Terms
    turns: int = field(init=False)
    _firsts: list[int] = field(default_factory=list, init=False)
    _lasts: list[int] = field(default_factory=list, init=False)
    _folded: list[int] = field(default_factory=list, init=False)
    _before: list[Estimate] = field(default_factory=list, init=False)
    _sizes: list[tuple[int, ...]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        turns = list(countable([self.stretch]))
        play, at = Play(self.memory, self.settings, self.terms), 0
        self.turns = len(turns)
        for batch in foresee_batches([self.stretch], self.settings):
            self._note(play, at)
            self._firsts.append(turns[at].first)
            self._lasts.append(turns[at + batch.turns - 1].last)
            play.fold(batch)
            at += batch.turns
        self._note(play, at)
        self.stretch = Stretch(())  # as long as the chat, and not needed any more

    def rest(self, first: int, memory: Sequence[Sequence[int]], terms: Terms) -> tuple[int, Estimate] | None:
        """Turns over the window from the uncovered message at index `first` on, and what folding them takes; None where
        folding did not go as foreseen, or guesses have drifted.
        """
        place = bisect_left(self._firsts, first)
        if place == len(self._firsts) or (place and self._lasts[place - 1] >= first):
            return None
        due = self._due(place, memory, terms)
        if due is None:
            return None
        before, whole = self._before[place], self._before[-1]
        left = Estimate(
            whole.folds - before.folds,
            whole.merges - before.merges + due.merges,
            whole.input_tokens - before.input_tokens + due.input_tokens,
        )
        return max(0, self.turns - self._folded[place] - self.settings.verbatim_turns), left

    def _note(self, play: Play, at: int) -> None:
        self._folded.append(at)
        self._before.append(play.so_far)
        self._sizes.append(play.sizes)

    def _due(self, place: int, memory: Sequence[Sequence[int]], terms: Terms) -> Estimate | None:
        """What promotions that are due will take; None where the memory is another one than was foreseen."""
        if place == 0:
            return Estimate() if memory == self.memory else None
        play = Play(memory, self.settings, terms)
        play.settle()
        if place >= max(_FEWEST, len(self._firsts) // _PARTS) and (
            play.sizes != self._sizes[place] or self._off(terms)
        ):
            return None
        return play.so_far

    def _off(self, terms: Terms) -> bool:
        factors = ((terms.fold_factor, self.terms.fold_factor), (terms.merge_factor, self.terms.merge_factor))
        return any(abs(now - then) > _DRIFT * then for now, then in factors)
