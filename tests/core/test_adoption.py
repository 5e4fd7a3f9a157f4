"""app.core.adoption: where the snippets of a file belong in a chat."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.adoption import NOT_TAKEN, Adoption, Claim, adopt
from app.core.ground import Ground, Held, Spot, survey
from app.core.model import Role


def turns(count: int, *held: Held) -> Ground:
    """So many turns of a line and a reply, of which the messages in held ranges are covered."""
    covered = {index for one in held for index in range(one.first, one.last + 1)}
    spots = [
        Spot(Role.ASSISTANT if index % 2 else Role.USER, False, index % 2 == 1, True, index in covered)
        for index in range(2 * count)
    ]
    return survey(spots, held)


def spans(adoption: Adoption) -> list[tuple[int, int, int]]:
    """Layer, first and last of what was placed."""
    return [(one.layer, one.first, one.last) for one in adoption.placed]


def codes(adoption: Adoption) -> list[tuple[int, str]]:
    return [(repair.number, repair.code) for repair in adoption.repairs]


def test_what_fits_is_taken_as_it_is() -> None:
    """Ranges of the file in reading order, with holes between them, need no repair."""
    claims = [Claim(1, (0, 5)), Claim(1, (6, 9)), Claim(0, (14, 17)), Claim(0, (18, 19))]
    adoption = adopt(claims, turns(12))
    assert spans(adoption) == [(1, 0, 5), (1, 6, 9), (0, 14, 17), (0, 18, 19)]
    assert adoption.repairs == ()


@pytest.mark.parametrize(
    ("claims", "ends", "expected"),
    [
        ([Claim(1), Claim(0, (6, 9))], [], [(1, 0, 5), (0, 6, 9)]),
        ([Claim(1, (0, 3)), Claim(1, merged=3), Claim(0, (8, 9))], [], [(1, 0, 3), (1, 4, 7), (0, 8, 9)]),
        ([Claim(1, (0, 3)), Claim(0)], [7], [(1, 0, 3), (0, 4, 7)]),
        ([Claim(1, (0, 3)), Claim(0)], [2, 9], [(1, 0, 3), (0, 4, 9)]),
        ([Claim(0)], [5], [(0, 0, 5)]),
        ([Claim(1), Claim(1), Claim(0, (8, 9))], [], [(1, 0, 3), (1, 4, 7), (0, 8, 9)]),
        ([Claim(1, merged=3), Claim(1), Claim(0, (8, 9))], [], [(1, 0, 5), (1, 6, 7), (0, 8, 9)]),
        ([Claim(2, merged=3), Claim(1, merged=3), Claim(0, (8, 9))], [], [(2, 0, 5), (1, 6, 7), (0, 8, 9)]),
        ([Claim(1, merged=99), Claim(1), Claim(1), Claim(0, (6, 9))], [], [(1, 0, 1), (1, 2, 3), (1, 4, 5), (0, 6, 9)]),
        ([Claim(1), Claim(0, (5, 9))], [], [(1, 0, 4), (0, 5, 9)]),
    ],
)
def test_a_snippet_without_a_range_stands_between_its_neighbours(
    claims: list[Claim], ends: list[int], expected: list[tuple[int, int, int]]
) -> None:
    """Several share the gap at ends of turns, in proportion to what each replaced, and each gets a turn; the last ones
    reach to where the file says that memory ends.
    """
    adoption = adopt(claims, turns(12), ends)
    assert spans(adoption) == expected
    assert codes(adoption) == [(i, "range_inferred") for i, claim in enumerate(claims) if claim.range is None]


@pytest.mark.parametrize(
    ("claims", "ends"),
    [
        ([Claim(1, (0, 3)), Claim(0)], []),
        ([Claim(1, (0, 3)), Claim(0)], [3, 1]),
        ([Claim(1, (0, 3)), Claim(1), Claim(0, (4, 9))], [9]),
        ([Claim(1), Claim(0, (0, 9))], [9]),
        ([Claim(0, (8, 9)), Claim(0), Claim(0, (2, 3))], [9]),
    ],
)
def test_a_snippet_without_a_place_is_reported(claims: list[Claim], ends: list[int]) -> None:
    """Where nothing says what it covers, or nothing is left for it, it is not taken."""
    adoption = adopt(claims, turns(12), ends)
    assert [code for _, code in codes(adoption)] == [NOT_TAKEN]
    assert claims[adoption.repairs[0].number].range is None


def test_more_snippets_than_turns() -> None:
    """The first get a turn each, the others are reported."""
    adoption = adopt([Claim(1), Claim(1), Claim(1), Claim(0, (4, 7))], turns(12))
    assert spans(adoption) == [(1, 0, 1), (1, 2, 3), (0, 4, 7)]
    assert codes(adoption) == [(2, NOT_TAKEN), (0, "range_inferred"), (1, "range_inferred")]


@pytest.mark.parametrize(
    ("claim", "expected", "code"),
    [
        ((-4, 3), [(0, 0, 3)], "range_clipped"),
        ((6, 90), [(0, 6, 7)], "range_clipped"),
        ((-9, 10**18), [(0, 0, 7)], "range_clipped"),
        ((8, 9), [], NOT_TAKEN),
        ((-5, -1), [], NOT_TAKEN),
    ],
)
def test_what_lies_beyond_the_chat_is_cut_off(claim: tuple[int, int], expected: list[Any], code: str) -> None:
    """A snippet of a longer chat keeps the part that is here; one wholly outside is reported."""
    adoption = adopt([Claim(0, claim)], turns(4))
    assert (spans(adoption), codes(adoption)) == (expected, [(0, code)])


@pytest.mark.parametrize(
    ("claims", "expected", "repairs"),
    [
        ([(0, (0, 5)), (0, (4, 9))], [(0, 0, 5), (0, 6, 9)], [(1, "range_overlaps")]),
        ([(0, (0, 9)), (0, (2, 5))], [(0, 0, 9)], [(1, NOT_TAKEN)]),
        ([(1, (0, 5)), (0, (0, 9))], [(1, 0, 5), (0, 6, 9)], [(1, "range_overlaps")]),
        ([(0, (0, 5)), (0, (0, 5))], [(0, 0, 5)], [(1, NOT_TAKEN)]),
        ([(0, (4, 9)), (0, (0, 5))], [(0, 0, 5), (0, 6, 9)], [(0, "range_overlaps")]),
        ([(1, (6, 9)), (0, (0, 5))], [(1, 0, 5), (1, 6, 9)], [(1, "layer_changed")]),
        ([(2, (8, 9)), (1, (0, 3)), (0, (4, 7))], [(2, 0, 3), (2, 4, 7), (2, 8, 9)], [(1, "layer_changed")] * 1),
    ],
)
def test_contradictions_are_settled(
    claims: list[tuple[int, tuple[int, int]]], expected: list[tuple[int, int, int]], repairs: list[tuple[int, str]]
) -> None:
    """Of two that overlap the later begins after the earlier; nothing stands before what lies in a deeper layer."""
    adoption = adopt([Claim(*claim) for claim in claims], turns(12))
    assert spans(adoption) == expected
    assert set(repairs) <= set(codes(adoption))


@pytest.mark.parametrize(
    ("held", "claim", "expected", "repairs"),
    [
        ([Held(0, 3, 1)], (1, (4, 7)), [(1, 4, 7)], []),
        ([Held(0, 3, 0)], (1, (4, 7)), [(0, 4, 7)], ["layer_changed"]),
        ([Held(8, 9, 1)], (0, (4, 7)), [(1, 4, 7)], ["layer_changed"]),
        ([Held(0, 3, 2), Held(8, 9, 1)], (5, (4, 7)), [(2, 4, 7)], ["layer_changed"]),
        ([Held(0, 3, 2), Held(8, 9, 1)], (0, (4, 7)), [(1, 4, 7)], ["layer_changed"]),
        ([Held(4, 7, 0)], (0, (4, 7)), [], [NOT_TAKEN]),
        ([Held(4, 7, 0)], (0, (2, 15)), [(0, 8, 15)], ["range_overlaps"]),
        ([Held(4, 7, 0)], (0, (0, 5)), [(0, 0, 3)], ["range_overlaps"]),
    ],
)
def test_what_the_chat_has_stays(
    held: list[Held], claim: tuple[int, tuple[int, int]], expected: list[Any], repairs: list[str]
) -> None:
    """A snippet takes only uncovered messages, and a layer between those of the chat's snippets around it."""
    adoption = adopt([Claim(*claim)], turns(12, *held))
    assert spans(adoption) == expected
    assert [code for _, code in codes(adoption)] == repairs


