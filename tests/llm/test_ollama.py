"""Ollama's own chat format."""

import json
from typing import Any

import httpx
import pytest
import respx

from app.core.acceptance import Ending
from app.core.summary import Connection
from app.llm.http import exchange
from app.llm.ollama import build_request, endpoint, models_request, parse_models, reader
from app.llm.wire import Answer, Ask, CallFailed
from tests.support.fake_time import FakeTime

ASK = Ask("You summarize.", "The passage.", 500)
DONE = '{"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3,"message":{"content":""}}'


def connection(model: str | None = "llama", **fields: Any) -> Connection:
    return Connection("default", "ollama", "http://o.test", model, **fields)


def line(content: str, **message: object) -> str:
    return json.dumps({"message": {"role": "assistant", "content": content, **message}, "done": False})


def read(*lines: str) -> Answer:
    taking = reader()
    for text in lines:
        if taking.take(text):
            break
    return taking.answer()


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (None, "http://127.0.0.1:11434/api/chat"),
        ("http://o.test/", "http://o.test/api/chat"),
        ("http://o.test/api", "http://o.test/api/chat"),
        ("http://o.test/api/chat", "http://o.test/api/chat"),
        ("http://o.test/ollama", "http://o.test/ollama/api/chat"),
    ],
)
def test_the_endpoint_follows_from_the_base_url(base_url: str | None, expected: str) -> None:
    """Without one, Ollama is where it listens by default."""
    assert endpoint(base_url, "chat") == expected


def test_the_window_and_the_answer_are_bounded_by_options() -> None:
    """num_ctx is the connection's context_size, num_predict the answer's limit."""
    body = build_request(connection(context_size=8192, temperature=0.0), ASK).body
    assert body == {
        "model": "llama",
        "messages": ASK.messages,
        "stream": True,
        "options": {"temperature": 0.0, "num_predict": 500, "num_ctx": 8192},
    }


def test_extra_body_merges_its_options_one_by_one() -> None:
    """An extra option does not wipe num_ctx; messages and streaming stay."""
    extra = {"think": False, "options": {"num_thread": 4}, "messages": [], "stream": False}
    body = build_request(connection(context_size=8192, extra_body=extra), ASK).body or {}
    assert body["options"] == {"temperature": 0.3, "num_predict": 500, "num_ctx": 8192, "num_thread": 4}
    assert (body["think"], body["stream"], body["messages"]) == (False, True, ASK.messages)


def test_without_a_model_nothing_is_called() -> None:
    """Ollama has no default model."""
    with pytest.raises(CallFailed) as failed:
        build_request(connection(model=None), ASK)
    assert failed.value.failure.kind == "settings"


def test_a_stream_comes_together() -> None:
    """Contents are joined, thinking is ignored, counts are kept, nothing is read after `done`."""
    answer = read(line("", thinking="Hm."), line("Anna "), "", line("left."), DONE, line("never read"))
    assert answer == Answer("Anna left.", Ending(True, "stop"), 7, 3)


def test_a_body_over_several_lines_is_read() -> None:
    """A proxy may have set it prettily."""
    body = {"message": {"content": "Anna left."}, "done": True}
    assert read(*json.dumps(body, indent=1).split("\n")) == Answer("Anna left.", Ending(True))


@pytest.mark.parametrize(
    ("lines", "ending"),
    [
        ([line("a")], Ending(False)),
        ([line("a"), '{"done":true,"done_reason":"length"}'], Ending(True, "length")),
        ([line("", tool_calls=[{}]), DONE], Ending(True, "stop", True)),
    ],
)
def test_how_it_ended(lines: list[str], ending: Ending) -> None:
    """Only `done` completes a stream."""
    assert read(*lines).ending == ending


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([line("a"), '{"error":"llama runner process has terminated"}'], "connection"),
        ([line("a"), "{oops", DONE], "unusable"),
        (["<html>"], "connection"),
        (['{"object":"list"}'], "connection"),
        (["5"], "connection"),
        (["[" * 100_000], "connection"),
    ],
)
def test_a_broken_answer_is_a_failed_call(lines: list[str], kind: str) -> None:
    """Errors inside an answer count as errors, garbage after text as the model's, garbage alone as no model's."""
    with pytest.raises(CallFailed) as failed:
        read(*lines)
    assert failed.value.failure.kind == kind


def test_the_models_are_listed() -> None:
    """Ollama calls them tags."""
    assert models_request(connection()).url == "http://o.test/api/tags"
    assert parse_models('{"models":[{"name":"llama:8b"},{"no":1}]}') == ["llama:8b"]
    with pytest.raises(CallFailed):
        parse_models("[]")


async def test_a_call_and_its_answer(respx_mock: respx.MockRouter) -> None:
    """Request and reader fit together over HTTP."""
    respx_mock.post("http://o.test/api/chat").respond(200, text=f"{line('Anna left.')}\n{DONE}\n")
    taking = reader()
    async with httpx.AsyncClient() as client:
        await exchange(client, build_request(connection(), ASK), 5, FakeTime().now, taking.take)
    assert taking.answer().text == "Anna left."
