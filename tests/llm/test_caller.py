"""Asking models until an answer can become memory."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from app.core.model import Usage
from app.core.retry import RetryPolicy
from app.core.summary import Connection, Line, Summary, SummaryRequest
from app.errors import ModelRejected, ModelUnavailable, ModelUnusable
from app.llm.caller import Caller
from app.llm.http import new_client
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime

LIMIT = 20


def count_words(text: str, /) -> int:
    return len(text.split())


@pytest.fixture
async def caller(time: FakeTime) -> AsyncIterator[Caller]:
    async with new_client() as client:
        yield Caller(
            client=client,
            count=count_words,
            extract=lambda request: f"Extract of {len(request.passage)} lines.",
            policy=RetryPolicy(),
            cooldown_s=60,
            clock=time.now,
            sleep=time.sleep,
            random=lambda: 0.0,
        )


def request_to(server: FakeModel | str, clipped: bool = False, **fields: Any) -> SummaryRequest:
    base_url = server if isinstance(server, str) else server.base_url
    settings: dict[str, Any] = {"provider": "openai", "model": "fake-small", "api_key": "sk-secret", "timeout_s": 5}
    return SummaryRequest(
        kind="fold",
        connection=Connection("default", base_url=base_url, **{**settings, **fields}),
        system="You summarize.",
        user="Anna: I leave.",
        prior=(),
        passage=(Line("Anna", "I leave."), Line("Ben", "Stay.")),
        limit=LIMIT,
        source_tokens=1000,
        strip_patterns=("[x]",),
        clipped=clipped,
    )


def words(number: int) -> str:
    return " ".join(f"word{place}" for place in range(number))


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_a_good_answer_becomes_a_summary(caller: Caller, model: FakeModel, provider: str) -> None:
    """Cleaned, counted, with what the server says it cost."""
    model.say("<think>Hm.</think>Summary: Anna\nleft [x] Ben.")
    summary = await caller.summarize(request_to(model, provider=provider))
    assert summary == Summary("Anna left Ben.", 3, "default", "fake-small", Usage(1, 100, 10))
    assert (model.requests[0].system, model.requests[0].user) == ("You summarize.", "Anna: I leave.")
    assert model.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert caller.health("default").state == "ok"


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize(
    "fault",
    [
        replies.blank(),
        replies.half_stream("Anna left"),
        replies.no_end_mark("Anna left Ben."),
        replies.bad_line("Anna"),
        replies.error_in_stream("Anna"),
        replies.open_think("Anna left Ben."),
        replies.length_stop("Anna left and"),
        replies.tool_call(),
        replies.reset(),
        replies.raw(b"<html>It works!</html>"),
        replies.answer("I'm sorry, but I can't help with that."),
        replies.answer("Error: overloaded"),
        replies.status(503),
        replies.status(429, retry_after=1.5),
    ],
)
async def test_a_fault_is_tried_again(
    caller: Caller, model: FakeModel, time: FakeTime, provider: str, fault: Behaviour
) -> None:
    """Faults of the line and unusable answers alike cost one more attempt and nothing else."""
    model.do(fault)
    model.say("Anna left Ben.")
    summary = await caller.summarize(request_to(model, provider=provider))
    assert (summary.text, summary.usage.calls, summary.degraded) == ("Anna left Ben.", 2, False)
    assert time.sleeps in ([2], [1.5])


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize(
    "behaviour",
    [
        replies.body("Anna left Ben."),
        replies.body("Anna left Ben.", finish=None, indent=2),
        replies.body("Anna left Ben.", compressed=True),
        replies.answer("Anna left Ben.", reasoning="Hm, long."),
    ],
)
async def test_unusual_but_whole_answers_are_taken(
    caller: Caller, model: FakeModel, provider: str, behaviour: Behaviour
) -> None:
    """A body where a stream was asked for, compressed or not, is an answer."""
    model.do(behaviour)
    summary = await caller.summarize(request_to(model, provider=provider))
    assert (summary.text, summary.usage.calls) == ("Anna left Ben.", 1)


async def test_the_attempts_end_with_the_wait_of_the_table(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """Six attempts, five waits, and an error that says what to do."""
    model.do(*[replies.status(500) for _ in range(6)])
    with pytest.raises(ModelUnavailable) as failed:
        await caller.summarize(request_to(model))
    assert time.sleeps == [2, 4, 8, 16, 32]
    assert (failed.value.status, failed.value.calls, failed.value.connection) == (500, 6, "default")
    assert (
        failed.value.detail == "Connection 'default' answered 500 Internal Server Error: look at its server, or wait."
    )
    assert caller.health("default").state == "failing"
    assert caller.health("default").last_error == failed.value.detail


async def test_a_time_out_is_tried_again(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """The attempt is cut, not only forgotten."""
    model.do(replies.hang())
    model.say("Anna left Ben.")
    summary = await caller.summarize(request_to(model, timeout_s=0.5))
    await model.left()
    assert (summary.text, time.sleeps) == ("Anna left Ben.", [2])


async def test_a_model_that_is_never_usable(caller: Caller, model: FakeModel) -> None:
    """The error says so, and the connection is not to blame."""
    model.do(*[replies.blank() for _ in range(6)])
    with pytest.raises(ModelUnusable, match="The model of connection 'default' gave a blank answer"):
        await caller.summarize(request_to(model))
    assert caller.health("default").state == "ok"


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (400, "check its model"),
        (401, "check its API key"),
        (403, "check both"),
        (404, "check its base URL and its model"),
        (413, "lower passage_tokens"),
        (422, "check its model"),
        (307, "give the final address"),
    ],
)
async def test_a_rejection_is_not_tried_again(caller: Caller, model: FakeModel, status: int, step: str) -> None:
    """One call, and an error that names the connection, the status and the next step; never the key, never the chat."""
    model.do(replies.status(status, body="sk-secret Anna", location=model.base_url))
    with pytest.raises(ModelRejected) as failed:
        await caller.summarize(request_to(model))
    assert len(model.requests) == 1
    assert failed.value.detail.startswith(f"Connection 'default' answered {status} ")
    assert step in failed.value.detail
    assert "sk-secret" not in failed.value.detail
    assert "Anna" not in failed.value.detail


@pytest.mark.parametrize(
    "fields",
    [{"base_url": None}, {"base_url": "localhost"}, {"provider": "client"}, {"provider": "ollama", "model": None}],
)
async def test_wrong_settings_call_nothing(caller: Caller, model: FakeModel, fields: dict[str, Any]) -> None:
    """They are rejected before any call."""
    request = request_to(fields.pop("base_url", model.base_url) or "", **fields)
    with pytest.raises(ModelRejected, match="Connection 'default' has") as failed:
        await caller.summarize(request)
    assert (failed.value.calls, model.requests) == (0, [])


async def test_too_long_is_asked_once_more_with_the_limit(caller: Caller, model: FakeModel, time: FakeTime) -> None:
    """A second answer within the limit is as good as a first; nobody waits in between."""
    model.say(words(2 * LIMIT + 1), "Anna left Ben.")
    summary = await caller.summarize(request_to(model))
    assert (summary.text, summary.degraded, summary.usage) == ("Anna left Ben.", False, Usage(2, 200, 20))
    assert f"at most {LIMIT} tokens" in model.requests[1].user
    assert model.requests[1].user.startswith(model.requests[0].user)
    assert time.sleeps == []


async def test_too_long_again_is_cut_to_phrases(caller: Caller, model: FakeModel) -> None:
    """What is left fits the limit and is marked."""
    model.do(replies.ramble(40), replies.answer("Anna left Ben for good. " + words(50)))
    summary = await caller.summarize(request_to(model))
    assert summary.degraded
    assert summary.text.startswith("Anna left Ben for good.")
    assert summary.tokens <= LIMIT


@pytest.mark.parametrize("fault", [replies.blank(), replies.status(500), replies.status(400), replies.reset()])
async def test_a_fault_after_too_long_keeps_what_there_is(
    caller: Caller, model: FakeModel, time: FakeTime, fault: Behaviour
) -> None:
    """The first answer is cut; nothing is tried a third time."""
    model.say("Anna left Ben. " + words(50))
    model.do(fault)
    summary = await caller.summarize(request_to(model))
    assert summary.text.startswith("Anna left Ben.")
    assert (summary.degraded, summary.usage.calls, time.sleeps) == (True, 2, [])


async def test_a_clipped_passage_makes_a_degraded_summary(caller: Caller, model: FakeModel) -> None:
    """However good the answer is."""
    assert (await caller.summarize(request_to(model, clipped=True))).degraded


async def test_a_failed_attempt_costs_what_it_cost(caller: Caller, model: FakeModel) -> None:
    """The usage of unusable answers is part of the summary's."""
    model.do(replies.answer("", usage=None), replies.answer("Anna left.", usage=(50, 5)))
    assert (await caller.summarize(request_to(model))).usage == Usage(2, 5 + 50, 0 + 5)


