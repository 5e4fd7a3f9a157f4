"""When a layer is too full, and what moves on (layered.md, Promotion)."""

from collections.abc import Collection, Sequence
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


def plan_promotion(
    live: Sequence[Snippet], settings: LayeredSettings, *, shrink: bool = True, apart: Collection[int] = ()
) -> Promotion | None:
    """The next promotion, or None.

    `live` is in reading order. With `shrink` False memory_tokens asks for nothing: the last merge it asked for brought
    nothing. `apart` are the keys of snippets right before which uncovered turns lie: a merge across these would
    enclose turns it does not cover.
    """
    layers = _by_layer(live, settings)
    for layer, snippets in enumerate(layers):
        if len(snippets) > settings.snippets_per_layer and (move := _move(layers, layer, settings, apart)):
            return move
    if shrink and settings.memory_tokens and sum(s.tokens for s in live) > settings.memory_tokens:
        return _shrink(layers, settings, apart)
    return None


def _by_layer(live: Sequence[Snippet], settings: LayeredSettings) -> list[list[Snippet]]:
    """Snippets by layer, oldest first. What lies beyond the deepest layer counts with it, in reading order."""
    layers: list[list[Snippet]] = [[] for _ in range(settings.max_layers)]
    for snippet in live:
        layers[min(snippet.layer, settings.max_layers - 1)].append(snippet)
    return layers


def _can_move(layer: int, settings: LayeredSettings) -> bool:
    return layer < settings.max_layers - 1 or settings.deepest_layer == "merge"


def _move(
    layers: list[list[Snippet]],
    layer: int,
    settings: LayeredSettings,
    apart: Collection[int],
    *,
    for_tokens: bool = False,
) -> Promotion | None:
    """What leaves a layer, oldest first. A snippet without a neighbour to merge with moves on as it is."""
    if not _can_move(layer, settings):
        return None
    groups = _neighbours(layers[layer], settings.snippets_per_promotion, apart)
    if layer == settings.max_layers - 1:
        sources = next((group for group in groups if len(group) > 1), None)
        return Merge(sources, sources[0].layer, for_tokens) if sources else None
    if not layers[layer + 1] or len(groups[0]) == 1:
        return Seed(layers[layer][0], layer + 1)
    return Merge(groups[0], layer + 1, for_tokens)


def _neighbours(snippets: Sequence[Snippet], size: int, apart: Collection[int]) -> list[tuple[Snippet, ...]]:
    """Groups of up to `size` snippets with nothing uncovered between them."""
    groups: list[tuple[Snippet, ...]] = []
    for snippet in snippets:
        if not groups or len(groups[-1]) == size or snippet.key in apart:
            groups.append(())
        groups[-1] += (snippet,)
    return groups


def _shrink(layers: list[list[Snippet]], settings: LayeredSettings, apart: Collection[int]) -> Promotion | None:
    """From the layer with most tokens; a lone snippet has no neighbour to merge with."""
    able = [layer for layer, snippets in enumerate(layers) if len(snippets) > 1]
    able.sort(key=lambda layer: -sum(snippet.tokens for snippet in layers[layer]))
    moves = (_move(layers, layer, settings, apart, for_tokens=True) for layer in able)
    return next((move for move in moves if move), None)
