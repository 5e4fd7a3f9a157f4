"""A connection at work: cool-downs, probes, and what ends them."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from app.core.health import Health
from app.core.retry import RetryPolicy
from app.core.summary import Connection, SummaryRequest
from app.errors import ModelError, ModelUnavailable
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Exchange
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime


@pytest.fixture
async def caller(time: FakeTime) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client,
            count=len,
            extract=lambda request: request.user,
            policy=RetryPolicy(attempts=1),
            cooldown_s=60,
            clock=time.now,
            sleep=time.sleep,
            random=lambda: 0.0,
        )


def connection(model: FakeModel, name: str = "default", api_key: str = "k") -> Connection:
    return Connection(name, "openai", model.base_url, "fake-small", api_key, timeout_s=5)


def request_to(model: FakeModel, api_key: str = "k", concurrency: int = 4) -> SummaryRequest:
    called = replace(connection(model, api_key=api_key), concurrency=concurrency)
    return SummaryRequest("fold", called, "System.", "User.", (), (), 100, 1000)


async def fail(caller: Caller, model: FakeModel, times: int, status: int = 503) -> None:
    for _ in range(times):
        model.do(replies.status(status))
        with pytest.raises(ModelError):
            await caller.summarize(request_to(model))


async def test_three_failed_batches_stop_the_calls(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """The fourth batch calls nothing; its error says until when, and why."""
    await fail(caller, model, 3)
    with pytest.raises(ModelUnavailable, match=r"left alone until 12:01:00 UTC.*503 Service Unavailable") as failed:
        await caller.summarize(request_to(model))
    assert (failed.value.calls, failed.value.retry_at) == (0, time.now() + timedelta(seconds=60))
    assert len(model.requests) == 3
    assert caller.health("default").state == "cooling_down"


async def test_rejections_stop_the_calls_too(caller: Caller, model: FakeModel) -> None:
    """A wrong key is not sent on and on."""
    await fail(caller, model, 3, status=401)
    with pytest.raises(ModelUnavailable):
        await caller.summarize(request_to(model))


async def test_a_batchs_own_faults_do_not(caller: Caller, model: FakeModel) -> None:
    """A passage that a server does not take says nothing of the next one."""
    await fail(caller, model, 5, status=413)
    assert (await caller.summarize(request_to(model))).text


async def test_one_probe_goes_ahead_and_the_others_wait_for_it(
    caller: Caller, model: FakeModel, time: FakeTime
) -> None:
    """While the probe is under way nothing else is called; once it went well, everything is."""
    await fail(caller, model, 3)
    time.pass_by(60)
    model.hold()
    tasks = [asyncio.create_task(caller.summarize(request_to(model))) for _ in range(4)]
    await model.called(4)
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(model.requests) == 4
    model.release()
    await asyncio.gather(*tasks)
    assert len(model.requests) == 3 + 4
    assert caller.health("default") == Health("ok")


async def test_a_failed_probe_sends_the_others_away(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """The cool-down doubles, and those that waited learn its end."""
    await fail(caller, model, 3)
    time.pass_by(60)
    model.do(replies.status(503))
    tasks = [caller.summarize(request_to(model)) for _ in range(4)]
    errors = await asyncio.gather(*tasks, return_exceptions=True)
    until = time.now() + timedelta(seconds=120)
    assert [error.retry_at for error in errors if isinstance(error, ModelUnavailable)] == [until] * 4
    assert len(model.requests) == 4


async def test_a_cancelled_probe_lets_the_next_one_go(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """Nothing waits for ever for a call that was cut."""
    await fail(caller, model, 3)
    time.pass_by(60)
    model.do(replies.hang())
    probe = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called(4)
    probe.cancel()
    assert (await caller.summarize(request_to(model))).text


async def test_a_long_retry_after_cools_the_connection_down(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """One such answer ends the attempts and says when the work goes on."""
    model.do(replies.status(429, retry_after=3600))
    with pytest.raises(ModelUnavailable, match="429 Too Many Requests") as failed:
        await caller.summarize(request_to(model))
    assert failed.value.retry_at == time.now() + timedelta(seconds=3600)
    with pytest.raises(ModelUnavailable):
        await caller.summarize(request_to(model))
    time.pass_by(3600)
    assert (await caller.summarize(request_to(model))).text
    assert len(model.requests) == 2


async def test_an_answer_under_way_does_not_end_a_cool_down(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """The server's wish holds although another call of the same moment went well."""
    model.hold()
    model.do(replies.status(429, retry_after=3600), replies.answer("Anna left."))
    refused = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called(1)
    answered = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called(2)
    model.release()
    await asyncio.gather(refused, answered, return_exceptions=True)
    assert caller.health("default").retry_at == time.now() + timedelta(seconds=3600)


async def test_a_cool_down_asked_for_after_too_long_is_kept(caller: Caller, model: FakeModel) -> None:
    """The summary is made of what there is, and the server left alone."""
    model.do(replies.ramble(1), replies.status(429, retry_after=3600))
    assert (await caller.summarize(request_to(model))).degraded
    assert caller.health("default").state == "cooling_down"


