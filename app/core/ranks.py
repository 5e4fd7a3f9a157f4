"""Where snippets stand: deeper layers first, oldest first within a layer (layered.md, promise 2)."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Ranked:
    """A snippet with its place and the first and last index of the messages under it."""

    key: int
    layer: int
    position: int
    first: int
    last: int


def overlaps(snippets: Iterable[Ranked]) -> list[tuple[Ranked, Ranked]]:
    """Pairs of which one begins before the other ends."""
    found: list[tuple[Ranked, Ranked]] = []
    far: Ranked | None = None
    for one in sorted(snippets, key=lambda one: (one.first, one.last, one.key)):
        if far is not None and one.first <= far.last:
            found.append((far, one))
        far = one if far is None or one.last > far.last else far
    return found


def places(snippets: Iterable[Ranked]) -> dict[int, tuple[int, int]]:
    """Layer and position of those snippets that stand wrong, by key. None of them overlap.

    As few as possible change their layer: each of these goes to that of the next one that keeps its own, as a late fold
    does. A layer whose positions do not ascend is numbered anew.
    """
    ordered = sorted(snippets, key=lambda one: one.first)
    layers = descending([one.layer for one in ordered])
    found: dict[int, tuple[int, int]] = {}
    for layer in sorted(set(layers)):
        inside = [one for one, its in zip(ordered, layers, strict=True) if its == layer]
        ascends = all(a.position < b.position for a, b in pairwise(inside))
        for number, one in enumerate(inside):
            place = layer, one.position if ascends else number
            if place != (one.layer, one.position):
                found[one.key] = place
    return found


def descending(layers: Sequence[int]) -> list[int]:
    """The layers with as few changes as possible, so that none is deeper than one before it.

    >>> descending([2, 0, 2, 1, 0, 1])
    [2, 2, 2, 1, 1, 1]
    """
    kept = _longest_descent(layers)
    found = list(layers)
    following = layers[max(kept)] if kept else 0
    for place in reversed(range(len(layers))):
        following = layers[place] if place in kept else following
        found[place] = following
    return found


def _longest_descent(layers: Sequence[int]) -> set[int]:
    """The places of a longest run of layers, others between them left out, that never rises."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = []
    for place, layer in enumerate(layers):
        spot = bisect_right(tails, -layer)
        before.append(ends[spot - 1] if spot else None)
        tails[spot : spot + 1] = [-layer]
        ends[spot : spot + 1] = [place]
    kept: set[int] = set()
    at = ends[-1] if ends else None
    while at is not None:
        kept.add(at)
        at = before[at]
    return kept
