"""app.core.subsequences: what is in order, and what two sequences share at their ends."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from app.core.subsequences import common_ends, rising
from tests.support.subsequences import ascending


@given(st.lists(st.integers(0, 9), max_size=9))
def test_rising(numbers: list[int]) -> None:
    """It is ascending, and no longer subsequence is."""
    found = rising(numbers)
    assert ascending(found)
    assert ascending(numbers[place] for place in found)
    longer = combinations(numbers, len(found) + 1)
    assert not any(ascending(subsequence) for subsequence in longer)


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_common_ends(a: str, b: str) -> None:
    """Beginning and end are shared, do not overlap, and what is left over differs at both its ends."""
    head, tail = common_ends(a, b)
    left, right = a[head : len(a) - tail], b[head : len(b) - tail]
    assert a[:head] == b[:head]
    assert a[len(a) - tail :] == b[len(b) - tail :]
    assert head + tail <= min(len(a), len(b))
    assert not (left and right) or (left[0] != right[0] and left[-1] != right[-1])
