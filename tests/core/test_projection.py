"""app.core.projection: which messages are sent, at what cost, and why others are not."""

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from app.core.blocks import BEGINNING, Mark
from app.core.left_out import LeftOut
from app.core.model import Message
from app.core.projection import Choice, Costs, Projection, project
from app.core.tool_pairs import Coming
from tests.support.builders import call, chat, places, reply, result, system, turns, uncovered, user, vectors, view_of

CHAT = chat(*turns(3))
CASES = {case["name"]: case for case in vectors("trim.json")["cases"]}


def _sent(
    messages: Sequence[Message], covered: Collection[int] = (), budget: int | None = None, **costs: int
) -> Projection:
    return project(view_of(messages, covered), uncovered(messages, covered), len(messages), Costs(**costs), budget)


def _left(found: Projection) -> list[tuple[int, int, str]]:
    return [(part.first_index, part.last_index, part.reason) for part in found.left_out]


def _parts(found: Projection) -> tuple[list[int], list[int], list[int]]:
    return places(found.prompt), places(found.history), places(found.current)


def test_without_memory_and_budget_it_is_the_plain_history() -> None:
    """Everything is sent, in its order."""
    found = _sent(chat(system(), *turns(3), user(), system()))
    assert _parts(found) == ([0], [1, 2, 3, 4, 5, 6], [7, 8])
    assert (found.left_out, found.warnings, found.first_index) == ((), (), 1)
    assert (found.window_turns, found.dropped_turns) == (3, 0)


def test_an_empty_chat() -> None:
    """Nothing is sent and nothing is wrong."""
    found = _sent([], budget=100)
    assert (_parts(found), found.first_index, found.tokens.total) == (([], [], []), None, 0)
    assert (found.left_out, found.warnings) == ((), ())


def test_every_message_costs_eight_more() -> None:
    """History, and the open turn beside what the request brings."""
    found = _sent(chat(*turns(2, tokens=20), user(5)), system=30, memory=7, tools=3, current=18)
    tokens = found.tokens
    assert (tokens.system, tokens.tools, tokens.memory) == (30, 3, 7)
    assert (tokens.history, tokens.current) == (4 * 18, 18 + 13)
    assert tokens.total == 30 + 3 + 7 + 72 + 31
    assert tokens.budget is None


def test_covered_messages_are_ghosted() -> None:
    """The window begins after them."""
    found = _sent(chat(*turns(4), user()), range(4))
    assert _parts(found) == ([], [4, 5, 6, 7], [8])
    assert (_left(found), found.first_index, found.window_turns) == ([(0, 3, "ghosted")], 4, 2)


def test_with_everything_covered_nothing_is_sent() -> None:
    """Up to the very end."""
    found = _sent(chat(*turns(2)), range(4))
    assert (_parts(found), _left(found), found.first_index) == (([], [], []), [(0, 3, "ghosted")], None)


def test_every_reason_is_said() -> None:
    """In ranges, in order."""
    messages = chat(
        *turns(1),
        user(hidden=True),
        user(hidden=True),
        reply(omitted=True),
        user(0, blank=True),
        user(),
        call("a"),
        reply(),
        result("b"),
        user(),
    )
    found = _sent(messages, (0, 1))
    assert _left(found) == [
        (0, 1, "ghosted"),
        (2, 3, "hidden"),
        (4, 4, "omitted"),
        (5, 5, "empty"),
        (7, 7, "orphan"),
        (9, 9, "orphan"),
    ]
    assert found.warnings == ("orphaned_tool_messages",)


def test_hidden_tool_messages_are_no_orphans() -> None:
    """Who hid both halves of a pair needs no warning."""
    found = _sent(chat(user(), call("a", hidden=True), result("a", hidden=True), reply()))
    assert (_left(found), found.warnings) == ([(1, 2, "hidden")], ())


@pytest.mark.parametrize(
    ("messages", "sent"),
    [
        ([user(), call("a"), result("a"), reply()], [0, 1, 2, 3]),
        ([user(), call("a", "b"), result("a"), reply(), user(), reply()], [0, 3, 4, 5]),
        ([user(), result("a"), call("a"), reply(), user(), reply()], [0, 3, 4, 5]),
        ([user(), call("a", hidden=True), result("a"), reply()], [0, 3]),
        ([user(), call("a"), result("a", hidden=True), reply(), user(), reply()], [0, 3, 4, 5]),
        ([user(), call("a"), result("a", tokens=0, blank=True), reply()], [0, 1, 2, 3]),
        ([user(), call("a"), reply(), user(), call("a"), result("a"), reply()], [0, 2, 3, 4, 5, 6]),
    ],
    ids=["whole", "in part", "before", "hidden call", "hidden result", "blank result", "id used again"],
)
def test_a_call_goes_with_all_its_results_or_not_at_all(messages: list[Message], sent: list[int]) -> None:
    """No result without its call before it, no call without a result, no id mixed up with an earlier one."""
    found = _sent(chat(*messages))
    assert places(found.history) + places(found.current) == sent


