"""What a change of a message does to the memory over it."""

import pytest

from app.core.edits import Effect, Marks, effect_of_change, effect_of_removal

PLAIN, HIDDEN, PINNED, OMITTED = Marks(), Marks(hidden=True), Marks(pinned=True), Marks(omitted=True)
BLANK = Marks(blank=True)


@pytest.mark.parametrize(
    ("before", "after", "covered", "rewritten", "effect"),
    [
        (PLAIN, PLAIN, True, True, Effect(stales=True)),
        (PLAIN, PLAIN, True, False, Effect()),
        (PLAIN, PLAIN, False, True, Effect(arrives=True)),
        (BLANK, PLAIN, False, True, Effect(arrives=True)),
        (PLAIN, BLANK, False, True, Effect()),
        (HIDDEN, BLANK, False, False, Effect()),
        (PLAIN, HIDDEN, True, False, Effect(leaves=True, stales=True)),
        (PLAIN, OMITTED, True, False, Effect(leaves=True, stales=True)),
        (PLAIN, PINNED, True, False, Effect(leaves=True)),
        (PLAIN, PINNED, True, True, Effect(leaves=True, stales=True)),
        (HIDDEN, PLAIN, False, False, Effect(arrives=True)),
        (PINNED, PLAIN, False, False, Effect(arrives=True)),
        (OMITTED, PLAIN, False, True, Effect(arrives=True)),
        (HIDDEN, PINNED, False, False, Effect()),
        (PLAIN, HIDDEN, False, False, Effect()),
    ],
)
def test_effects(before: Marks, after: Marks, covered: bool, rewritten: bool, effect: Effect) -> None:
    """Hiding is a deletion, pinning takes a message out and leaves its snippet fresh, the ways back are insertions."""
    assert effect_of_change(before, after, covered=covered, rewritten=rewritten) == effect


@pytest.mark.parametrize("covered", [True, False])
def test_removal(covered: bool) -> None:
    """Only a covered message leaves something behind that is out of date."""
    assert effect_of_removal(covered=covered) == Effect(leaves=covered, stales=covered)
