"""Slots for calls, and who gets the next one."""

import asyncio
from collections.abc import Callable

import pytest

from app.llm.slots import Slots
from tests.support.desk import Desk, settle


async def test_no_more_than_the_limit() -> None:
    """As many hold a slot as may, and no more."""
    desk = Desk(2)
    await desk.ask("a", "b", "c")
    assert desk.holding == ["a", "b"]
    await desk.close()


async def test_a_live_chat_is_not_behind_a_backlog() -> None:
    """The next slot that one chat's sixteen calls give back goes to the call of another."""
    desk = Desk(4)
    await desk.ask(*["backlog"] * 16)
    await desk.ask("live")
    await desk.finish("backlog")
    assert sorted(desk.holding) == ["backlog"] * 3 + ["live"]
    await desk.close()


async def test_nor_where_there_is_one_slot() -> None:
    """A chat that has just had the only slot comes after one that waits, however long its calls have been there."""
    desk = Desk(1)
    await desk.ask(*["backlog"] * 16)
    await desk.ask("live")
    await desk.finish("backlog")
    assert desk.holding == ["live"]
    await desk.finish("live")
    assert desk.holding == ["backlog"]
    await desk.close()


async def test_among_equals_who_has_waited_longest() -> None:
    """Chats with as many calls under way take turns in the order they came."""
    desk = Desk(1)
    await desk.ask("a", "b", "b", "c", "a")
    served = []
    for _ in range(5):
        served += desk.holding
        await desk.finish(served[-1])
    assert served == ["a", "b", "c", "a", "b"]
    await desk.close()


async def test_a_call_cut_while_it_waits_takes_no_slot() -> None:
    """The slot goes to the next one."""
    desk = Desk(1)
    _, cut, _ = await desk.ask("a", "b", "c")
    cut.cancel()
    await desk.finish("a")
    assert desk.holding == ["c"]
    await desk.close()


async def test_a_call_cut_in_the_moment_of_its_turn_gives_the_slot_on() -> None:
    """Whether the turn or the cut came first, no slot is lost."""
    for first in ("turn", "cut"):
        desk = Desk(1)
        held, cut, _ = await desk.ask("a", "b", "c")
        steps: list[Callable[[], object]] = [held.go.set, cut.cancel]
        for step in steps if first == "turn" else reversed(steps):
            step()
        await settle()
        assert desk.holding == ["c"]
        await desk.close()


async def test_a_call_cut_between_its_turn_and_its_start() -> None:
    """A slot that was given to a call which never began is free again."""
    slots = Slots(1)
    async with slots.of("a"):
        waiting = asyncio.create_task(_take(slots, "b"))
        await settle()
    waiting.cancel()  # its turn has come, but it has not run since
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(_take(slots, "c"), 5)


async def _take(slots: Slots, chat: str) -> None:
    async with slots.of(chat):
        pass


async def test_a_call_cut_under_way_frees_its_slot() -> None:
    """So does one that fails."""
    desk = Desk(1)
    held, _ = await desk.ask("a", "b")
    held.cancel()
    await settle()
    assert desk.holding == ["b"]
    await desk.close()
    with pytest.raises(ZeroDivisionError):
        async with desk.slots.of("a"):
            raise ZeroDivisionError
    await asyncio.wait_for(_take(desk.slots, "b"), 5)


async def test_a_lower_limit_lets_calls_end() -> None:
    """Nothing is cut, and nothing begins before fewer are under way than may be."""
    desk = Desk(3)
    await desk.ask("a", "b", "c", "d")
    desk.slots.limit = 1
    await desk.finish("a")
    await desk.finish("b")
    assert desk.holding == ["c"]
    await desk.finish("c")
    assert desk.holding == ["d"]
    await desk.close()


async def test_a_higher_limit_holds_at_once() -> None:
    """Those that waited begin."""
    desk = Desk(1)
    await desk.ask("a", "b", "c")
    desk.slots.limit = 2
    await settle()
    assert desk.holding == ["a", "b"]
    await desk.close()