def test_an_open_call_waits_for_its_results() -> None:
    """The request may bring them; so the call is sent, but not with a text after it that the request leaves there."""
    assert _parts(_sent(chat(*turns(1), user(), call("a", "b"), result("a")))) == ([], [0, 1], [2, 3, 4])
    told = chat(*turns(1), user(), call("a"), reply())
    assert (_parts(_sent(told)), _left(_sent(told))) == (([], [0, 1], [2, 4]), [(3, 3, "orphan")])
    found = project(view_of(told), told, 5, Costs(), None, Choice(coming=Coming(frozenset("a"))))
    assert _parts(found) == ([], [0, 1], [2, 3, 4])


def test_the_other_half_of_a_covered_or_dropped_pair_is_not_sent() -> None:
    """Not even pinned: no server takes it."""
    pair = [user(), call("a", pinned=True), result("a"), reply()]
    assert places(_sent(chat(*pair, *turns(1)), (0, 2, 3)).history) == [4, 5]
    dropped = _sent(chat(*pair, user(), reply()), budget=60)
    assert (places(dropped.history), dropped.tokens.system) == ([4, 5], 0)
    over_two_turns = chat(user(), call("a"), reply(), result("a"), reply(), user())
    assert places(_sent(over_two_turns).history) == [0, 1, 2, 3, 4]
    assert _parts(_sent(over_two_turns, budget=80)) == ([], [4], [5])


@pytest.mark.parametrize(("budget", "sent"), [(1000, [4, 5, 6, 7]), (1034, [0, 1, 2, 3, 4, 5, 6, 7])])
def test_a_pin_whose_call_is_dropped_takes_no_room(budget: int, sent: list[int]) -> None:
    """It goes with its call, so the turns after it are sent."""
    pair = [user(), call("a"), result("a", tokens=900, pinned=True), reply(10)]
    found = _sent(chat(*pair, *turns(2)), budget=budget)
    assert (places(found.history), found.tokens.total) == (sent, 72 if budget == 1000 else budget)


def test_a_late_result_goes_with_the_turn_of_its_call() -> None:
    """And takes no later turn with it."""
    late = [user(), call("a"), reply(), user(), result("a", tokens=900), reply()]
    found = _sent(chat(*late, *turns(2)), budget=900)
    assert (places(found.history), found.dropped_turns) == ([3, 5, 6, 7, 8, 9], 1)
    assert _left(found) == [(0, 2, "trimmed"), (4, 4, "orphan")]


def test_pinned_messages_of_folded_turns_are_sent_before_the_window() -> None:
    """In their places; their cost is the system's."""
    found = _sent(chat(user(pinned=True), reply(), user(), reply(pinned=True), *turns(2)), (1, 2), system=20)
    assert places(found.history) == [0, 3, 4, 5, 6, 7]
    assert (found.tokens.system, found.tokens.history) == (20 + 36, 72)
    assert (found.first_index, found.window_turns) == (4, 2)


def test_pinned_messages_with_only_an_open_turn_after_them() -> None:
    """The window is the open turn, and the pin still counts with the system."""
    found = _sent(chat(user(pinned=True), reply(), user()), (1,))
    assert (_parts(found), found.first_index) == (([], [0], [2]), 2)
    assert (found.tokens.system, found.tokens.history) == (18, 0)


def test_pinned_messages_of_the_window_are_history() -> None:
    """They stand in a turn that is sent."""
    found = _sent(chat(*turns(1), user(pinned=True), reply()))
    assert (found.tokens.system, found.tokens.history) == (0, 72)


def test_a_budget_drops_whole_oldest_turns_until_three_quarters() -> None:
    """Each turn costs 36: ten and a current of 18 are over 377, seven and it are at most 282.75."""
    messages = chat(*turns(10), user())
    assert _sent(messages, budget=378).left_out == ()
    found = _sent(messages, budget=377)
    assert _left(found) == [(0, 5, "trimmed")]
    assert (found.window_turns, found.dropped_turns, found.first_index) == (7, 3, 6)
    assert found.warnings == ("uncovered_turns_dropped",)


def test_a_budget_never_drops_pinned_messages() -> None:
    """They move to the system's cost with their turn gone, and stay in their places."""
    messages = chat(user(), reply(pinned=True), *turns(9), user())
    found = _sent(messages, budget=377)
    assert places(found.history)[:2] == [1, 8]
    assert _left(found) == [(0, 0, "trimmed"), (2, 7, "trimmed")]
    assert found.tokens.system == 18


