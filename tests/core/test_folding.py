"""app.core.folding: which turns fold next."""

from collections.abc import Sequence
from typing import Any

import pytest

from app.core.folding import (
    AUTO,
    DRAIN,
    FORCE,
    Backlog,
    Fold,
    Mode,
    count_backlog,
    flush_turns,
    is_backlog,
    plan_fold,
    turns_over_window,
)
from app.core.model import Message
from app.core.settings import LayeredSettings
from app.core.turns import outline
from tests.support.builders import call, chat, places, reply, result, system, turns, user, vectors, view_of

SCHEDULES = vectors("layered.json")["fold_schedule_compat"]


def _schedule(settings: LayeredSettings, count: int) -> list[tuple[int, int, int]]:
    """(turn, turns folded, turns left visible) of every flush while a chat grows turn by turn."""
    messages, covered = chat(*turns(count)), set[int]()
    flushes = []
    for turn in range(1, count + 1):
        folded, mode = 0, AUTO
        while fold := plan_fold(view_of(messages[: 2 * turn], covered), settings, mode):
            covered |= set(places(fold.covers))
            folded, mode = folded + len(fold.turns), DRAIN
        if folded:
            flushes.append((turn, folded, turn - len(covered) // 2))
    return flushes


def _plan(
    messages: Sequence[Message], covered: Sequence[int] = (), mode: Mode = AUTO, **changed: Any
) -> list[int] | None:
    """Where the messages stand that the next fold covers."""
    fold = _fold(messages, covered, mode, **changed)
    return places(fold.covers) if fold else None


def _fold(messages: Sequence[Message], covered: Sequence[int] = (), mode: Mode = AUTO, **changed: Any) -> Fold | None:
    settings = LayeredSettings(**({"verbatim_turns": 4, "turns_per_batch": 2} | changed))
    return plan_fold(view_of(messages, covered), settings, mode)


def test_strict_10_3_fires_at_turn_13_and_leaves_10() -> None:
    """Then at 16, 19, 22, 25."""
    assert _schedule(LayeredSettings(), 26) == [(13, 3, 10), (16, 3, 10), (19, 3, 10), (22, 3, 10), (25, 3, 10)]


def test_flush_turns_12_folds_four_batches_at_22() -> None:
    """And again four when twelve more have come."""
    assert _schedule(LayeredSettings(flush_turns=12), 36) == [(22, 12, 10), (34, 12, 10)]


def test_a_flush_leaves_what_makes_no_full_batch() -> None:
    """Ten over the window are three batches and one turn that waits."""
    assert _schedule(LayeredSettings(flush_turns=10), 20) == [(20, 9, 11)]


def test_compat_10_3_fires_at_turn_11_and_leaves_8() -> None:
    """Then at 14, 17, 20; flush_turns is ignored."""
    expected = [(11, 3, 8), (14, 3, 8), (17, 3, 8), (20, 3, 8)]
    assert _schedule(LayeredSettings(window="compat"), 22) == expected
    assert _schedule(LayeredSettings(window="compat", flush_turns=12), 22) == expected


@pytest.mark.parametrize("case", SCHEDULES, ids=lambda case: f"{case['verbatim_turns']}/{case['turns_per_batch']}")
def test_the_schedules_of_the_original(case: dict[str, Any]) -> None:
    """Every worked example of `compat`."""
    settings = LayeredSettings(
        window="compat", verbatim_turns=case["verbatim_turns"], turns_per_batch=case["turns_per_batch"]
    )
    expected = [(fold["at_turn"], fold["folded"], fold["left"]) for fold in case["folds"]]
    assert _schedule(settings, case["turns"]) == expected


def test_compat_takes_all_that_is_visible_where_a_batch_is_more() -> None:
    """The oldest min(turns_per_batch, visible)."""
    assert _plan(chat(*turns(2)), window="compat", verbatim_turns=1, turns_per_batch=5) == [0, 1, 2, 3]


def test_nothing_folds_in_a_short_chat() -> None:
    """Empty, with an open turn alone, or with fewer turns than the window, forced or not."""
    assert _plan([]) is None
    assert _plan(chat(user()), mode=FORCE) is None
    assert _plan(chat(*turns(4), user()), mode=FORCE) is None
    assert _plan(chat(*turns(4)), mode=FORCE, window="compat") is None


def test_drain_folds_full_batches_without_waiting_for_a_flush() -> None:
    """With flush_turns 6, three turns over the window fold in drain alone."""
    messages = chat(*turns(7))
    assert _plan(messages, flush_turns=6) is None
    assert _plan(messages, mode=DRAIN, flush_turns=6) == [0, 1, 2, 3]
    assert _plan(messages, range(4), mode=DRAIN, flush_turns=6) is None


def test_force_folds_what_makes_no_full_batch() -> None:
    """The last turn over the window goes alone; the window itself never."""
    messages = chat(*turns(7))
    assert _plan(messages, range(4), mode=FORCE) == [4, 5]
    assert _plan(messages, range(6), mode=FORCE) is None


def test_the_passage_is_in_order_and_covers_every_message_of_its_turns() -> None:
    """Tool calls, their results and notes fold with their turn; a blank line is covered and not read."""
    messages = chat(user(), call("a"), result("a"), user(0, blank=True), reply(), user(), system(), reply(), *turns(4))
    fold = _fold(messages)
    assert fold is not None
    assert places(fold.covers) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert places(fold.passage) == [0, 1, 2, 4, 5, 6, 7]
    assert (fold.last_index, fold.late, fold.clipped) == (7, False, False)


def test_pinned_messages_are_read_and_not_covered() -> None:
    """They are context for the model."""
    fold = _fold(chat(user(pinned=True), reply(), *turns(5)))
    assert fold is not None
    assert places(fold.covers) == [1, 2, 3]
    assert places(fold.passage) == [0, 1, 2, 3]


def test_hidden_and_omitted_messages_are_neither_read_nor_covered() -> None:
    """They are not touched."""
    fold = _fold(chat(user(), user(hidden=True), reply(omitted=True), reply(), *turns(5)))
    assert fold is not None
    assert places(fold.passage) == places(fold.covers) == [0, 3, 4, 5]


def test_turns_that_are_all_pinned_do_not_count() -> None:
    """They fill no window and no batch, and a batch reaches over them."""
    pinned = [user(pinned=True), reply(pinned=True)]
    assert _plan(chat(*pinned, *turns(5))) is None
    assert _plan(chat(*turns(1), *pinned, *turns(5))) == [0, 1, 4, 5]


def test_the_prompt_and_the_open_turn_never_fold() -> None:
    """Neither the chat's own system messages nor what nobody has answered."""
    messages = chat(system(), *turns(5), user(), call("a"), result("a"))
    assert _plan(messages, mode=FORCE) == [1, 2]


def test_skipped_turns_count_for_nothing_and_part_batches() -> None:
    """They fold in no mode; a batch does not reach over them, as its range would hold what it does not cover."""
    messages = chat(*turns(1), *turns(3, skipped=True), *turns(5))
    assert _plan(messages) == [0, 1]
    assert _plan(messages, (0, 1)) is None
    assert _plan(messages, (0, 1), mode=FORCE) == [8, 9]
    assert count_backlog(view_of(messages), LayeredSettings(verbatim_turns=4)) == Backlog(2, 0)


def test_skipped_turns_alone_never_fold() -> None:
    """However many there are."""
    assert _plan(chat(*turns(20, skipped=True), *turns(4)), mode=FORCE) is None
    assert _plan(chat(*turns(20, skipped=True), *turns(4)), mode=FORCE, window="compat") is None


def test_late_folds_go_first_and_as_they_are() -> None:
    """One uncovered turn between covered ones folds alone once a batch is due, before the newer ones."""
    messages = chat(*turns(8))
    covered = (0, 1, 4, 5)
    fold = _fold(messages, covered)
    assert fold is not None
    assert (places(fold.covers), fold.late) == ([2, 3], True)
    assert _plan(chat(*turns(7)), covered) is None  # five visible: one over the window is no batch
    assert _plan(chat(*turns(7)), covered, mode=FORCE) == [2, 3]


def test_late_turns_at_the_very_beginning_fold_too() -> None:
    """Where the oldest snippet was deleted, nothing covered precedes them."""
    fold = _fold(chat(*turns(8)), (2, 3, 4, 5))
    assert fold is not None
    assert (places(fold.covers), fold.late) == ([0, 1], True)


def test_a_long_late_run_folds_in_batches() -> None:
    """Full ones first, the rest as it is."""
    messages = chat(*turns(10))
    assert _plan(messages, (0, 1, 8, 9)) == [2, 3, 4, 5]
    assert _plan(messages, (0, 1, 2, 3, 4, 5, 8, 9)) == [6, 7]


def test_the_oldest_of_several_late_runs_goes_first() -> None:
    """Then the next."""
    messages = chat(*turns(10))
    assert _plan(messages, (0, 1, 4, 5, 8, 9)) == [2, 3]
    assert _plan(messages, (0, 1, 2, 3, 4, 5, 8, 9)) == [6, 7]


def test_turns_inside_a_snippets_range_do_not_fold() -> None:
    """They wait for the leaf before them, and count for no trigger."""
    messages = chat(*turns(7))
    view = view_of(messages, (0, 1, 4, 5), enclosed=(2, 3))
    settings = LayeredSettings(verbatim_turns=4, turns_per_batch=2)
    assert plan_fold(view, settings, FORCE) is None
    assert turns_over_window(view, settings) == ()


def test_the_window_counts_from_the_newest_visible_turn() -> None:
    """A covered turn near the end makes the window reach further back."""
    assert _plan(chat(*turns(7)), (10, 11), mode=FORCE) == [0, 1, 2, 3]
    assert _plan(chat(*turns(5)), (6, 7), mode=FORCE) is None


def test_a_long_passage_takes_fewer_turns() -> None:
    """As many whole turns as fit, exactly the limit included."""
    messages = chat(*turns(7, tokens=100))
    limits = {299: 2, 300: 3, 200: 2, 199: 1}
    for limit, count in limits.items():
        fold = _fold(messages, turns_per_batch=3, passage_tokens=limit)
        assert fold is not None
        assert (len(fold.turns), fold.clipped) == (count, False)


def test_a_single_turn_over_the_limit_is_clipped() -> None:
    """It folds alone, and is marked."""
    fold = _fold(chat(*turns(1, tokens=500), *turns(6, tokens=10)), passage_tokens=499)
    assert fold is not None
    assert (places(fold.covers), fold.clipped) == ([0, 1], True)


def test_verbatim_tokens_fold_before_a_batch_is_full() -> None:
    """What lies outside the window holds no more than the limit; the last batch is short."""
    messages = chat(*turns(7, tokens=100))
    assert _plan(messages, turns_per_batch=4, verbatim_tokens=300) is None
    assert _plan(messages, turns_per_batch=4, verbatim_tokens=299) == [0, 1]
    assert _plan(messages, turns_per_batch=4, verbatim_tokens=100) == [0, 1, 2, 3]
    assert _plan(messages, (0, 1, 2, 3), turns_per_batch=4, verbatim_tokens=100) is None


def test_verbatim_tokens_take_full_batches_first() -> None:
    """Of five turns too many, two go, then two, then one."""
    messages = chat(*turns(9, tokens=100))
    options: dict[str, Any] = {"flush_turns": 50, "verbatim_tokens": 1}
    assert _plan(messages, **options) == [0, 1, 2, 3]
    assert _plan(messages, range(4), **options) == [4, 5, 6, 7]
    assert _plan(messages, range(8), **options) == [8, 9]
    assert _plan(messages, range(10), **options) is None


def test_verbatim_tokens_never_enter_the_window() -> None:
    """However long its turns are."""
    assert _plan(chat(*turns(4, tokens=5000)), verbatim_tokens=1) is None


def test_a_backlog_is_more_than_the_next_few_folds() -> None:
    """More than max(2 x batch, flush + batch) turns over the window."""
    assert [is_backlog(over, LayeredSettings()) for over in (6, 7)] == [False, True]
    flush = LayeredSettings(flush_turns=12)
    assert [is_backlog(over, flush) for over in (15, 16)] == [False, True]
    assert flush_turns(flush) == 12
    assert flush_turns(LayeredSettings(flush_turns=12, window="compat")) == 3


@pytest.mark.parametrize(("window", "batches"), [("strict", 2), ("compat", 3)])
def test_the_batches_of_a_backlog(window: Any, batches: int) -> None:
    """Full ones; `compat` would fold the rest too."""
    settings = LayeredSettings(window=window)
    assert count_backlog(view_of(chat(*turns(18))), settings) == Backlog(8, batches)
    assert count_backlog(view_of(chat(*turns(3))), settings) == Backlog(0, 0)


@pytest.mark.parametrize("window", ["strict", "compat"])
def test_the_beginning_of_a_long_chat_plans_what_the_whole_does(window: Any) -> None:
    """Or nothing, where the beginning is too short to tell."""
    messages, settings = chat(*turns(40)), LayeredSettings(window=window)
    whole = plan_fold(view_of(messages), settings)
    for count in range(1, 20):
        later = (len(messages) - count) // 2
        head = plan_fold(outline(messages[:count], count, later=later), settings, FORCE)
        assert head == (whole if count >= 6 else None)