async def test_a_cool_down_that_begins_before_the_second_call_costs_nothing(caller: Caller, model: FakeModel) -> None:
    """What the first call gave is cut and kept, though the connection is left alone by now."""
    gate = threading.Event()

    async def late(exchange: Exchange) -> None:
        await asyncio.to_thread(gate.wait)
        await replies.ramble(1)(exchange)

    model.do(late, replies.status(429, retry_after=3600))
    first = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called(1)
    with pytest.raises(ModelUnavailable):
        await caller.summarize(request_to(model))
    gate.set()
    summary = await first
    assert (summary.degraded, summary.usage.calls, len(model.requests)) == (True, 1, 2)


async def test_connections_fail_apart(caller: Caller, model: FakeModel) -> None:
    """One connection's cool-down is no other's."""
    await fail(caller, model, 3)
    assert caller.health("default").state == "cooling_down"
    assert caller.health("other").state == "ok"


async def test_a_changed_connection_starts_anew(caller: Caller, model: FakeModel) -> None:
    """Another key is tried at once, and so is whatever a person changed."""
    await fail(caller, model, 3, status=401)
    assert (await caller.summarize(request_to(model, api_key="better"))).text
    await fail(caller, model, 3, status=404)
    caller.forget("default")
    assert (await caller.summarize(request_to(model))).text


async def test_a_change_during_calls_lets_no_more_of_them_run(caller: Caller, model: FakeModel) -> None:
    """Calls that were under way before a change count among those that may run at once after it."""
    model.hold()
    tasks = [asyncio.create_task(caller.summarize(request_to(model, concurrency=2))) for _ in range(2)]
    await model.called(2)
    await asyncio.to_thread(caller.forget, "default")
    tasks += [asyncio.create_task(caller.summarize(request_to(model, "new", concurrency=2))) for _ in range(4)]
    for _ in range(100):
        await asyncio.sleep(0)
    model.release()
    await asyncio.gather(*tasks)
    assert (len(model.requests), model.most_at_once) == (6, 2)


async def test_a_higher_limit_holds_at_once(caller: Caller, model: FakeModel) -> None:
    """After a change to more calls at once, those that waited go ahead too."""
    model.hold()
    tasks = [asyncio.create_task(caller.summarize(request_to(model, concurrency=1))) for _ in range(3)]
    await model.called(1)
    tasks.append(asyncio.create_task(caller.summarize(request_to(model, concurrency=4))))
    await model.called(4)
    model.release()
    await asyncio.gather(*tasks)


async def test_old_and_new_terms_side_by_side_do_not_undo_each_others_cool_down(
    caller: Caller, model: FakeModel
) -> None:
    """Two jobs with the old and the new key in turn: three failures stop the calls all the same."""
    assert (await caller.summarize(request_to(model, "old"))).text
    assert (await caller.summarize(request_to(model, "new"))).text
    model.do(*[replies.status(503) for _ in range(3)])
    for key in ("old", "new", "old"):
        with pytest.raises(ModelError):
            await caller.summarize(request_to(model, key))
    with pytest.raises(ModelUnavailable):
        await caller.summarize(request_to(model, "new"))
    assert len(model.requests) == 5


async def test_a_test_by_hand_asks_during_a_cool_down_and_ends_it(caller: Caller, model: FakeModel) -> None:
    """Whoever has mended the server need not wait."""
    await fail(caller, model, 3)
    model.do(replies.status(401))
    bad = await caller.test(connection(model))
    assert (bad.ok, bad.detail) == (False, "Connection 'default' answered 401 Unauthorized: check its API key.")
    assert caller.health("default").state == "cooling_down"
    good = await caller.test(connection(model))
    assert (good.ok, good.detail) == (True, f"Connection 'default' answered in {good.latency_ms} ms.")
    assert caller.health("default") == Health("ok")


async def test_a_test_that_goes_wrong_is_told_of_and_holds_nothing_back(caller: Caller, model: FakeModel) -> None:
    """A connection that nobody could reach is not called well; the next answer ends that."""
    model.do(replies.status(401))
    bad = await caller.test(connection(model))
    assert caller.health("default") == Health("failing", None, bad.detail)
    await caller.summarize(request_to(model))
    assert caller.health("default") == Health("ok")


async def test_a_test_notices_a_model_that_says_nothing(caller: Caller, model: FakeModel) -> None:
    """A status of 200 is not enough."""
    model.do(replies.blank())
    detail = (await caller.test(connection(model))).detail
    assert detail.startswith("The model of connection 'default' gave a blank answer; ")


async def test_a_batch_stops_when_others_have_opened_the_breaker(model: FakeModel, time: FakeTime) -> None:
    """What waits for its next attempt does not call a connection that cools down meanwhile."""
    async with new_client() as client:
        caller = Caller(
            client=client, count=len, extract=str, policy=RetryPolicy(attempts=2), cooldown_s=600,
            clock=time.now, sleep=time.sleep, random=lambda: 0.0,
        )  # fmt: skip
        model.do(*[replies.status(503) for _ in range(32)])
        tasks = [caller.summarize(request_to(model)) for _ in range(16)]
        errors = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(error, ModelUnavailable) for error in errors)
    assert 16 <= len(model.requests) < 32
