"""app.core.tool_pairs: which halves of tool pairs are alone."""

import pytest

from app.core.model import Message
from app.core.tool_pairs import NOTHING, Coming, is_of_tool, orphans, with_results
from tests.support.builders import call, chat, reply, result, system, user


def test_parallel_calls_need_all_their_results() -> None:
    """In any order, next to each other or not; one that is missing takes the others with it."""
    whole = chat(user(), call("a", "b"), result("b"), reply(), result("a"), reply())
    assert orphans(whole, ()) == frozenset()
    assert orphans(whole[:-2], ()) == {101, 102}


def test_an_open_call_waits() -> None:
    """Its results may come yet."""
    assert orphans(chat(user(), call("a")), {100, 101}) == frozenset()


@pytest.mark.parametrize(
    ("behind", "coming", "lost"),
    [
        ([result("b")], NOTHING, set()),
        ([user()], NOTHING, {101}),
        ([result("b"), system()], NOTHING, {101, 102}),
        ([user(), result("a"), result("b")], NOTHING, set()),
        ([user(hidden=True), user(0, blank=True)], NOTHING, set()),
        ([result("x")], NOTHING, {102}),
        ([call("c")], NOTHING, {101}),
        ([call("c"), result("a"), result("b")], NOTHING, {102}),
        ([call("c"), result("a")], NOTHING, {101, 103}),
        ([result("b")], Coming(goes_on=True), {101, 102}),
        ([result("b")], Coming(frozenset({"a"}), goes_on=True), set()),
        ([result("b"), user()], Coming(frozenset({"a"})), set()),
        ([], Coming(frozenset({"a"}), goes_on=True), {101}),
        ([], Coming(frozenset({"a", "x"})), set()),
        ([call("c")], Coming(frozenset({"a", "b"})), {102}),
        ([call("c")], Coming(frozenset({"a", "b", "c"}), goes_on=True), set()),
    ],
)
def test_an_open_call_waits_while_nothing_but_its_results_follows(
    behind: list[Message], coming: Coming, lost: set[int]
) -> None:
    """No server takes a prompt that goes on without them; it may be the request that brings them."""
    messages = chat(user(), call("a", "b"), *behind)
    assert orphans(messages, {message.key for message in messages}, coming) == lost


def test_a_result_goes_with_its_omitted_call() -> None:
    """And only with that: another call of the same id keeps its own."""
    messages = chat(call("a"), result("a"), call("a"), result("a"), user())
    assert with_results(messages, {100}) == {100, 101}
    assert with_results(messages, {104}) == {104}


def test_what_belongs_to_tools() -> None:
    """Calls and results, and no other line."""
    assert [is_of_tool(message) for message in (call("a"), result("a"), user(), reply())] == [True, True, False, False]
