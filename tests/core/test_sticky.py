"""The window of a view, on examples and at random."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.sticky import advance
from app.core.trim import replay
from tests.support.builders import vectors

CASES = {case["name"]: case for case in vectors("trim.json")["cases"]}
COSTS = st.lists(st.integers(8, 300), max_size=25)


@pytest.mark.parametrize("name", ["T1", "T3"])
def test_the_window_moves_as_in_the_worked_examples(name: str) -> None:
    """Turn by turn, the window starts where the example says, and at no other turn does it move."""
    case, start, moved = CASES[name], 0, []
    for past in range(case["trims"][-1]["past_turns"] + 1):
        before, turns = start, [case["turn"]] * past
        start = advance(turns, case["current"], case["system"], case["budget"], start)
        if start != before:
            total = case["system"] + case["current"] + sum(turns[start:])
            moved.append({"past_turns": past, "dropped": start - before, "window_start": start, "total": total})
    assert moved == case["trims"]


def test_a_prompt_of_exactly_the_budget_is_left_alone() -> None:
    """At 3584 of 3584 nothing goes; a token more, and turns go until 2688 is left, exactly that included."""
    assert advance([896, 2000], 0, 688, 3584, 0) == 0
    assert advance([897, 2000], 0, 688, 3584, 0) == 1
    assert advance([896, 1, 2000], 0, 688, 3584, 0) == 2


def test_when_there_is_no_room_for_history_none_is_sent() -> None:
    """A system message and a current turn that are over the budget by themselves leave no turn."""
    assert advance([100, 100], 108, 1708, 1792, 1) == 2


@given(COSTS, st.integers(0, 200), st.integers(0, 500), st.integers(1, 3000), st.integers(0, 30))
@settings(max_examples=150, deadline=None)
def test_it_moves_on_only_and_no_further_than_it_must(
    turns: list[int], current: int, fixed: int, budget: int, start: int
) -> None:
    """It never moves back; if it moved, 75 % is met or no turn is left, and with one turn more it would not be."""
    kept = min(start, len(turns))
    found = advance(turns, current, fixed, budget, start)
    total = fixed + current + sum(turns[found:])
    assert kept <= found <= len(turns)
    assert (found == kept) == (fixed + current + sum(turns[kept:]) <= budget or kept == len(turns))
    if found > kept:
        assert 4 * total <= 3 * budget or found == len(turns)
        assert 4 * (total + turns[found - 1]) > 3 * budget
    assert advance(turns, current, fixed, budget, found) == found or total > budget


@given(COSTS, st.integers(0, 200), st.integers(0, 500), st.integers(1, 3000))
@settings(max_examples=100, deadline=None)
def test_a_view_asked_at_every_turn_is_a_replay(turns: list[int], current: int, fixed: int, budget: int) -> None:
    """A view that is asked once a turn trims as a replay from the first turn on does."""
    start = 0
    for past in range(len(turns) + 1):
        start = advance(turns[:past], current, fixed, budget, start)
    assert start == replay(turns, [current] * (len(turns) + 1), fixed, budget)
