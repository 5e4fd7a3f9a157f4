"""app.core.blocks: where a window begins, told by its messages."""

import pytest

from app.core.blocks import BEGINNING, Block, Mark, blocks_of, mark_of, place_of
from app.core.left_out import Unsent
from app.core.turns import outline
from tests.support.builders import turns

NOTHING_LEFT_OUT = Unsent(frozenset(), frozenset())


def blocks(*numbers: int) -> list[Block]:
    """Turns of two messages; a number says the keys of its turn, the place the indices."""
    lines = [line._replace(key=2 * number + part) for number in numbers for part, line in enumerate(turns(1))]
    history = [line._replace(index=index) for index, line in enumerate(lines)]
    return blocks_of(outline(history, len(history)), NOTHING_LEFT_OUT)


@pytest.mark.parametrize(
    ("left", "place"),
    [
        ([1, 2, 3, 4, 5, 6], 2),
        ([3, 4, 5], 0),
        ([9, 8, 1, 2, 3, 4], 4),
        ([1, 2, 9, 3], 3),
        ([1, 2, 4, 5], 2),
        ([2, 4, 5], 1),
        ([4, 5], 0),
        ([9, 8, 2, 4, 5], 3),
        ([1, 2], 2),
        ([], 0),
    ],
)
def test_a_window_is_found_again_by_its_messages(left: list[int], place: int) -> None:
    """Whatever went or came around it; where its first message is gone, by those that were before it."""
    assert place_of(blocks(*left), mark_of(blocks(1, 2, 3, 4), 2, 8)) == place


def lines(*keys: int) -> list[Block]:
    """Messages of these keys; odd ones are replies, which close a turn."""
    history = [turns(1)[key % 2]._replace(key=key, index=index) for index, key in enumerate(keys)]
    return blocks_of(outline(history, len(history)), NOTHING_LEFT_OUT)


@pytest.mark.parametrize(
    ("left", "place"),
    [
        ([2, 3, 4, 6, 7, 8, 9], 2),
        ([2, 3, 4, 7, 8, 9], 2),
        ([2, 4, 7, 8, 9], 1),
        ([2, 3, 4, 5, 60, 6, 7, 8, 9], 2),
        ([2, 3, 4, 5, 7, 8, 9], 2),
        ([2, 3, 4, 60, 61, 6, 7, 8, 9], 2),
    ],
)
def test_a_turn_that_a_dropped_line_joined_is_dropped_with_it(left: list[int], place: int) -> None:
    """The reply between them is gone; a new line before the window's first one was never dropped."""
    assert place_of(lines(*left), mark_of(blocks(1, 2, 3, 4), 2, 8)) == place


def test_turns_that_were_hidden_when_a_window_began_were_not_dropped() -> None:
    """Shown again they are in it; not those that it dropped before they were hidden."""
    begun = mark_of(blocks(1, 2, 4, 5), 2, 8)
    assert place_of(blocks(1, 2, 3, 4, 5), begun) == 2
    hidden = mark_of(blocks(1, 4, 5), place_of(blocks(1, 4, 5), begun), 6, begun)
    assert place_of(blocks(1, 2, 3, 4, 5), hidden) == 2
    bare = mark_of(blocks(4, 5), place_of(blocks(4, 5), begun), 4, begun)
    assert (place_of(blocks(4, 5), bare), place_of(blocks(1, 2, 3, 4, 5), bare)) == (0, 2)


@pytest.mark.parametrize(("left", "place"), [([1, 2], 2), ([1, 2, 3], 2), ([1, 3], 1), ([3, 4], 0)])
def test_a_window_without_turns_begins_with_the_next_one(left: list[int], place: int) -> None:
    """It stays behind the last turn that was dropped, wherever that is now."""
    assert place_of(blocks(*left), mark_of(blocks(1, 2), 2, 4)) == place


def test_a_window_that_lost_nothing_begins_with_whatever_is_first() -> None:
    """A turn that comes in before all others is sent too."""
    assert mark_of(blocks(1, 2), 0, 4) == BEGINNING
    assert place_of(blocks(9, 1, 2), BEGINNING) == 0


def test_keys_out_of_order_are_not_trusted() -> None:
    """Where turns were inserted among the oldest, the place tells."""
    mark = mark_of(blocks(1, 9, 3, 4), 2, 8)
    assert mark == Mark(6, 4, 19)
    assert place_of(blocks(1, 9, 4, 5), mark) == 2
