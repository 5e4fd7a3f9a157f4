"""Common subsequences as the textbook finds them: slow, and plainly right."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import eq


def ascending(places: Iterable[int]) -> bool:
    return all(before < after for before, after in pairwise(places))


def lengths(a: Sequence[int], b: Sequence[int], same: Callable[[int, int], bool] = eq) -> list[list[int]]:
    """How long a longest common subsequence of what follows each pair of places is: the textbook's table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            table[i][j] = 1 + table[i + 1][j + 1] if same(a[i], b[j]) else max(table[i + 1][j], table[i][j + 1])
    return table


def slow_common(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """A longest common subsequence, slowly."""
    table, pairs, i, j = lengths(a, b), [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