async def test_the_extractive_summarizer_calls_no_model(caller: Caller) -> None:
    """It costs no call, needs no server and counts as healthy."""
    summary = await caller.summarize(request_to("", provider="extractive", clipped=True))
    assert summary == Summary("Extract of 2 lines.", 4, "default", None, Usage(), degraded=True)
    assert caller.health("default").state == "ok"


async def test_cancelling_cuts_the_call(caller: Caller, model: FakeModel) -> None:
    """The server sees its client go."""
    model.do(replies.silence_after_head("Anna"))
    task = asyncio.create_task(caller.summarize(request_to(model)))
    await model.called()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await model.left()


async def test_no_more_calls_at_once_than_the_connection_allows(caller: Caller, model: FakeModel) -> None:
    """Eight batches over a connection for three."""
    model.hold()
    tasks = [asyncio.create_task(caller.summarize(request_to(model, concurrency=3))) for _ in range(8)]
    await model.called(3)
    model.release()
    await asyncio.gather(*tasks)
    assert (len(model.requests), model.most_at_once) == (8, 3)


async def test_nothing_is_logged_that_must_not_be(
    caller: Caller, model: FakeModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Not the key, not the chat, not the address."""
    caplog.set_level(logging.DEBUG)
    model.do(replies.status(500))
    await caller.summarize(request_to(model))
    for secret in ("sk-secret", "Anna", model.base_url):
        assert secret not in caplog.text


@pytest.mark.parametrize("provider", ["openai", "ollama"])
async def test_the_models_are_listed(caller: Caller, model: FakeModel, provider: str) -> None:
    """In the server's order, and without a call to a model."""
    listed = Connection("default", "openai" if provider == "openai" else "ollama", model.base_url, timeout_s=5)
    assert await caller.models(listed) == ["fake-small", "fake-large"]
    assert model.calls == []


async def test_a_list_that_cannot_be_had_is_an_error(caller: Caller) -> None:
    """It names the connection."""
    with FakeModel() as gone:
        unreachable = Connection("local", "openai", gone.base_url, timeout_s=5)
    with pytest.raises(ModelUnavailable, match="Connection 'local' cannot be reached"):
        await caller.models(unreachable)


async def test_the_extractive_summarizer_is_always_well(caller: Caller) -> None:
    """It has no server, so nothing is asked."""
    built_in = Connection("extractive", "extractive")
    assert (await caller.test(built_in)).ok
    assert await caller.models(built_in) == []


async def test_a_summary_is_counted_as_its_chat_counts(caller: Caller, model: FakeModel) -> None:
    """By the counter that the request brings."""
    assert (await caller.summarize(replace(request_to(model), count=len))).tokens > LIMIT
