"""app.core.tool_pairs: which halves of tool pairs are alone."""

from app.core.tool_pairs import is_of_tool, orphans, with_results
from tests.support.builders import call, chat, reply, result, user


def test_parallel_calls_need_all_their_results() -> None:
    """In any order, next to each other or not; one that is missing takes the others with it."""
    whole = chat(user(), call("a", "b"), result("b"), reply(), result("a"), reply())
    assert orphans(whole, ()) == frozenset()
    assert orphans(whole[:-2], ()) == {101, 102}


def test_an_open_call_waits() -> None:
    """Its results may come yet."""
    assert orphans(chat(user(), call("a")), {100, 101}) == frozenset()


def test_a_result_goes_with_its_omitted_call() -> None:
    """And only with that: another call of the same id keeps its own."""
    messages = chat(call("a"), result("a"), call("a"), result("a"), user())
    assert with_results(messages, {100}) == {100, 101}
    assert with_results(messages, {104}) == {104}


def test_what_belongs_to_tools() -> None:
    """Calls and results, and no other line."""
    assert [is_of_tool(message) for message in (call("a"), result("a"), user(), reply())] == [True, True, False, False]
