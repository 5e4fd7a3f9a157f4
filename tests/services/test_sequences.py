"""app.services.sequences: common subsequences, however long the sequences are."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from app.services.sequences import common_subsequence
from tests.support.subsequences import lengths

numbers = st.lists(st.integers(0, 5), max_size=12)
mostly_unique = st.lists(st.integers(0, 40), max_size=25)


def _assert_common(a: Sequence[int], b: Sequence[int], pairs: Sequence[tuple[int, int]]) -> None:
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < n for (i, j), (k, n) in pairwise(pairs))


@given(numbers, numbers)
def test_longest(a: list[int], b: list[int]) -> None:
    """The pairs are a common subsequence, and there is no longer one."""
    pairs = common_subsequence(a, b)
    _assert_common(a, b, pairs)
    assert len(pairs) == lengths(a, b)[0][0]


@given(st.one_of(numbers, mostly_unique), st.one_of(numbers, mostly_unique), st.integers(1, 8))
def test_too_large(a: list[int], b: list[int], matrix_bytes: int) -> None:
    """What is too large for one comparison still gives a common subsequence."""
    _assert_common(a, b, common_subsequence(a, b, matrix_bytes))


@given(mostly_unique, st.integers(1, 8))
def test_too_large_but_same(a: list[int], matrix_bytes: int) -> None:
    """What two sequences share at their ends is found at any size."""
    assert common_subsequence(a, a, matrix_bytes) == [(n, n) for n in range(len(a))]


def test_unique_items_guide() -> None:
    """Large sequences are cut at what occurs once in each, so that what moved along is found."""
    chance = Random(1)
    a = [n if n % 5 == 0 else n % 5 for n in range(5, 5005)]  # 5, 10, 15, …, between them four that repeat
    b = [item for item in a if chance.random() < 0.9]
    pairs = common_subsequence(a, b, 64)
    _assert_common(a, b, pairs)
    assert len(pairs) == len(b)


def test_equal_shares() -> None:
    """Large sequences in which everything repeats are compared in shares, and lose little where these do not fit."""
    chance = Random(1)
    a = [chance.randrange(4) for _ in range(1000)]
    b = [item for item in a if chance.random() < 0.99]
    pairs = common_subsequence(a, b, 2000)
    _assert_common(a, b, pairs)
    assert len(pairs) > 0.9 * lengths(a, b)[0][0]


def test_ten_thousand_against_ten_thousand() -> None:
    """Two long chats are compared at once, whole: one with a part cut out is found in the other in full."""
    chance = Random(1)
    a = [chance.randrange(5000) for _ in range(10_000)]
    b = [9999, *a[:3000], *a[3500:], 9998]
    assert len(common_subsequence(a, b)) == 9500
