"""The window of a view, on examples and at random."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.model import Message, Role, Turn
from app.core.sticky import Coverage, Window, advance, find_start, open_window, window_from_json
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


def _turns(*numbers: int) -> list[Turn]:
    """Turns of two messages; the number says their keys, the place their indices."""
    return [
        Turn(tuple(Message(2 * number + part, 2 * place + part, role, 10) for part, role in enumerate(_ROLES)))
        for place, number in enumerate(numbers)
    ]


_ROLES = (Role.USER, Role.ASSISTANT)
NONE = Coverage("layered", 0, 0, None)
FOLDED = Coverage("layered", 1, 6, 5)


@pytest.mark.parametrize(
    ("left", "start"),
    [
        ([0, 1, 2, 3, 4], 2),
        ([0, 1, 2, 3, 4, 5, 6], 2),
        ([2, 3, 4], 0),
        ([9, 8, 0, 1, 2, 3], 4),
        ([0, 1, 3, 4], 2),
        ([0, 1, 7, 2], 3),
        ([0, 3, 4], 2),
        ([0, 1], 2),
        ([], 0),
    ],
)
def test_a_window_is_found_again_by_its_messages(left: list[int], start: int) -> None:
    """Whatever went or came around it; where its own two messages are gone, its place tells."""
    window = open_window(_turns(0, 1, 2, 3), 2, NONE)
    assert find_start(window, _turns(*left), NONE) == start


def test_a_window_without_turns_begins_with_the_next_one() -> None:
    """It stays behind the last turn that was dropped, also where others were deleted meanwhile."""
    window = open_window(_turns(0, 1), 2, NONE)
    assert find_start(window, _turns(0, 1), NONE) == 2
    assert find_start(window, _turns(1, 5), NONE) == 1


def test_a_window_that_lost_nothing_begins_with_whatever_is_first() -> None:
    """A turn that comes in before all others is sent too."""
    assert find_start(open_window(_turns(0, 1), 0, NONE), _turns(9, 0, 1), NONE) == 0
    assert find_start(None, _turns(0, 1), NONE) == 0


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        (FOLDED, True),
        (Coverage("layered", 2, 6, 5), True),
        (Coverage("layered", 1, 5, 4), True),
        (Coverage("layered", 2, 9, 8), False),
        (Coverage("layered", 2, 3, 2), False),
        (Coverage("layered", 2, 0, None), False),
        (Coverage("rolling", 1, 6, 5), False),
        (Coverage("none", 1, 0, None), False),
    ],
)
def test_only_another_coverage_opens_the_window_anew(now: Coverage, kept: bool) -> None:
    """A fold, an unwinding, a clear, another strategy; not a merge, an edited snippet or a deleted message."""
    window = open_window(_turns(3, 4, 5, 6), 2, FOLDED)
    assert find_start(window, _turns(3, 4, 5, 6), now) == (2 if kept else 0)


@given(st.lists(st.integers(8, 300), max_size=20), st.integers(100, 1500), st.data())
@settings(max_examples=60, deadline=None)
def test_between_folds_a_window_only_moves_on(costs: list[int], budget: int, data: st.DataObject) -> None:
    """Appends, requests with other budgets and deletions of what is sent never bring a dropped turn back."""
    numbers: list[int] = []
    window: Window | None = None
    gone: set[int] = set()
    for number in range(len(costs)):
        numbers.append(number)
        if len(numbers) > 1 and data.draw(st.booleans()):
            del numbers[data.draw(st.integers(0, len(numbers) - 1))]
        turns = _turns(*numbers)
        found = find_start(window, turns, NONE)
        start = advance([costs[n] for n in numbers], 20, 50, budget - 50 * data.draw(st.integers(0, 1)), found)
        assert not gone & set(numbers[start:])
        gone |= set(numbers[:start])
        kept = open_window(turns, start, NONE)
        window = window_from_json(json.loads(json.dumps(kept.as_json())))
        assert window == kept
        assert find_start(window, turns, NONE) == start
