"""app.core.trim: budgets, and how a window's start moves."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import BudgetError
from app.core.trim import MESSAGE_OVERHEAD, replay, resolve_budget
from tests.support.builders import VECTORS, vectors

ORIGINALS = VECTORS.parents[2] / "shared" / "vectors"
CASES = {case["name"]: case for case in vectors("trim.json")["cases"]}


@pytest.mark.parametrize("copy", sorted(VECTORS.glob("*.json")), ids=lambda path: path.stem)
def test_the_worked_examples_are_the_published_ones(copy: Path) -> None:
    """The copies beside the tests say what the originals say."""
    original = ORIGINALS / copy.name
    if not original.exists():
        pytest.skip("The originals do not lie beside this repository; the copies are used unchecked.")
    assert copy.read_bytes() == original.read_bytes()


def _start(case: dict[str, Any], past: int) -> int:
    return replay([case["turn"]] * past, [case["current"]] * (past + 1), case["system"], case["budget"])


@pytest.mark.parametrize("name", ["T1", "T3"])
def test_the_window_moves_in_steps(name: str) -> None:
    """The start moves exactly at the turns of the worked example, by as much, to that total."""
    case = CASES[name]
    starts = [_start(case, past) for past in range(case["trims"][-1]["past_turns"] + 1)]
    moves = [past for past in range(1, len(starts)) if starts[past] != starts[past - 1]]
    assert moves == [trim["past_turns"] for trim in case["trims"]]
    for trim in case["trims"]:
        past = trim["past_turns"]
        assert starts[past] == trim["window_start"]
        assert starts[past] - starts[past - 1] == trim["dropped"]
        assert case["system"] + case["current"] + case["turn"] * (past - starts[past]) == trim["total"]


@pytest.mark.parametrize("row", CASES["T2"]["rows"], ids=lambda row: str(row["total_before"]))
def test_exactly_the_budget_is_no_trim(row: dict[str, Any]) -> None:
    """T2: 3584 of 3584 stays, one token more does not."""
    turns = [100] * 30
    fixed = row["total_before"] - sum(turns)
    assert (replay(turns, [0] * 31, fixed, CASES["T2"]["budget"]) > 0) == row["trims"]


def test_landing_on_the_low_mark_stops() -> None:
    """T2: 2688 is 75 % of 3584; nothing more is dropped there, and one token above it one more turn is."""
    case = CASES["T2"]
    turns = [case["budget"] + 1 - case["low_mark"], 100, 100]
    assert replay([*turns, case["low_mark"] - 200], [0] * 5, 0, case["budget"]) == 1
    assert replay([turns[0] - 1, 100, 100, case["low_mark"] - 199], [0] * 5, 0, case["budget"]) == 2


def test_the_low_mark_is_exact() -> None:
    """T4: of 1001, 75 % is 750.75, so 750 is low enough and 751 is not."""
    case = CASES["T4"]
    stop = case["stops_at_or_below"]
    assert replay([300, stop], [0] * 3, 0, case["budget"]) == 1
    assert replay([300, 1, stop], [0] * 4, 0, case["budget"]) == 2


def test_a_prompt_over_budget_by_itself_has_no_history() -> None:
    """T5: the system message and the current turn alone are over."""
    case = CASES["T5"]
    assert replay([150] * 4, [case["current"]] * 5, case["system"], case["budget"]) == 4
    assert case["system"] + case["current"] > case["budget"]


def test_a_large_current_of_the_past_moved_the_window() -> None:
    """What was dropped when it was asked stays dropped."""
    assert replay([10, 10, 10], [0, 0, 95, 0], 0, 100) == 2
    assert replay([10, 10, 10], [0, 0, 0, 0], 0, 100) == 0


def test_a_chat_without_past_turns_drops_none() -> None:
    """There is nothing to drop, over budget or not."""
    assert replay([], [500], 0, 100) == 0


@pytest.mark.parametrize(
    ("context_size", "max_tokens", "budget"),
    [(None, None, None), (4096, 512, 3584), (2048, 256, 1792), (4096, None, 3072), (8192, None, 7168), (100, 99, 1)],
)
def test_budgets(context_size: int | None, max_tokens: int | None, budget: int | None) -> None:
    """context_size less max_tokens, which is min(1024, context_size // 4) where it is not given."""
    assert resolve_budget(context_size, max_tokens) == budget


@pytest.mark.parametrize(("context_size", "max_tokens"), [(None, 10), (100, 100), (100, 101), (100, 0), (3, None)])
def test_sizes_that_do_not_fit(context_size: int | None, max_tokens: int | None) -> None:
    """max_tokens alone, none at all, or as much as the window."""
    with pytest.raises(BudgetError):
        resolve_budget(context_size, max_tokens)


def test_a_message_costs_eight_more() -> None:
    """Besides its text."""
    assert MESSAGE_OVERHEAD == 8


@given(
    turns=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=25),
    current=st.integers(0, 60),
    fixed=st.integers(0, 200),
    budget=st.integers(1, 400),
)
def test_the_window_fits_and_is_no_smaller_than_it_must(
    turns: list[tuple[int, int]], current: int, fixed: int, budget: int
) -> None:
    """Over budget only with nothing left to drop; nothing dropped where everything fits; the start never goes back."""
    costs, currents = [asked + said for asked, said in turns], [*(asked for asked, _ in turns), current]
    start = replay(costs, currents, fixed, budget)
    total = fixed + current + sum(costs[start:])
    assert total <= budget or start == len(costs)
    if fixed + sum(costs) + current <= budget:
        assert start == 0
    if turns:
        assert replay(costs[:-1], currents[:-1], fixed, budget) <= start
