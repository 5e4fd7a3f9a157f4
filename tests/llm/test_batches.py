"""Batches on their way: what holds them up, and what it means that one is given up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from app.core.health import Pending
from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.errors import ModelUnavailable
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime
from tests.support.waiting import until


@pytest.fixture
async def caller(time: FakeTime) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client,
            count=len,
            extract=lambda request: request.user,
            policy=RetryPolicy(attempts=2),
            cooldown_s=60,
            clock=time.now,
            sleep=time.sleep,
            random=lambda: 0.0,
        )


def request_to(model: FakeModel, chat: str, concurrency: int = 4) -> SummaryRequest:
    connection = Connection("default", "openai", model.base_url, "small", timeout_s=5, concurrency=concurrency)
    return SummaryRequest("fold", connection, "System.", "User.", (), (), 100, 1000, chat=chat)


@asynccontextmanager
async def under_way(caller: Caller, request: SummaryRequest) -> AsyncIterator[None]:
    """A call that is cut at the end of the block."""
    call = asyncio.create_task(caller.summarize(request))
    yield
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call


async def given_up(caller: Caller, model: FakeModel, chat: str) -> None:
    model.do(replies.hang())
    arrived = len(model.calls)
    async with under_way(caller, request_to(model, chat)):
        await model.called(arrived + 1)
        caller.silent(chat, 45)


async def test_three_that_are_given_up_stop_the_calls(caller: Caller, model: FakeModel) -> None:
    """Whichever chats they are of, the fourth batch calls nothing, and says why."""
    for chat in "ab":
        await given_up(caller, model, chat)
    assert caller.health("default").state == "failing"
    await given_up(caller, model, "c")
    assert caller.health("default").state == "cooling_down"
    with pytest.raises(ModelUnavailable, match="gave no summary within the 45 s that an answer waits"):
        await caller.summarize(request_to(model, "d"))
    assert len(model.calls) == 3


async def test_an_answer_between_them_ends_the_count(caller: Caller, model: FakeModel) -> None:
    """A model that answers now and then is asked on."""
    for chat in "abcd":
        await given_up(caller, model, chat)
        await caller.summarize(request_to(model, chat))
    assert caller.health("default").state == "ok"


async def test_what_waits_behind_others_blames_nobody(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """A batch that has had no call tells how long it waited, and does not count when it is given up."""
    model.do(replies.hang())
    async with under_way(caller, request_to(model, "a", 1)):
        await model.called()
        async with under_way(caller, request_to(model, "b", 1)):
            await until(lambda: caller.pending("b"), lambda found: found is not None)
            await time.sleep(40)
            assert (caller.pending("a"), caller.pending("b")) == (Pending(0, 1), Pending(40, 0))
            caller.silent("b", 45)
    assert caller.health("default").state == "ok"
    assert caller.pending("a") is caller.pending("b") is None


async def test_attempts_that_failed_are_calls_too(caller: Caller, model: FakeModel) -> None:
    """What has been asked for counts every attempt."""
    model.do(replies.status(500), replies.hang())
    async with under_way(caller, request_to(model, "a")):
        await model.called(2)
        found = caller.pending("a")
    assert found is not None
    assert found.calls == 2