def test_nothing_but_what_may_be_covered_is_no_place() -> None:
    """A snippet over hidden messages, or over the open turn, is reported."""
    spots = [Spot(Role.USER, False, False, False, False), Spot(Role.ASSISTANT, False, True, False, False)]
    ground = survey([*spots, Spot(Role.USER, False, False, True, False)])
    adoption = adopt([Claim(0, (0, 1)), Claim(0, (2, 2))], ground)
    assert codes(adoption) == [(0, NOT_TAKEN), (1, NOT_TAKEN)]
    assert "none that may be covered" in adoption.repairs[0].detail


@pytest.mark.parametrize(
    ("last", "window", "taken"),
    [(13, 10, 3), (13, 11, 0), (15, 7, 3), (15, 9, 1), (17, 7, 2), (23, 10, 1), (23, 12, 0), (23, 0, 3)],
)
def test_the_window_stays_verbatim(last: int, window: int, taken: int) -> None:
    """If a memory of twelve turns leaves fewer than half of it, its newest snippets are not taken until all is left."""
    claims = [Claim(0, (0, 3)), Claim(0, (4, 9)), Claim(0, (10, last))]
    adoption = adopt(claims, turns(12), window=window)
    assert len(adoption.placed) == taken
    assert [code for _, code in codes(adoption)] == [NOT_TAKEN] * (3 - taken)


