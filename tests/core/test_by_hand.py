"""Which turns a person may write a snippet over."""

from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.by_hand import Refusal, choose_turns
from app.core.model import Message, Turn
from tests.support.builders import call, chat, histories, places, reply, result, system, turns, uncovered, user, view_of


def choose(
    messages: Sequence[Message],
    first: int,
    last: int,
    *,
    window: int = 2,
    covered: Collection[int] = (),
    enclosed: Collection[int] = (),
) -> tuple[Turn, ...] | Refusal:
    view = view_of(messages, covered, enclosed)
    return choose_turns(view, uncovered(messages, covered), window, first, last)


def chosen(found: tuple[Turn, ...] | Refusal) -> list[int]:
    """What a snippet over the turns covers, by index."""
    assert not isinstance(found, Refusal), found
    return places(message for turn in found for message in turn.coverable)


def test_whole_turns_outside_the_window() -> None:
    """Any turns in a row may be chosen, up to the newest two."""
    messages = chat(*turns(6))
    assert chosen(choose(messages, 0, 7)) == list(range(8))
    assert chosen(choose(messages, 4, 5)) == [4, 5]


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (5, 2, Refusal("reversed", 5, 2)),
        (1, 3, Refusal("cut", 0, 1)),
        (2, 4, Refusal("cut", 4, 5)),
        (6, 9, Refusal("window", 8, 9)),
        (4, 12, Refusal("open", 12, 12)),
    ],
)
def test_refusals_name_what_is_in_the_way(first: int, last: int, why: Refusal) -> None:
    """Part of a turn, the window and the open turn are refused, each with its place."""
    assert choose(chat(*turns(6), user()), first, last) == why


def test_the_system_prompt_is_left_alone() -> None:
    """The chat's own system prompt is in no turn."""
    assert choose(chat(system(), *turns(6)), 0, 2) == Refusal("prompt", 0, 0)


def test_covered_ones_are_not_covered_again() -> None:
    """A range with a covered message in it is refused; on both sides of it turns may be chosen."""
    messages = chat(*turns(8))
    assert choose(messages, 0, 7, covered={2, 3}) == Refusal("covered", 2, 2)
    assert chosen(choose(messages, 0, 1, covered={2, 3})) == [0, 1]
    assert chosen(choose(messages, 4, 7, covered={2, 3})) == [4, 5, 6, 7]


def test_what_another_snippet_encloses_joins_that_one() -> None:
    """Turns inside one live snippet's range are not for another one."""
    assert choose(chat(*turns(8)), 4, 5, covered={2, 3, 6, 7}, enclosed={4, 5}) == Refusal("enclosed", 4, 5)


def test_lines_that_no_reply_closes() -> None:
    """Before covered messages, lines without a reply are in no turn."""
    messages = chat(*turns(1), user(), user(), *turns(4))
    assert choose(messages, 0, 3, covered={4, 5}) == Refusal("stray", 2, 3)
    assert chosen(choose(messages, 0, 1, covered={4, 5})) == [0, 1]


def test_marks_in_the_range() -> None:
    """Pinned, hidden and omitted messages may stand in it and are not covered; alone they are nothing to write over."""
    messages = chat(user(hidden=True), user(pinned=True), reply(), user(omitted=True), reply(pinned=True), *turns(3))
    assert chosen(choose(messages, 0, 3)) == [2]
    assert choose(messages, 4, 4) == Refusal("nothing", 4, 4)
    assert choose(messages, 0, 0) == Refusal("nothing", 0, 0)


def test_skipped_turns_may_be_written_over() -> None:
    """What a person chose not to fold a person may sum up."""
    assert chosen(choose(chat(*turns(4, skipped=True)), 0, 3)) == [0, 1, 2, 3]


def test_tool_calls_are_part_of_their_turn() -> None:
    """A turn with tool calls is whole with its calls and results."""
    messages = chat(user(), call("a"), result("a"), reply(), *turns(3))
    assert choose(messages, 2, 3) == Refusal("cut", 0, 3)
    assert chosen(choose(messages, 0, 3)) == [0, 1, 2, 3]


@given(histories, st.sets(st.integers(0, 40)), st.integers(1, 4), st.integers(0, 60), st.integers(0, 60))
def test_what_is_chosen_breaks_no_promise(
    history: list[Message], covered: set[int], window: int, first: int, last: int
) -> None:
    """What is covered is visible, unpinned, inside the range and outside the newest turns."""
    messages = chat(*history)
    covered = {place for place in covered if place < len(messages) and messages[place].visible}
    found = choose(messages, first, min(last, len(messages) - 1), window=window, covered=covered)
    if isinstance(found, Refusal):
        return
    mine = set(chosen(found))
    assert mine <= set(range(first, last + 1)) - covered
    assert all(messages[place].visible and not messages[place].pinned for place in mine)
    newest = [message.index for message in messages if message.closes][-window:]
    assert not mine & set(newest)
