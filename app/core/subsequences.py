"""What two sequences have in common, and what of one is in order."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence

CommonSubsequence = Callable[[Sequence[int], Sequence[int]], Sequence[tuple[int, int]]]
"""The places, ascending on both sides, at which two sequences of numbers from 0 up agree: as many as possible."""


def rising(numbers: Sequence[int]) -> list[int]:
    """The places of a longest strictly ascending subsequence, in O(n log n).

    >>> rising([3, 0, 1, 4, 2])
    [1, 2, 4]
    """
    ends: list[int] = []  # the smallest number that ends a subsequence of each length
    places: list[int] = []  # where these stand
    before: list[int] = []  # of each place, the place that comes before it in the best subsequence that it ends
    for place, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(places[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        places[length : length + 1] = [place]
    found: list[int] = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def common_ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int]:
    """How many items two sequences share at their beginning, and how many of the rest at their end.

    >>> common_ends("abcab", "abab")
    (2, 2)
    """
    shorter = min(len(a), len(b))
    head = next((n for n in range(shorter) if a[n] != b[n]), shorter)
    tail = next((n for n in range(shorter - head) if a[-1 - n] != b[-1 - n]), shorter - head)
    return head, tail
