"""What folding batches will take: the merges they cause, and the tokens that all these calls are sent.

The layers are played through with lines of a likely length. How many calls it takes follows from the limits of the
layers and is exact; how much is sent, and what `memory_tokens` asks for, is as good as the guess of the lines.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.batches import Batch
from app.core.settings import LayeredSettings

_SHARE, _FULLEST = 0.47, 0.9
"""A line's part of its source, and of the limit where that is less: measured with the built-in summarizer on two plays.
"""

_PRIOR = 3
"""The guess counts as much as so many lines that were really written."""

_ROOM_FOR_INSTRUCTIONS = 800
"""What `app.services.asking` sets aside in a model's window."""


@dataclass(frozen=True, slots=True)
class Written:
    """Lines a chat has got already: tokens of the lines, and tokens of their sources, in the same order."""

    lines: Sequence[int] = ()
    sources: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What calls are made with. Tokens, but `width`, the number of calls at once.

    `fold_prompt` and `merge_prompt`: our instructions alone; `speaker`: what names a line's speaker; `window`: of the
    model, None if unknown; `fold_factor` and `merge_factor`: how much longer this model's lines are than the guess.
    """

    fold_prompt: int = 0
    merge_prompt: int = 0
    speaker: int = 0
    width: int = 1
    window: int | None = None
    fold_factor: float = 1.0
    merge_factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls by kind, and the tokens they are sent."""

    folds: int = 0
    merges: int = 0
    input_tokens: int = 0

    @property
    def calls(self) -> int:
        """Calls to the model; tried again ones are not foreseen."""
        return self.folds + self.merges


def factor(written: Written, settings: LayeredSettings, before: float = 1.0) -> float:
    """How long lines have been against the guess; near `before` while there are few."""
    guesses = [_guess(source, settings) for source in written.sources]
    mean = sum(guesses) / len(guesses) if guesses else 1.0
    return (sum(written.lines) + _PRIOR * mean * before) / (sum(guesses) + _PRIOR * mean)


def estimate(
    batches: Iterable[Batch], layers: Sequence[Sequence[int]], settings: LayeredSettings, terms: Terms
) -> Estimate:
    """What folding these batches takes. `layers`: tokens of the live snippets of each layer, oldest first."""
    play = Play(layers, settings, terms)
    for batch in batches:
        play.fold(batch)
    return play.so_far


