"""Where snippets stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.ranks import Ranked, descending, overlaps, places


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([], []),
        ([2, 1, 1, 0], [2, 1, 1, 0]),
        ([1, 1, 0, 2, 0], [1, 1, 0, 0, 0]),
        ([0, 2, 2, 1], [2, 2, 2, 1]),
        ([2, 1, 0, 3], [2, 1, 0, 0]),
        ([0, 1], [1, 1]),
    ],
)
def test_few_change_their_layer(layers: list[int], expected: list[int]) -> None:
    """What stands too deep or too shallow takes the layer of the next one that keeps its own, at the end the last's."""
    assert descending(layers) == expected


@given(layers=st.lists(st.integers(0, 4), max_size=12))
def test_layers_never_rise(layers: list[int]) -> None:
    """What comes out descends, and is what went in where that descends already."""
    found = descending(layers)
    assert found == sorted(found, reverse=True)
    assert set(found) <= set(layers)
    assert len(found) == len(layers)
    assert descending(found) == found


def ranked(*snippets: tuple[int, int, int, int]) -> list[Ranked]:
    """Layer, position, first and last index; keys count up from 1."""
    return [Ranked(key, *what) for key, what in enumerate(snippets, 1)]


def test_what_stands_right_stays() -> None:
    """Positions need not be dense, only ascend."""
    assert places(ranked((1, 4, 0, 9), (1, 7, 10, 19), (0, 0, 20, 22), (0, 5, 23, 25))) == {}


def test_a_layer_out_of_order_is_numbered_anew() -> None:
    """The layer whose positions do not ascend with what it covers is numbered from 0; others are left."""
    found = places(ranked((1, 3, 0, 9), (1, 9, 10, 19), (0, 5, 23, 25), (0, 7, 20, 22)))
    assert found == {3: (0, 1), 4: (0, 0)}


def test_a_shared_place_is_none() -> None:
    """Of two at one place the one that covers later messages moves on."""
    assert places(ranked((0, 0, 0, 4), (0, 0, 5, 9))) == {2: (0, 1)}


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([(0, 4), (5, 9)], []),
        ([(0, 5), (5, 9)], [(1, 2)]),
        ([(5, 9), (0, 20), (12, 15)], [(2, 1), (2, 3)]),
        ([(0, 3), (2, 4), (4, 9)], [(1, 2), (2, 3)]),
    ],
)
def test_overlaps_are_found(ranges: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    """Each snippet that begins before one before it ends is named with that one."""
    found = overlaps(ranked(*((0, place, *reach) for place, reach in enumerate(ranges))))
    assert [(one.key, other.key) for one, other in found] == expected
