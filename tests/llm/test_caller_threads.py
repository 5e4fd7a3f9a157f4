"""The threads that summaries are made in, apart from those that answer requests."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime


class Extract:
    """An extractive summarizer that remembers whom it served, and where; it can be held."""

    def __init__(self) -> None:
        self.served: list[str] = []
        self.threads: set[str] = set()
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, request: SummaryRequest) -> str:
        self.begun.set()
        assert self.go.wait(20)
        self.served.append(request.chat)
        self.threads.add(threading.current_thread().name)
        return f"An extract for {request.chat}."


class Count:
    """Counts characters, and remembers where it did."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def __call__(self, text: str, /) -> int:
        self.threads.add(threading.current_thread().name)
        return len(text)


@pytest.fixture
def extract() -> Extract:
    return Extract()


@pytest.fixture
def count() -> Count:
    return Count()


@pytest.fixture
async def caller(time: FakeTime, extract: Extract, count: Count) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client, count=count, extract=extract, policy=RetryPolicy(), cooldown_s=60, clock=time.now,
            sleep=time.sleep, random=lambda: 0.0,
        )  # fmt: skip


def request_of(chat: str, connection: Connection | None = None) -> SummaryRequest:
    called = connection or Connection("default", "extractive")
    return SummaryRequest("fold", called, "System.", "User.", (), (), 100, 1000, chat=chat)


async def test_extraction_leaves_the_threads_of_requests_alone(caller: Caller, extract: Extract) -> None:
    """However many extractions wait, what asyncio's own threads are asked for is done at once."""
    before = set(threading.enumerate())  # with what other tests' callers may have left
    tasks = [asyncio.create_task(caller.summarize(request_of(f"chat {number}"))) for number in range(50)]
    await asyncio.to_thread(extract.begun.wait, 20)
    threads = await asyncio.wait_for(asyncio.to_thread(threading.enumerate), 5)
    assert sum(thread.name.startswith("turnfold-extracting") for thread in set(threads) - before) == 1
    extract.go.set()
    await asyncio.gather(*tasks)
    assert extract.threads == {"turnfold-extracting_0"}


async def test_extraction_is_shared_out_between_chats(caller: Caller, extract: Extract) -> None:
    """One chat's sixteen extractions do not keep another chat's one behind them."""
    chats = ["backlog"] * 16 + ["live"]
    tasks = [asyncio.create_task(caller.summarize(request_of(chat))) for chat in chats]
    await asyncio.to_thread(extract.begun.wait, 20)
    extract.go.set()
    await asyncio.gather(*tasks)
    assert extract.served.index("live") == 1


async def test_an_extraction_that_is_cut_while_it_waits_is_not_made(caller: Caller, extract: Extract) -> None:
    """The next one follows."""
    first, cut, last = (asyncio.create_task(caller.summarize(request_of(chat))) for chat in "abc")
    await asyncio.to_thread(extract.begun.wait, 20)
    cut.cancel()
    extract.go.set()
    await asyncio.wait([first, cut, last])
    assert extract.served == ["a", "c"]


async def test_long_answers_are_counted_in_threads_of_their_own(caller: Caller, count: Count, model: FakeModel) -> None:
    """Neither on the event loop nor in asyncio's own threads, where requests would wait for it."""
    called = Connection("default", "openai", model.base_url, "fake-small", timeout_s=5, context_size=10_000)
    await caller.summarize(request_of("a", called))
    assert {name.split("_")[0] for name in count.threads} == {"turnfold-judging"}
