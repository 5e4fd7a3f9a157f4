"""app.core.projection: what holds for every chat, memory, budget and choice (rolling-and-buffer.md, Projection)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.blocks import BEGINNING, Mark
from app.core.model import Message, Role
from app.core.placement import Placement, Slot, place
from app.core.projection import Choice, Costs, Projection, project
from app.core.sticky import advance
from app.core.trim import replay
from tests.support.builders import call, chat, histories, places, reply, result, uncovered, user, view_of

sizes = st.integers(0, 120)
costs = st.builds(Costs, system=sizes, memory=sizes, tools=sizes, current=sizes)
budgets = st.none() | st.integers(1, 900)


@dataclass(frozen=True)
class Scene:
    """A chat, of which a memory covers the oldest turns, and a choice of what is sent."""

    messages: list[Message]
    covered: frozenset[int]
    choice: Choice

    def plan(self, costs: Costs, budget: int | None, window: Mark | None = None) -> Projection:
        choice = self.choice if window is None else replace(self.choice, window=window)
        left = uncovered(self.messages, self.covered)
        return project(view_of(self.messages, self.covered), left, len(self.messages), costs, budget, choice)


@st.composite
def tooled(draw: st.DrawFn) -> list[Message]:
    """A history with whole tool pairs: pinned in part, large, some with a turn between a call and its result."""
    messages = list(draw(histories))
    for name in draw(st.lists(st.sampled_from("abc"), max_size=3)):
        pins = [draw(st.booleans()) for _ in range(3)]
        pair = [user(), call(name, pinned=pins[0]), result(name, tokens=draw(st.integers(0, 400)), pinned=pins[1])]
        if draw(st.booleans()):
            pair[2:2] = [reply(pinned=pins[2]), user(draw(sizes))]
        at = draw(st.integers(0, len(messages)))
        messages[at:at] = [*pair, *draw(st.sampled_from([[reply()], [reply(40)], []]))]
    return messages


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    messages = chat(*draw(tooled()))
    turns = [turn for turn in view_of(messages).turns if turn.coverable]
    folded = turns[: draw(st.integers(0, len(turns)))]
    covered = frozenset(message.index for turn in folded for message in turn.coverable)
    keys = [message.key for message in messages]
    omitted = frozenset(draw(st.lists(st.sampled_from(keys), max_size=4)) if draw(st.booleans()) else ())
    return Scene(messages, covered, Choice(omitted, draw(st.sampled_from(["pair", "omit"]))))


def _sent(found: Projection) -> list[Message]:
    return [*found.prompt, *found.history, *found.current]


@given(scene=scenes(), costs=costs, budget=budgets)
def test_everything_is_sent_in_order_or_explained(scene: Scene, costs: Costs, budget: int | None) -> None:
    """Sent and left-out messages are all messages, each once; those that are covered, and only those, are ghosted."""
    found = scene.plan(costs, budget)
    left = {index: part.reason for part in found.left_out for index in range(part.first_index, part.last_index + 1)}
    sent = places(_sent(found))
    assert sent == sorted(sent)
    assert sorted([*sent, *left]) == list(range(len(scene.messages)))
    assert {index for index, reason in left.items() if reason == "ghosted"} == scene.covered
    for message in scene.messages:
        if left.get(message.index) == "trimmed":
            assert budget is not None
            assert not message.pinned


@given(scene=scenes(), costs=costs, budget=budgets)
def test_it_is_never_over_budget_unsaid(scene: Scene, costs: Costs, budget: int | None) -> None:
    """What is over says so, and then there is no history; the parts are what is sent."""
    found = scene.plan(costs, budget)
    tokens = found.tokens
    cost = sum(message.tokens + 8 for message in (*found.history, *found.current))
    assert tokens.system + tokens.history + tokens.current == cost + costs.system + costs.current
    over = budget is not None and tokens.total > budget
    assert over == ("over_budget" in found.warnings)
    assert not over or tokens.history == 0


@given(scene=scenes(), costs=costs, budget=st.integers(1, 900))
def test_only_whole_oldest_turns_are_dropped(scene: Scene, costs: Costs, budget: int) -> None:
    """The current turn is there whatever the budget; before the window only pinned messages are sent."""
    found, free = scene.plan(costs, budget), scene.plan(costs, None)
    trimmed = [part.last_index for part in found.left_out if part.reason == "trimmed"]
    window = [message.index for message in (*found.history, *found.current) if not message.pinned]
    assert not trimmed or not window or max(trimmed) < min(window)
    assert found.window_turns + found.dropped_turns == free.window_turns
    torn = {
        index
        for part in found.left_out
        if part.reason == "orphan"
        for index in range(part.first_index, part.last_index + 1)
    }
    assert set(places(free.current)) - set(places(found.current)) <= torn
    assert {message.index for message in free.history if message.pinned} <= set(places(found.history)) | torn


@given(scene=scenes(), costs=costs, budget=budgets)
def test_calls_and_results_go_together(scene: Scene, costs: Costs, budget: int | None) -> None:
    """Every result has its call before it; every call of a past turn has all its results."""
    found = scene.plan(costs, budget)
    waiting: dict[str, int] = {}
    for message in found.history:
        waiting |= dict.fromkeys(message.calls, message.index)
        if message.role is Role.TOOL:
            assert message.answers in {call for m in found.history if m.index < message.index for call in m.calls}
            waiting.pop(str(message.answers), None)
    assert not waiting or any(message.role is Role.TOOL for message in found.current)
    assert scene.choice.tool_history == "pair" or not any(m.calls or m.answers for m in found.history)
    first = next(iter([*found.history, *found.current]), None)
    assert first is None or first.role is not Role.TOOL


@given(scene=scenes(), costs=costs, budget=budgets)
def test_the_same_input_gives_the_same_prompt(scene: Scene, costs: Costs, budget: int | None) -> None:
    """Nothing is kept between two plans."""
    assert scene.plan(costs, budget) == scene.plan(costs, budget)


@given(scene=scenes(), costs=costs, budget=st.integers(1, 900))
def test_no_turn_is_dropped_for_what_is_not_sent(scene: Scene, costs: Costs, budget: int) -> None:
    """A view's window is the longest that fits: every longer one, as it would be sent, is over 75 %."""
    turns = [turn.messages for turn in view_of(scene.messages, scene.covered).turns if turn.coverable]
    marks = [BEGINNING, *(Mark(turn[0].key, turn[0].index) for turn in turns[1:])]
    longest, *shorter = [scene.plan(costs, None, mark) for mark in marks]
    fits = [plan for plan in shorter if 4 * plan.tokens.total <= 3 * budget]
    found = scene.plan(costs, budget, BEGINNING)
    if longest.tokens.total <= budget:
        assert (found.history, found.left_out) == (longest.history, longest.left_out)
    elif fits:
        assert (found.history, found.left_out) == (fits[0].history, fits[0].left_out)
    else:
        assert found.window_turns == 0


