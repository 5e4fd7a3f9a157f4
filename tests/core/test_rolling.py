"""app.core.rolling: when the one summary is written anew, and from how many turns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.model import Message, Role, Snippet, Turn
from app.core.rewrite import Rewrite, Skip
from app.core.rolling import Dialog, plan_rolling, skipped
from app.core.settings import RollingSettings
from tests.support.builders import vectors

CASES = {case["name"]: case for case in vectors("rolling.json")["cases"]}
SUMMARY = Snippet(key=9, layer=0, tokens=240)


def dialog(costs: Sequence[int], covered: int = 0) -> Dialog:
    """Turns that cost so many tokens, the first ones covered by a summary."""
    turns = [Turn((Message(100 + i, i, Role.ASSISTANT, cost),)) for i, cost in enumerate(costs)]
    return Dialog(turns[covered:], covered, SUMMARY if covered else None)


def tokens(turn: Turn) -> int:
    return turn.tokens


def plan(costs: Sequence[int], room: int | None = None, covered: int = 0, **values: Any) -> Rewrite | Skip:
    return plan_rolling(dialog(costs, covered), RollingSettings(**values), room, tokens)


def folds(costs: Sequence[int], room: int | None = None, **values: Any) -> list[tuple[int, int, int]]:
    """Turns arrive one by one: the size of the dialog, the last turn covered and how many are folded, at each fold."""
    found, covered = [], 0
    for size in range(1, len(costs) + 1):
        fold = plan(costs[:size], room, covered, **values)
        if isinstance(fold, Rewrite):
            covered += len(fold.turns)
            found.append((size, fold.covered_through, len(fold.turns)))
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_worked_examples(name: str) -> None:
    """Each fold comes when the example says, and takes what it says."""
    case = CASES[name]
    values = {key: case[key] for key in ("trigger_tokens", "trigger_turns") if key in case}
    if "keep" in case:
        values["keep_recent_turns"] = case["keep"]
    expected = [(fold["n"], fold["covered_through"], fold["folded_turns"]) for fold in case["folds"]]
    assert folds(case["turn_tokens"], case.get("room"), **values) == expected


def test_what_waits_before_a_fold() -> None:
    """F1: five turns of 200 tokens outside the newest three are below 1024."""
    assert plan([200] * 8) == Skip("below_threshold", 5, 1000)


@pytest.mark.parametrize(
    ("costs", "count"),
    [([300, 500, 400, 250, 100], 3), ([700, 702, 1], 2), ([700, 703, 1], 1), ([1403, 1, 1], 0)],
)
def test_the_largest_prefix_that_fits(costs: list[int], count: int) -> None:
    """F5: the oldest turns that fit into 1402 tokens; a first one that does not holds all up."""
    found = plan([*costs, 1, 1, 1], 1402, trigger_turns=1)
    assert len(found.turns) == count if isinstance(found, Rewrite) else found.reason == "input_too_large" and not count


def test_a_turn_trigger_counts_no_tokens() -> None:
    """F6: where the turns fire, tokens are not looked at, not even for the reason of a skip."""
    assert plan([60] * 13, 50, trigger_turns=10) == Skip("input_too_large", 10, 0)
    assert plan([60] * 12, 50, trigger_turns=10) == Skip("below_threshold", 9, 540)


@pytest.mark.parametrize(
    ("size", "covered", "reason"),
    [
        (0, 0, "empty_dialog"),
        (3, 0, "hot_window_covers_dialog"),
        (9, 6, "nothing_new_outside_hot_window"),
        (9, 8, "nothing_new_outside_hot_window"),
        (4, 0, "below_threshold"),
    ],
)
def test_reasons_in_their_order(size: int, covered: int, reason: str) -> None:
    """F8: an empty dialog, one within the hot window, one with nothing new outside it, then the triggers."""
    found = plan([10] * size, covered=covered)
    assert isinstance(found, Skip)
    assert found.reason == reason


def test_a_backlog_goes_down_with_each_reply() -> None:
    """F10: of 200 imported turns seven fold with each new one; 32 turns later all that waits fits into one fold."""
    covered, counts = 0, []
    for size in range(201, 234):
        fold = plan([200] * size, 1402, covered)
        assert isinstance(fold, Rewrite)
        covered += len(fold.turns)
        counts.append(len(fold.turns))
    assert counts == [7] * 32 + [6]


def test_both_triggers_off() -> None:
    """With neither trigger nothing ever folds by itself; when asked to, all outside the newest turns does."""
    values = RollingSettings(trigger_tokens=0, trigger_turns=0)
    assert plan([5000] * 50, trigger_tokens=0) == Skip("below_threshold", 47, 0)
    found = plan_rolling(dialog([5000] * 50), values, None, tokens, forced=True)
    assert isinstance(found, Rewrite)
    assert found.covered_through == 46


def test_an_oversized_turn_is_cut_where_that_is_wanted() -> None:
    """With oversize `clip` the first turn alone is folded, its middle cut to the room."""
    found = plan([5000, 10, 10, 10, 10], 1402, oversize="clip")
    assert isinstance(found, Rewrite)
    assert (found.clipped, found.room, len(found.turns)) == (True, 1402, 1)


def test_a_failure_is_told_with_what_waits() -> None:
    """A reason that comes from the model has the figures of the turns outside the hot window."""
    assert skipped("model_error", dialog([400] * 6), RollingSettings()) == Skip("model_error", 3, 1200)


COSTS = st.lists(st.integers(0, 900), max_size=40)
VALUES = st.builds(
    RollingSettings,
    trigger_tokens=st.integers(0, 2000),
    trigger_turns=st.integers(0, 6),
    keep_recent_turns=st.integers(0, 6),
    oversize=st.sampled_from(["stop", "clip"]),
)


@settings(max_examples=100)
@given(COSTS, VALUES, st.integers(1, 2000))
def test_folds_only_move_forward(costs: list[int], values: RollingSettings, room: int) -> None:
    """What is covered is a prefix that only grows, ends before the newest turns, and fits the room unless it is cut."""
    covered = 0
    for size in range(len(costs) + 1):
        found = plan_rolling(dialog(costs[:size], covered), values, room, tokens)
        if isinstance(found, Skip):
            assert not (found.reason == "input_too_large" and values.oversize == "clip")
            continue
        taken = [turn.messages[0].index for turn in found.turns]
        assert taken == list(range(covered, covered + len(taken)))
        assert found.clipped == (sum(turn.tokens for turn in found.turns) > room)
        covered += len(taken)
        assert found.covered_through == covered - 1 <= size - 1 - values.keep_recent_turns


@settings(max_examples=100)
@given(COSTS, VALUES, st.integers(1, 2000))
def test_more_room_folds_no_less(costs: list[int], values: RollingSettings, room: int) -> None:
    """A larger window never folds fewer turns, and no bound folds all outside the newest ones."""
    counts = []
    for most in (room, room + 500, None):
        found = plan_rolling(dialog(costs), replace(values, oversize="stop"), most, tokens, forced=True)
        counts.append(len(found.turns) if isinstance(found, Rewrite) else 0)
    assert counts == sorted(counts)
    assert counts[-1] == max(0, len(costs) - values.keep_recent_turns)
