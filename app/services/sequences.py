"""Long sequences compared fast: the one place that asks rapidfuzz."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, isqrt

from rapidfuzz.distance import LCSseq

from app.core.subsequences import common_ends, rising

MATRIX_BYTES = 64 * 2**20
"""rapidfuzz keeps one bit for each pair of items until it knows the answer; more than this it is not asked to keep."""

_Cut = Callable[[Sequence[int], Sequence[int]], list[tuple[int, int]]]
"""Where to cut two sequences into pieces that are compared by themselves."""


def common_subsequence(a: Sequence[int], b: Sequence[int], matrix_bytes: int = MATRIX_BYTES) -> list[tuple[int, int]]:
    """The places of a common subsequence, ascending on both sides. Items are numbers from 0 up.

    It is a longest one where len(a) * len(b) / 8 is at most `matrix_bytes`, what the two share at their ends left out.
    Beyond that time and memory stay in proportion to the lengths, and it may be shorter: both are cut where items
    stand that occur once on each side (a longest ascending series of them, as in patience sorting), and pieces that are
    still too large into equal shares.
    """
    cells = 8 * matrix_bytes
    return list(_pairs(a, b, cells, (_at_unique_items, partial(_in_equal_shares, longest=isqrt(cells)))))


def _pairs(a: Sequence[int], b: Sequence[int], cells: int, cuts: Sequence[_Cut]) -> Iterator[tuple[int, int]]:
    """What both share at their ends, and what the rest has in common."""
    head, tail = common_ends(a, b)
    a_end, b_end = len(a) - tail, len(b) - tail
    yield from zip(range(head), range(head), strict=True)
    for i, j in _middle(a[head:a_end], b[head:b_end], cells, cuts):
        yield head + i, head + j
    yield from zip(range(a_end, len(a)), range(b_end, len(b)), strict=True)


def _middle(a: Sequence[int], b: Sequence[int], cells: int, cuts: Sequence[_Cut]) -> Iterator[tuple[int, int]]:
    if len(a) * len(b) <= cells:
        yield from _longest(a, b)
        return
    cut, *others = cuts
    for (i, j), (i_end, j_end) in pairwise([(0, 0), *cut(a, b), (len(a), len(b))]):
        for left, right in _pairs(a[i:i_end], b[j:j_end], cells, others):
            yield i + left, j + right


def _longest(a: Sequence[int], b: Sequence[int]) -> Iterator[tuple[int, int]]:
    for block in LCSseq.opcodes(a, b).as_matching_blocks():
        yield from zip(range(block.a, block.a + block.size), range(block.b, block.b + block.size), strict=True)


def _at_unique_items(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """Before each of them, so that a piece begins with the two that are the same."""
    in_a, in_b = Counter(a), Counter(b)
    places = {item: place for place, item in enumerate(b) if in_a[item] == in_b[item] == 1}
    once = [(place, places[item]) for place, item in enumerate(a) if item in places]
    return [once[n] for n in rising([place for _, place in once])]


def _in_equal_shares(a: Sequence[int], b: Sequence[int], longest: int) -> list[tuple[int, int]]:
    shares = ceil(max(len(a), len(b)) / longest)
    return [(len(a) * n // shares, len(b) * n // shares) for n in range(1, shares)]
