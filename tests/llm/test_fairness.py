"""A connection's calls, shared out between chats."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as client:
        yield client


def new_caller(client: httpx.AsyncClient, time: FakeTime, sleep: Callable[[float], Awaitable[None]]) -> Caller:
    return Caller(
        client=client, count=len, extract=str, policy=RetryPolicy(), cooldown_s=60, clock=time.now, sleep=sleep,
        random=lambda: 0.0,
    )  # fmt: skip


@pytest.fixture
def caller(client: httpx.AsyncClient, time: FakeTime) -> Caller:
    return new_caller(client, time, time.sleep)


def request_to(model: FakeModel, concurrency: int = 4, chat: str = "a") -> SummaryRequest:
    called = Connection("default", "openai", model.base_url, "fake-small", timeout_s=5, concurrency=concurrency)
    return SummaryRequest("fold", called, "System.", chat, (), (), 100, 1000, chat=chat)


async def test_terms_of_before_a_change_do_not_stay(caller: Caller, model: FakeModel) -> None:
    """A call that was planned before the limit was lowered does not raise it for those after it."""
    caller.forget("default")
    for concurrency in (1, 4):
        await caller.summarize(request_to(model, concurrency=concurrency))
    model.hold()
    tasks = [asyncio.create_task(caller.summarize(request_to(model, concurrency=1))) for _ in range(3)]
    await model.called(3)
    model.release()
    await asyncio.gather(*tasks)
    assert model.most_at_once == 1


@pytest.mark.parametrize("slots", [1, 4])
async def test_a_backlog_does_not_keep_another_chat_waiting(caller: Caller, model: FakeModel, slots: int) -> None:
    """Of sixteen calls of one chat and one of another that came last, the other's is the first to follow; those that
    begin together arrive in any order.
    """
    model.hold()
    backlog, live = request_to(model, slots, "backlog"), request_to(model, slots, "live")
    tasks = [asyncio.create_task(caller.summarize(backlog)) for _ in range(16)]
    await model.called(slots)
    tasks.append(asyncio.create_task(caller.summarize(live)))
    for _ in range(100):
        await asyncio.sleep(0)
    model.release()
    await asyncio.gather(*tasks)
    assert "live" in [request.user for request in model.requests[slots : 2 * slots]]
    assert model.most_at_once == slots


async def test_waiting_for_the_next_attempt_holds_nothing(
    client: httpx.AsyncClient, model: FakeModel, time: FakeTime
) -> None:
    """While one request waits between two attempts, others use all that the connection allows."""
    waits, go = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.set()
        await go.wait()
        await time.sleep(seconds)

    caller = new_caller(client, time, sleep)
    model.do(replies.status(503, retry_after=59))
    patient = asyncio.create_task(caller.summarize(request_to(model, concurrency=1)))
    await waits.wait()
    assert (await caller.summarize(request_to(model, concurrency=1))).usage.calls == 1
    go.set()
    assert (await patient).usage.calls == 2