@given(scene=scenes(), costs=costs, budget=st.integers(1, 900))
def test_nothing_is_dropped_that_fits(scene: Scene, costs: Costs, budget: int) -> None:
    """Without a view either: history that is not sent would be over the budget."""
    found, whole = scene.plan(costs, budget), scene.plan(costs, None)
    assert whole.tokens.total > budget or (found.history, found.left_out) == (whole.history, whole.left_out)


@given(turns=st.lists(sizes, max_size=25), data=st.data(), fixed=sizes, budget=st.integers(1, 900))
def test_an_incremental_replay_equals_one_from_scratch(
    turns: list[int], data: st.DataObject, fixed: int, budget: int
) -> None:
    """To go on from the last start turn by turn leads where the whole chat played again does."""
    currents = [data.draw(sizes) for _ in range(len(turns) + 1)]
    start = 0
    for past in range(len(turns) + 1):
        start = advance(turns[:past], currents[past], fixed, budget, start)
        assert start == replay(turns[:past], currents[: past + 1], fixed, budget)


@settings(max_examples=60)
@given(scene=scenes(), costs=st.lists(costs, min_size=1, max_size=6), budget=st.integers(1, 900), cuts=st.data())
def test_a_views_window_never_moves_back(
    scene: Scene, costs: Sequence[Costs], budget: int, cuts: st.DataObject
) -> None:
    """However the chat grows and whatever each request brings: no dropped turn comes back without a fold."""
    known = max(scene.covered, default=-1) + 1
    ends = sorted(cuts.draw(st.integers(known, len(scene.messages))) for _ in costs)
    mark, dropped = BEGINNING, -1
    for end, cost in zip(ends, costs, strict=True):
        found = replace(scene, messages=scene.messages[:end]).plan(cost, budget, mark)
        assert found.dropped_turns >= dropped
        assert not found.history or found.first_index is None or found.first_index >= mark.index
        mark, dropped = found.window, found.dropped_turns


slots = st.lists(
    st.builds(
        Slot,
        system=st.booleans(),
        calls=st.sampled_from([(), (), ("a",), ("b",), ("a", "b")]),
        answers=st.sampled_from([None, None, "a", "b"]),
    ),
    max_size=10,
)


@given(past=slots, current=slots, depth=st.integers(0, 12))
def test_a_memory_at_a_depth_parts_no_call_from_its_result(past: list[Slot], current: list[Slot], depth: int) -> None:
    """It stands at its depth or before it, never between a call and a result, and before the current turn's calls."""
    found = [*past, *(replace(slot, current=True) for slot in current)]
    at = place(found, Placement("in_chat", depth))
    assert 0 <= at <= max(0, len(found) - depth)
    assert not any(slot.current and (slot.calls or slot.answers) for slot in found[:at])
    callers: dict[str, int] = {}
    for number, slot in enumerate(found):
        callers |= dict.fromkeys(slot.calls, number)
        caller = callers.get(slot.answers) if slot.answers else None
        assert caller is None or not caller < at <= number
