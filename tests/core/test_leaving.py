"""app.core.leaving: what each block takes along when a budget drops it."""

from collections.abc import Sequence

from app.core.blocks import blocks_of
from app.core.leaving import Leaving
from app.core.left_out import Unsent
from app.core.model import Message
from tests.support.builders import call, chat, reply, result, turns, user, view_of


def leaving(messages: Sequence[Message]) -> Leaving:
    """Of a chat without memory, of which everything is sent."""
    view = view_of(messages)
    return Leaving(blocks_of(view, Unsent()), view.open)


def sums(found: Leaving) -> tuple[list[int], int, int]:
    """What a prompt's total is made of."""
    return found.turns, found.fixed, found.current


def test_without_tools_a_block_takes_its_own_messages_but_for_pinned_ones() -> None:
    """Each costs eight more; the open turn stays."""
    found = leaving(chat(user(2), reply(3, pinned=True), *turns(1), user(4)))
    assert (sums(found), found.currents) == (([10, 36], 11, 12), [10, 18])
    assert found.torn(2) == frozenset()


def test_a_pair_pinned_in_part_leaves_whole() -> None:
    """With the turn of the half that is not pinned; one pinned as a whole never leaves."""
    found = leaving(chat(user(2), call("a"), result("a", tokens=90, pinned=True), reply(3)))
    assert (sums(found), found.currents) == (([10 + 18 + 98 + 11], 0, 0), [10 + 18 + 98])
    assert (found.torn(0), found.torn(1)) == (frozenset(), frozenset({102}))
    whole = leaving(chat(user(2), call("a", pinned=True), result("a", pinned=True), reply(3)))
    assert (sums(whole), whole.torn(1)) == (([10 + 11], 36, 0), frozenset())


def test_a_late_result_leaves_with_the_turn_of_its_call() -> None:
    """Out of a later turn, and out of the open one too; what was current then does not count it."""
    late = leaving(chat(user(2), call("a"), reply(3), user(4), result("a", tokens=90), reply(5), user(6)))
    assert (sums(late), late.currents) == (([10 + 18 + 11 + 98, 12 + 13], 0, 14), [28, 12])
    assert (late.torn(1), late.torn(2)) == (frozenset({104}), frozenset())
    now = leaving(chat(user(2), call("a"), reply(3), user(4), result("a", tokens=90)))
    assert (sums(now), now.torn(1)) == (([10 + 18 + 11 + 98], 0, 12), frozenset({104}))