class Play:
    """Folds played through, one after another. `layers` as for `estimate`."""

    def __init__(self, layers: Sequence[Sequence[int]], settings: LayeredSettings, terms: Terms) -> None:
        self._memory = _Memory(layers, settings, terms)
        self._settings, self._terms = settings, terms
        # The `width` - 1 folds under way when one begins are not in the memory yet; their turns are told as they are.
        self._told: deque[int] = deque(maxlen=terms.width - 1)
        self._seen = deque([self._memory.total], maxlen=terms.width)
        self._folds = self._sent = 0

    @property
    def so_far(self) -> Estimate:
        """What it took."""
        return Estimate(self._folds, self._memory.merges, self._sent + self._memory.sent)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many lines each layer holds."""
        return self._memory.sizes

    @property
    def layers(self) -> list[list[int]]:
        """The tokens of these lines."""
        return self._memory.layers

    def settle(self) -> None:
        """Promote what is due before the first fold."""
        self._memory.settle()

    def fold(self, batch: Batch) -> None:
        """Fold one batch, and promote until nothing is due."""
        settings, terms = self._settings, self._terms
        passage = batch.tokens + batch.lines * terms.speaker
        before = self._memory.before(batch) if batch.late else self._seen[0]
        self._sent += terms.fold_prompt + passage + _context(before, sum(self._told), passage, settings, terms)
        self._told.append(passage)
        self._memory.fold(batch)
        self._seen.append(self._memory.total)
        self._folds += 1


def count_merges(counts: Sequence[int], folds: int, settings: LayeredSettings) -> int:
    """How many merge calls `folds` new snippets cause on layers of these sizes; memory_tokens is left out of account.

    >>> count_merges([30], 2, LayeredSettings())
    1
    """
    sizes = [0] * settings.max_layers
    for layer, count in enumerate(counts):  # what lies beyond the deepest layer counts with it
        sizes[min(layer, len(sizes) - 1)] += count
    merges = 0
    for _ in range(folds):  # a job asks after every fold: plain numbers, no lines
        sizes[0] += 1
        for layer in range(len(sizes)):
            merges += _settle(sizes, layer, settings)
    return merges


def _settle(sizes: list[int], layer: int, settings: LayeredSettings) -> int:
    """Promote out of a layer until it fits; how many merges that takes."""
    merges, deepest = 0, layer == len(sizes) - 1
    while sizes[layer] > settings.snippets_per_layer and not (deepest and settings.deepest_layer == "keep"):
        merged = deepest or sizes[layer + 1] > 0
        sizes[layer] -= settings.snippets_per_promotion if merged else 1
        sizes[layer if deepest else layer + 1] += 1
        merges += merged
    return merges


def _guess(source: int, settings: LayeredSettings) -> float:
    return max(1.0, min(settings.snippet_tokens * _FULLEST, source * _SHARE))


def _context(memory: int, raw: int, passage: int, settings: LayeredSettings, terms: Terms) -> int:
    """Tokens of the memory and of raw turns before a passage, as far as they are told."""
    limit, raw_limit = settings.context_tokens or memory, settings.passage_tokens
    if terms.window is not None:
        room = max(1, terms.window - passage - 2 * settings.snippet_tokens - _ROOM_FOR_INSTRUCTIONS)
        raw_limit = min(raw_limit, room // 2)
        limit = min(limit, max(1, room - min(raw, raw_limit)))
    return min(memory, limit) + min(raw, raw_limit)


class _Memory:
    """The layers while folds come in: lines of likely lengths, promoted as `app.core.promotion` says.

    `merges`: calls made for promotions; `sent`: the tokens of these.
    """

    def __init__(self, layers: Sequence[Sequence[int]], settings: LayeredSettings, terms: Terms) -> None:
        self._settings, self._terms = settings, terms
        self._deepest = settings.max_layers - 1
        self._layers: list[deque[int]] = [deque() for _ in range(settings.max_layers)]
        for layer in reversed(range(len(layers))):  # what lies beyond the deepest layer comes first in it
            self._layers[min(layer, self._deepest)].extend(layers[layer])
        self._sums = [sum(lines) for lines in self._layers]
        self._late = 0
        self.merges = self.sent = 0

    @property
    def total(self) -> int:
        """Tokens of all lines."""
        return sum(self._sums)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many lines each layer holds."""
        return tuple(map(len, self._layers))

    @property
    def layers(self) -> list[list[int]]:
        """Tokens of the lines of each layer, oldest first."""
        return [list(lines) for lines in self._layers]

    def before(self, batch: Batch) -> int:
        """Tokens of the lines before a late batch: where nothing precedes it, those of the late ones before it."""
        return min(self._late, self.total) if batch.first else self.total

    def fold(self, batch: Batch) -> None:
        """Take a line in, and promote until nothing is due."""
        line = self._line(batch.tokens, self._terms.fold_factor)
        self._late += line if batch.late else 0
        self._add(min(batch.layer, self._deepest), line)
        self.settle()

    def settle(self) -> None:
        """Promote until nothing is due."""
        while self._promote():
            pass

    def _promote(self) -> bool:
        """The next step that is due; False if none is."""
        most, limit = self._settings.snippets_per_layer, self._settings.memory_tokens
        if any(len(lines) > most and self._move(layer) for layer, lines in enumerate(self._layers)):
            return True
        return bool(limit) and self.total > limit and self._shrink()

    def _line(self, source: int, factor: float) -> int:
        return max(1, round(min(self._settings.snippet_tokens, _guess(source, self._settings) * factor)))

    def _shrink(self) -> bool:
        """One more step for memory_tokens; False if there is none, or it was a merge that brought nothing."""
        able = [layer for layer, lines in enumerate(self._layers) if len(lines) > 1]
        able.sort(key=lambda layer: -self._sums[layer])
        merges, total = self.merges, self.total
        return any(self._move(layer) for layer in able) and (self.merges == merges or self.total < total)

    def _move(self, layer: int) -> bool:
        """Promote the oldest of a layer; False where nothing can move."""
        if layer == self._deepest:
            return self._settings.deepest_layer == "merge" and self._merge(layer, layer)
        if self._layers[layer + 1]:
            return self._merge(layer, layer + 1)
        self._add(layer + 1, self._take(layer))
        return True

    def _merge(self, layer: int, to: int) -> bool:
        sources = [
            self._take(layer) for _ in range(min(self._settings.snippets_per_promotion, len(self._layers[layer])))
        ]
        context = sum(self._sums[to:]) if to > layer else 0
        told = sum(sources)
        self.merges += 1
        self.sent += self._terms.merge_prompt + told + _context(context, 0, told, self._settings, self._terms)
        line = self._line(told, self._terms.merge_factor)
        if to == layer:
            self._layers[to].appendleft(line)
            self._sums[to] += line
        else:
            self._add(to, line)
        return True

    def _add(self, layer: int, line: int) -> None:
        self._layers[layer].append(line)
        self._sums[layer] += line

    def _take(self, layer: int) -> int:
        line = self._layers[layer].popleft()
        self._sums[layer] -= line
        return line