def test_pins_alone_are_nothing_dropped() -> None:
    """Over budget with nothing to drop says over_budget, not that turns were dropped."""
    found = _sent(chat(user(50, pinned=True), reply(), user(50)), (1,), budget=100)
    assert found.warnings == ("system_over_half", "over_budget")


def test_memory_and_tools_are_never_dropped() -> None:
    """They take their part of the budget first."""
    messages = chat(*turns(10), user())
    bare, full = _sent(messages, budget=600), _sent(messages, budget=600, memory=200, tools=60)
    assert (bare.dropped_turns, full.tokens.memory, full.tokens.tools) == (0, 200, 60)
    assert full.tokens.total <= 600 < full.tokens.total + 36 * full.dropped_turns


def test_over_budget_alone_sends_no_history_and_warns() -> None:
    """T5: system and current are over by themselves."""
    case = CASES["T5"]
    found = _sent(chat(*turns(5)), budget=case["budget"], system=case["system"], current=case["current"])
    assert (places(found.history), found.tokens.history, found.window_turns) == ([], case["history"], 0)
    assert case["warning"] in found.warnings
    assert "system_over_half" in found.warnings


@pytest.mark.parametrize("name", ["T1", "T3"])
def test_the_window_moves_as_in_the_worked_examples(name: str) -> None:
    """Turn by turn, through the whole projection; the next turn's question costs the same as each before it."""
    case: dict[str, Any] = CASES[name]
    trims = {trim["past_turns"]: trim for trim in case["trims"]}
    asked, said = case["current"] - 8, case["turn"] - case["current"] - 8
    for past in range(case["trims"][-1]["past_turns"] + 1):
        messages = chat(*(message for _ in range(past) for message in (user(asked), reply(said))), user(asked))
        found = _sent(messages, budget=case["budget"], system=case["system"])
        assert found.dropped_turns == max([trims[turn]["window_start"] for turn in trims if turn <= past], default=0)
        if past in trims:
            assert found.tokens.total == trims[past]["total"]


def test_blank_prompts_of_the_chat_are_not_sent() -> None:
    """Nor hidden ones."""
    found = _sent(chat(system(0, blank=True), system(hidden=True), system(), *turns(1)))
    assert (places(found.prompt), _left(found)) == ([2], [(0, 0, "empty"), (1, 1, "hidden")])


def test_skipped_turns_are_sent_until_a_budget_drops_them_first() -> None:
    """They are the oldest."""
    messages = chat(*turns(3, skipped=True), *turns(7), user())
    assert places(_sent(messages).history)[:2] == [0, 1]
    assert _left(_sent(messages, budget=377)) == [(0, 5, "trimmed")]


def test_late_turns_stand_in_their_places() -> None:
    """Uncovered turns between covered ones are sent where they were said."""
    found = _sent(chat(*turns(5)), (0, 1, 4, 5))
    assert places(found.history) == [2, 3, 6, 7, 8, 9]
    assert found.left_out == (LeftOut(0, 1, "ghosted"), LeftOut(4, 5, "ghosted"))
    assert (found.first_index, found.window_turns) == (2, 3)


def test_a_stray_line_is_sent() -> None:
    """A user line whose reply is covered stays visible."""
    assert places(_sent(chat(*turns(3)), (0, 1, 3)).history) == [2, 4, 5]


def test_omitted_messages_are_neither_sent_nor_counted() -> None:
    """The window begins with the first message that is sent, and a turn of which nothing is sent is none."""
    found = project(view_of(CHAT), CHAT, 6, Costs(), None, Choice(omitted=frozenset({100, 101, 102})))
    assert (_parts(found), _left(found)) == (([], [3, 4, 5], []), [(0, 2, "omitted")])
    assert (found.first_index, found.window_turns, found.dropped_turns) == (3, 2, 0)
    assert found.tokens.history == 3 * 18


def test_past_tool_calls_may_be_omitted() -> None:
    """With their results and without a warning; those of the open turn stay."""
    messages = chat(user(), call("a"), result("a"), reply(), user(), call("b"), result("b"))
    found = project(view_of(messages), messages, 7, Costs(), None, Choice(tool_history="omit"))
    assert (_parts(found), _left(found), found.warnings) == (([], [0, 3], [4, 5, 6]), [(1, 2, "omitted")], ())


def test_a_views_window_goes_on_from_where_it_was() -> None:
    """It drops no more than it has to, and what was dropped stays away even with more room."""
    messages = chat(*turns(10), user())
    first = project(view_of(messages), messages, 21, Costs(), 377, Choice(window=BEGINNING))
    again = project(view_of(messages), messages, 21, Costs(), 900, Choice(window=first.window))
    assert (first.dropped_turns, first.window) == (3, Mark(106, 6, 105))
    assert (again.dropped_turns, again.window, again.left_out) == (3, first.window, first.left_out)
    assert "uncovered_turns_dropped" in again.warnings
