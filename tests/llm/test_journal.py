"""What the log tells of calls to models."""

import asyncio
from collections.abc import AsyncIterator, Iterator, MutableMapping
from dataclasses import replace
from typing import Any

import pytest

from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.errors import ModelError
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime
from tests.support.logs import captured_logs

Logs = list[MutableMapping[str, Any]]


@pytest.fixture
def logs() -> Iterator[Logs]:
    """The events, with what is bound to them."""
    with captured_logs(bound=True) as logs:
        yield logs


@pytest.fixture
async def caller(time: FakeTime) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client, count=lambda text: len(text.split()), extract=str, policy=RetryPolicy(attempts=2),
            cooldown_s=60, clock=time.now, sleep=time.sleep, random=lambda: 0.0,
        )  # fmt: skip


def request_to(model: FakeModel, **fields: Any) -> SummaryRequest:
    called = Connection("default", "openai", model.base_url, "fake-small", "sk-1", timeout_s=5)
    request = SummaryRequest("fold", called, "System.", "Two words.", (), (), 20, 1000, chat="mira", batch="fold 7")
    return replace(request, **fields)


def named(logs: Logs, event: str) -> Logs:
    return [entry for entry in logs if entry["event"] == event]


async def test_a_call_is_one_line(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """Who was called for what, how it went, how long it took and what it cost; and for which chat and batch."""
    model.say("Anna left Ben.")
    await caller.summarize(request_to(model))
    [line] = logs
    assert line.pop("latency_ms") >= 0
    assert line == {
        "event": "model_called", "log_level": "info", "chat": "mira", "batch": "fold 7", "connection": "default",
        "model": "fake-small", "attempt": 1, "outcome": "accepted", "status": None, "reason": None,
        "prompt_tokens": 100, "completion_tokens": 10,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("behaviour", "outcome", "status"),
    [
        (replies.status(503), "status", 503),
        (replies.status(401), "status", 401),
        (replies.reset(), "connection", None),
        (replies.blank(), "unusable", None),
        (replies.hang(), "timeout", None),
    ],
)
async def test_a_failed_call_says_how(
    caller: Caller, model: FakeModel, logs: Logs, behaviour: Behaviour, outcome: str, status: int | None
) -> None:
    """The kind of failure, and the HTTP status if that is what failed."""
    model.do(behaviour, replies.status(400))
    request = request_to(model)
    with pytest.raises(ModelError):
        await caller.summarize(replace(request, connection=replace(request.connection, timeout_s=0.2)))
    first = named(logs, "model_called")[0]
    assert (first["outcome"], first["status"], first["attempt"]) == (outcome, status, 1)


async def test_every_attempt_is_told(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """Each with its number; between them stands when the next one comes."""
    model.do(replies.status(503))
    await caller.summarize(request_to(model))
    assert [(line["event"], line["attempt"]) for line in logs] == [
        ("model_called", 1),
        ("retry_scheduled", 2),
        ("model_called", 2),
    ]
    assert logs[1]["seconds"] == 2.0
    assert logs[1]["chat"] == "mira"


async def test_a_call_that_is_cut_is_told(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """It may have cost something."""
    model.do(replies.hang())
    task = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called()
    task.cancel()
    await asyncio.wait([task])
    assert [line["outcome"] for line in named(logs, "model_called")] == ["cancelled"]


async def test_what_is_not_called_is_not_told(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """Neither wrong settings nor a call cut while it waited for its turn are calls."""
    request = request_to(model)
    with pytest.raises(ModelError):
        await caller.summarize(replace(request, connection=replace(request.connection, base_url="localhost")))
    model.hold()
    one = replace(request, connection=replace(request.connection, concurrency=1))
    held, waiting = (asyncio.create_task(caller.summarize(one)) for _ in range(2))
    await model.called()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert logs == []
    model.release()
    await held


async def test_a_test_by_hand_is_told_too(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """It is a call like any other, of no chat."""
    await caller.test(request_to(model).connection)
    assert [(line["outcome"], "chat" in line) for line in named(logs, "model_called")] == [("accepted", False)]


async def test_a_breaker_tells_when_it_opens_and_closes(
    caller: Caller, model: FakeModel, time: FakeTime, logs: Logs
) -> None:
    """Each time it opens, a failed probe included, with its end; what comes while it is open says nothing."""
    model.do(*[replies.status(403) for _ in range(3)])
    for _ in range(4):
        with pytest.raises(ModelError):
            await caller.summarize(request_to(model))
    time.pass_by(60)
    model.do(replies.status(403))
    with pytest.raises(ModelError):
        await caller.summarize(request_to(model))
    time.pass_by(120)
    await caller.summarize(request_to(model))
    told = [line for line in logs if line["event"].startswith("breaker_")]
    assert [(line["event"], line.get("until")) for line in told] == [
        ("breaker_opened", "2026-03-01T12:01:00+00:00"),
        ("breaker_opened", "2026-03-01T12:03:00+00:00"),
        ("breaker_closed", None),
    ]
    assert {line["log_level"] for line in told} == {"warning"}
    assert {line["connection"] for line in told} == {"default"}
    assert "answered 403 Forbidden" in told[0]["reason"]


async def test_a_changed_connection_closes_its_breaker(caller: Caller, model: FakeModel, logs: Logs) -> None:
    """From whatever thread the change comes."""
    model.do(replies.status(429, retry_after=3600))
    with pytest.raises(ModelError):
        await caller.summarize(request_to(model))
    await asyncio.to_thread(caller.forget, "default")
    assert [line["event"] for line in logs[1:]] == ["breaker_opened", "breaker_closed"]
