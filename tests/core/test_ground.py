"""app.core.ground: what of a chat may come under snippets from elsewhere."""

import pytest

from app.core.ground import Ground, Held, Spot, survey
from app.core.model import Role

U = Spot(Role.USER, blank=False, closes=False, plain=True, covered=False)
A = U._replace(role=Role.ASSISTANT, closes=True)
S = U._replace(role=Role.SYSTEM)


def free(*spots: Spot, held: tuple[Held, ...] = ()) -> str:
    """One letter per message: free with text and the end of a turn, free with text, free without, not free."""
    ground = survey(spots, held)
    marks = zip(ground.free, ground.said, ground.closes, strict=True)
    return "".join("E" if ends else "f" if said else "b" if may else "-" for may, said, ends in marks)


@pytest.mark.parametrize(
    ("spots", "expected"),
    [
        ([U, A, U, A], "fEfE"),
        ([S, S, U, S, A], "--ffE"),
        ([U._replace(role=Role.TOOL), A], "-E"),
        ([U, A, U, U], "fE--"),
        ([U, U], "--"),
        ([A._replace(plain=False), A], "-E"),
        ([U._replace(plain=False), A], "-E"),
        ([U._replace(blank=True), A], "bE"),
        ([U, A._replace(covered=True), U, A], "f-fE"),
        ([S, A._replace(covered=True), S, U], "----"),
        ([], ""),
    ],
)
def test_what_may_be_covered(spots: list[Spot], expected: str) -> None:
    """Not the chat's own system prompt, marked or covered messages, nor the open turn."""
    assert free(*spots) == expected


def test_a_reply_that_is_pinned_still_ends_the_open_turn() -> None:
    """What stands before a reply is no open turn, even if the reply itself can never be covered."""
    assert free(U, A._replace(plain=False), U) == "f--"


def test_nothing_inside_a_held_range_is_free() -> None:
    """What joins a snippet of the chat joins none from elsewhere."""
    covered = U._replace(covered=True)
    assert free(U, A, covered, A, covered, A, held=(Held(2, 4, 0),)) == "fE---E"


def ground(spots: str, *held: Held) -> Ground:
    """A ground where each `f` says something, each `b` is blank and may be covered, each `E` ends a turn."""
    marks = [bytes(mark in kind for mark in spots) for kind in ("fbE", "fE", "E")]
    return Ground(marks[0], marks[1], marks[2], held)


@pytest.mark.parametrize(
    ("spots", "span", "widest"),
    [
        ("fEfE", (0, 3), (0, 3)),
        ("-fE-", (0, 3), (1, 2)),
        ("bfEb", (0, 3), (0, 3)),
        ("b-b-", (0, 3), None),
        ("----", (0, 3), None),
        ("fEfE", (3, 2), None),
    ],
)
def test_a_range_is_trimmed_to_what_may_be_covered(spots: str, span: tuple[int, int], widest: object) -> None:
    """Blank messages are covered with others and never alone."""
    assert ground(spots).widest(*span) == widest


@pytest.mark.parametrize(
    ("spots", "held", "widest"),
    [
        ("fE--fEfE", [Held(2, 3, 0)], (4, 7)),
        ("fE--fE--", [Held(2, 3, 1), Held(6, 7, 0)], (0, 1)),
        ("--------", [Held(0, 7, 0)], None),
        ("-fE--fE-", [Held(0, 0, 1), Held(3, 4, 1), Held(7, 7, 0)], (1, 2)),
    ],
)
def test_of_several_stretches_the_one_that_says_most(spots: str, held: list[Held], widest: object) -> None:
    """Between snippets of the chat, the earliest of those with most messages."""
    assert ground(spots, *held).widest(0, 7) == widest


def test_what_reaches_into_a_range() -> None:
    """Neighbours that only touch it do not."""
    held = (Held(0, 1, 2), Held(4, 6, 1), Held(9, 9, 0))
    found = ground("-" * 10, *held)
    assert found.held_within(2, 3) == ()
    assert found.held_within(1, 4) == held[:2]
    assert found.held_within(6, 20) == held[1:]
    assert found.held_within(5, 5) == held[1:2]
