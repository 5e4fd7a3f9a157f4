"""When a layer is too full, and what moves on (layered.md, Promotion)."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.model import Snippet
from app.core.settings import LayeredSettings


@dataclass(frozen=True, slots=True)
class Seed:
    """The oldest snippet of a layer moves, unchanged, into the empty layer below it."""

    snippet: Snippet
    layer: int


@dataclass(frozen=True, slots=True)
class Merge:
    """Neighbouring snippets, oldest first, that become one in `layer`. `for_tokens`: due by memory_tokens alone."""

    sources: tuple[Snippet, ...]
    layer: int
    for_tokens: bool = False


Promotion = Seed | Merge


def plan_promotion(live: Sequence[Snippet], settings: LayeredSettings, *, shrink: bool = True) -> Promotion | None:
    """The next promotion, or None.

    `live` is in reading order. With `shrink` False memory_tokens asks for nothing: the last merge it asked for brought
    nothing.
    """
    layers = _by_layer(live, settings)
    for layer, snippets in enumerate(layers):
        if len(snippets) > settings.snippets_per_layer and _can_move(layer, settings):
            return _move(layers, layer, settings, for_tokens=False)
    if shrink and settings.memory_tokens and sum(s.tokens for s in live) > settings.memory_tokens:
        return _shrink(layers, settings)
    return None


def count_merges(counts: Sequence[int], folds: int, settings: LayeredSettings) -> int:
    """How many merge calls `folds` new snippets cause on layers of these sizes; memory_tokens is left out of account.

    >>> count_merges([30], 2, LayeredSettings())
    1
    """
    layers = (list(counts) + [0] * settings.max_layers)[: max(settings.max_layers, len(counts))]
    deepest, merges = settings.max_layers - 1, 0
    for _ in range(folds):
        layers[0] += 1
        for layer in range(deepest + 1):
            merges += _settle_count(layers, layer, settings)
    return merges


def _settle_count(layers: list[int], layer: int, settings: LayeredSettings) -> int:
    merges, batch = 0, settings.snippets_per_promotion
    while layers[layer] > settings.snippets_per_layer and _can_move(layer, settings):
        if layer == settings.max_layers - 1:
            layers[layer] -= batch - 1
        elif layers[layer + 1] == 0:
            layers[layer], layers[layer + 1] = layers[layer] - 1, 1
            continue
        else:
            layers[layer], layers[layer + 1] = layers[layer] - batch, layers[layer + 1] + 1
        merges += 1
    return merges


def _by_layer(live: Sequence[Snippet], settings: LayeredSettings) -> list[list[Snippet]]:
    """Snippets by layer, oldest first. What lies beyond the deepest layer counts with it, in reading order."""
    layers: list[list[Snippet]] = [[] for _ in range(settings.max_layers)]
    for snippet in live:
        layers[min(snippet.layer, settings.max_layers - 1)].append(snippet)
    return layers


def _can_move(layer: int, settings: LayeredSettings) -> bool:
    return layer < settings.max_layers - 1 or settings.deepest_layer == "merge"


def _move(layers: list[list[Snippet]], layer: int, settings: LayeredSettings, *, for_tokens: bool) -> Promotion:
    snippets = layers[layer]
    sources = tuple(snippets[: settings.snippets_per_promotion])
    if layer == settings.max_layers - 1:
        return Merge(sources, sources[0].layer, for_tokens)
    if not layers[layer + 1]:
        return Seed(snippets[0], layer + 1)
    return Merge(sources, layer + 1, for_tokens)


def _shrink(layers: list[list[Snippet]], settings: LayeredSettings) -> Promotion | None:
    """From the layer with most tokens; a lone snippet has no neighbour to merge with."""
    able = [i for i, snippets in enumerate(layers) if len(snippets) > 1 and _can_move(i, settings)]
    if not able:
        return None
    heaviest = max(able, key=lambda i: sum(snippet.tokens for snippet in layers[i]))
    return _move(layers, heaviest, settings, for_tokens=True)
