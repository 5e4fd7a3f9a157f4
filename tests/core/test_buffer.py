"""app.core.buffer: when a summary buffer folds before an answer, and which messages stay."""

from collections.abc import Collection
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.buffer import Buffered, buffered, is_due, plan_buffer
from app.core.model import Message, Snippet, Turn
from app.core.rewrite import Rewrite
from app.core.settings import BufferSettings
from app.core.turns import outline
from tests.support.builders import call, chat, places, reply, result, turns, user, vectors, view_of

CASES = {case["name"]: case for case in vectors("buffer.json")["cases"]}
SUMMARY = Snippet(key=9, layer=0, tokens=100)


def tokens(turn: Turn) -> int:
    return turn.tokens


def waiting(messages: list[Message], covered: int = 0) -> Buffered:
    """A chat of which the first messages are covered."""
    view = outline(messages[covered:], len(messages))
    return buffered(view, covered // 2, SUMMARY if covered else None)


def plan(messages: list[Message], covered: int = 0, room: int | None = None, **values: Any) -> Rewrite | None:
    return plan_buffer(waiting(messages, covered), BufferSettings(**values), room, tokens)


def folds(last: int, fail: Collection[int] = (), **values: Any) -> list[tuple[int, int, int, int]]:
    """Turns of two messages: the turn before whose answer a fold comes, the messages that wait, those folded and kept.

    In a turn of `fail` the model does not answer, and nothing changes.
    """
    found, covered = [], 0
    for turn in range(1, last + 1):
        messages = chat(*turns(turn - 1))
        fold = plan(messages, covered, **values)
        if fold is not None and turn not in fail:
            stored, folded = len(messages) - covered, len(fold.covers)
            covered += folded
            found.append((turn, stored, folded, stored - folded))
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_worked_examples(name: str) -> None:
    """M1, M3, M6: each fold comes before the turn that the example says, and keeps what it says."""
    case = CASES[name]
    values = {"recent_messages_to_keep": case["keep"]} if "keep" in case else {}
    expected = [(fold["turn"], fold["stored"], fold["folded"], fold["kept"]) for fold in case["folds"]]
    assert folds(case["turns"], case.get("fail", ()), **values) == expected


def test_exceed_waits_for_one_message_more() -> None:
    """M2: compared by `exceed`, the twentieth message is not enough."""
    assert folds(20, compare="exceed") == [(12, 22, 16, 6), (20, 22, 16, 6)]
    assert is_due(20, BufferSettings())
    assert not is_due(20, BufferSettings(compare="exceed"))


def test_no_pair_is_split() -> None:
    """M4: to keep nineteen of twenty would part a reply from its question: the cut moves back, and nothing folds."""
    assert folds(11, recent_messages_to_keep=19) == []
    assert folds(12, recent_messages_to_keep=19) == [(12, 22, 2, 20)]


def test_a_threshold_below_what_is_kept() -> None:
    """M5: with settings that no request can set, what is kept still stays; each turn folds what is over it."""
    found = folds(7, max_messages_before_summary=4, recent_messages_to_keep=6)
    assert found == [(5, 8, 2, 6), (6, 8, 2, 6), (7, 8, 2, 6)]


def test_a_history_that_was_overwritten() -> None:
    """M7: thirty new messages and no summary any more fold down to the newest six."""
    fold = plan(chat(*turns(15)))
    assert fold is not None
    assert (len(fold.covers), fold.previous) == (24, None)


def test_a_call_stays_with_its_results() -> None:
    """A cut that would fall between a call and its results moves back to the turn before."""
    tool_turn = [user(), call("a", "b"), result("a"), result("b"), reply()]
    messages = chat(*turns(8), *tool_turn, *turns(1))
    fold = plan(messages, recent_messages_to_keep=4)
    assert fold is not None
    assert places(fold.covers) == list(range(16))


def test_what_does_not_count() -> None:
    """Hidden, omitted, pinned and blank messages neither bring a fold nor take a place among those kept."""
    aside = [user(hidden=True), user(omitted=True), reply(pinned=True), reply(0, blank=True)]
    assert waiting(chat(*turns(4), *aside)).waiting == 8
    messages = chat(*turns(10), *aside)
    fold = plan(messages)
    assert fold is not None
    assert len(fold.covers) == 14


def test_what_was_not_answered_yet_is_kept() -> None:
    """Messages of the open turn count among those kept, and are never folded."""
    fold = plan(chat(*turns(10), user(), user()))
    assert fold is not None
    assert len(fold.covers) == 16


def test_a_first_fold_comes_in_chunks() -> None:
    """What does not fit the window is folded a chunk at a time, oldest first; the next chunk needs no threshold."""
    messages, covered, chunks = chat(*turns(20, 100)), 0, []
    while fold := plan_buffer(waiting(messages, covered), BufferSettings(), 1000, tokens, forced=covered > 0):
        chunks.append(len(fold.covers))
        covered += chunks[-1]
    assert chunks == [20, 14]


def test_a_turn_larger_than_the_window_is_cut() -> None:
    """A first turn that does not fit is folded alone, with its middle cut."""
    fold = plan(chat(*turns(1, 5000), *turns(9)), room=1000)
    assert fold is not None
    assert (fold.clipped, len(fold.turns)) == (True, 1)


def test_messages_between_covered_ones_count() -> None:
    """What came back between covered messages waits like anything else."""
    assert buffered(view_of(chat(*turns(6)), covered=[0, 1, 4, 5])).waiting == 8


KINDS = st.sampled_from(
    [
        (user(), reply()),
        (user(), reply(0, blank=True), reply()),
        (user(), call("a"), result("a"), reply()),
        (user(pinned=True), reply()),
        (user(hidden=True), reply()),
        (reply(),),
    ]
)
VALUES = st.builds(
    BufferSettings,
    max_messages_before_summary=st.integers(1, 20),
    recent_messages_to_keep=st.integers(0, 25),
    compare=st.sampled_from(["reach", "exceed"]),
)


@settings(max_examples=100)
@given(st.lists(KINDS, max_size=20), VALUES, st.none() | st.integers(5, 200))
def test_chunks_end_and_keep(kinds: list[tuple[Message, ...]], values: BufferSettings, room: int | None) -> None:
    """Chunks take whole turns from the oldest on, come to an end, and leave what is to be kept."""
    messages = chat(*chain.from_iterable(kinds))
    whole = list(outline(messages, len(messages)).turns)
    left, rounds = waiting(messages), 0
    while fold := plan_buffer(left, values, room, tokens, forced=rounds > 0):
        rounds += 1
        assert list(fold.turns) == list(left.turns[: len(fold.turns)])
        assert all(turn in whole for turn in fold.turns)
        gone = sum(not message.blank for message in fold.covers)
        assert left.waiting - gone >= values.recent_messages_to_keep
        left = Buffered(left.turns[len(fold.turns) :], left.waiting - gone, left.folded + len(fold.turns), SUMMARY)
    assert rounds <= len(whole)
    assert is_due(waiting(messages).waiting, values) or not rounds