# Whatever a file says

spots = st.builds(
    Spot,
    st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.SYSTEM, Role.TOOL]),
    blank=st.sampled_from([False, False, False, True]),
    closes=st.booleans(),
    plain=st.sampled_from([True, True, True, False]),
    covered=st.just(False),
)
places = st.integers(-5, 50)
claims = st.builds(
    Claim,
    st.integers(0, 4),
    st.none() | st.tuples(places, places).map(lambda pair: (min(pair), max(pair))),
    st.integers(1, 5),
)


@st.composite
def grounds(draw: st.DrawFn) -> Ground:
    """A chat with live snippets of its own here and there, deeper ones first."""
    chat = draw(st.lists(spots, max_size=40))
    cuts = sorted(draw(st.sets(st.integers(0, max(0, len(chat) - 1)), max_size=6)))
    levels = sorted(draw(st.lists(st.integers(0, 3), min_size=3, max_size=3)), reverse=True)
    held = tuple(Held(first, last, level) for first, last, level in zip(cuts[::2], cuts[1::2], levels, strict=False))
    edges = {index for one in held for index in one[:2]}
    marked = [spot._replace(covered=True, plain=True) if index in edges else spot for index, spot in enumerate(chat)]
    return survey(marked, held)


def assert_promises(adoption: Adoption, ground: Ground) -> None:
    everything: list[Any] = sorted([*adoption.placed, *ground.held], key=lambda one: one.first)
    for before, after in pairwise(everything):
        assert before.last < after.first
        assert before.layer >= after.layer
    for one in adoption.placed:
        assert ground.says(one.first, one.last)
        assert ground.free[one.first]
        assert ground.free[one.last]


@settings(max_examples=200)
@given(st.lists(claims, max_size=12), grounds(), st.lists(places, max_size=2))
def test_promises_hold_whatever_a_file_says(offered: Sequence[Claim], ground: Ground, ends: list[int]) -> None:
    """Placed snippets are disjoint, in reading order with those of the chat, each over something that may be covered;
    and of every claim it is known whether it was taken.
    """
    adoption = adopt(offered, ground, ends)
    assert_promises(adoption, ground)
    placed = [one.number for one in adoption.placed]
    refused = [repair.number for repair in adoption.repairs if repair.code == NOT_TAKEN]
    assert sorted(placed + refused) == list(range(len(offered)))
    again = adopt(offered, ground, ends)
    assert again == adoption


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=10), st.data())
def test_a_sound_memory_comes_back_as_it_was(sizes: list[tuple[int, bool]], data: st.DataObject) -> None:
    """Disjoint ranges in reading order are taken without a repair; without some of the ranges, all snippets still find
    a place, and those with a range their own.
    """
    depths = sorted(data.draw(st.lists(st.integers(0, 4), min_size=len(sizes), max_size=len(sizes))), reverse=True)
    starts = [2 * sum(size for size, _ in sizes[:number]) for number in range(len(sizes) + 1)]
    sound = [Claim(depth, (a, b - 1), 2) for depth, a, b in zip(depths, starts, starts[1:], strict=False)]
    ground = turns(starts[-1] // 2 + 5)
    whole = adopt(sound, ground)
    assert (spans(whole), whole.repairs) == ([(c.layer, *c.range) for c in sound if c.range], ())
    lost = [Claim(c.layer, None, 2) if gone else c for c, (_, gone) in zip(sound, sizes, strict=True)]
    found = adopt(lost, ground, [starts[-1] - 1])
    assert len(found.placed) == len(sound)
    assert all(one.number == place for place, one in enumerate(found.placed))
    assert_promises(found, ground)
    for one, claim in zip(found.placed, lost, strict=True):
        assert claim.range in (None, (one.first, one.last))
