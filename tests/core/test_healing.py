"""Which snippet is made anew next."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.healing import ATTEMPTS, Worn, next_remake


def chosen(worn: list[Worn], *, unasked: bool = True, asked: bool = True) -> int | None:
    """The key of the next one."""
    found = next_remake(worn, unasked=unasked, asked=asked)
    return found.key if found else None


def test_nothing_is_worn() -> None:
    """Without stale snippets there is nothing to do."""
    assert chosen([]) is None


def test_leaf_first() -> None:
    """A part is made anew before what absorbed it, through whatever layers."""
    worn = [Worn(3, None, 0), Worn(2, 3, 0), Worn(1, 2, 4)]
    assert chosen(worn) == 1
    assert chosen(worn[:2]) == 2


def test_oldest_first() -> None:
    """Of several that are ready the one that begins first is next."""
    assert chosen([Worn(1, None, 40), Worn(2, None, 7), Worn(3, None, 20)]) == 2


def test_nothing_above_before_anything_below() -> None:
    """What absorbed a person's text waits too for what lies below that."""
    worn = [Worn(1, 2, 0), Worn(2, 3, 0, edited=True), Worn(3, None, 0)]
    assert chosen(worn) == 1
    assert chosen(worn[1:]) == 3


def test_a_persons_text_stays() -> None:
    """What a person wrote is never made anew unasked; what absorbed it is, from that text."""
    assert chosen([Worn(1, 2, 0, edited=True), Worn(2, None, 0)]) == 2
    assert chosen([Worn(1, 2, 0, edited=True)]) is None
    assert chosen([Worn(1, 2, 0, edited=True, asked=True)]) == 1


def test_three_failures_wait() -> None:
    """What failed three times waits, and so does what absorbed it: it would be made from the old text."""
    worn = [Worn(1, 2, 0, failures=ATTEMPTS), Worn(2, None, 0)]
    assert chosen(worn) is None
    assert chosen([*worn, Worn(3, None, 50)]) == 3


def test_asked_for_waits_for_nobody_who_waits() -> None:
    """What a person asked for is made anew although a part of it waits."""
    assert chosen([Worn(1, 2, 0, failures=ATTEMPTS), Worn(2, None, 0, asked=True)]) == 2


def test_only_what_was_asked_for() -> None:
    """While folding is off only what a person asked for is made anew."""
    worn = [Worn(1, None, 0), Worn(2, None, 5, stale=False, asked=True)]
    assert chosen(worn, unasked=False) == 2
    assert chosen(worn[:1], unasked=False) is None
    assert chosen(worn, asked=False) == 1


def test_asked_for_above_a_part_that_waits() -> None:
    """A leaf that failed too often holds back the part that was merged from it, but not what a person asked for."""
    leaf, part, asked = Worn(1, 2, 0, failures=ATTEMPTS), Worn(2, 3, 0), Worn(3, None, 0, stale=False, asked=True)
    assert chosen([leaf, part, asked]) == 3
    assert chosen([leaf, part]) is None
    assert chosen([Worn(4, 2, 1), leaf, part, asked]) == 4


@st.composite
def forests(draw: st.DrawFn) -> list[Worn]:
    """Snippets with parents among those of higher keys."""
    count = draw(st.integers(1, 12))
    return [
        Worn(
            key,
            parent=draw(st.one_of(st.none(), st.integers(key + 1, count + 1))),
            first_index=draw(st.integers(0, 20)),
            stale=draw(st.booleans()),
            asked=draw(st.booleans()),
            edited=draw(st.booleans()),
            failures=draw(st.integers(0, ATTEMPTS)),
        )
        for key in range(1, count + 1)
    ]


@given(forests(), st.booleans())
def test_healing_ends(worn: list[Worn], unasked: bool) -> None:
    """Each step takes one away, and in the end nothing that may be made anew is left, but what waits for a part."""
    left = list(worn)
    steps = 0
    while (found := next_remake(left, unasked=unasked)) is not None:
        assert not any(part.parent == found.key and part.asked and not part.hopeless for part in left)
        left = [one for one in left if one.key != found.key]
        steps += 1
    assert steps <= len(worn)
    waiting = {one.key for one in left}
    for one in left:
        if one.asked and not one.hopeless:
            raise AssertionError("what was asked for is left")
        if unasked and one.heals and not one.hopeless:
            assert any(part.parent == one.key and part.key in waiting for part in left)
