"""The chat-completions format."""

import json
from contextlib import suppress
from typing import Any

import httpx
import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st

from app.core.acceptance import Ending
from app.core.summary import Connection
from app.llm.http import exchange
from app.llm.openai import build_request, endpoint, models_request, parse_models, reader
from app.llm.wire import MAX_ANSWER_CHARS, Answer, Ask, CallFailed
from tests.support.fake_time import FakeTime

ASK = Ask("You summarize.", "The passage.", 500)
DONE = "data: [DONE]"


def connection(base_url: str | None = "http://m.test", **fields: Any) -> Connection:
    return Connection("default", "openai", base_url, "fake-small", **fields)


def chunk(content: object = None, finish: str | None = None, **delta: object) -> str:
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]}, ensure_ascii=False)}"


def read(*lines: str) -> Answer:
    taking = reader()
    for line in lines:
        if taking.take(line):
            break
    return taking.answer()


def failure_of(*lines: str) -> tuple[str, int | None]:
    with pytest.raises(CallFailed) as failed:
        read(*lines)
    return failed.value.failure.kind, failed.value.failure.status


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://m.test", "http://m.test/v1/chat/completions"),
        ("http://m.test/", "http://m.test/v1/chat/completions"),
        (" http://m.test/api/ ", "http://m.test/api/v1/chat/completions"),
        ("http://m.test/v1", "http://m.test/v1/chat/completions"),
        ("https://m.test/paas/v4/", "https://m.test/paas/v4/chat/completions"),
        ("http://m.test/x/chat/completions", "http://m.test/x/chat/completions"),
        ("http://m.test/chat/completions?api-version=2", "http://m.test/chat/completions?api-version=2"),
    ],
)
def test_the_endpoint_follows_from_the_base_url(base_url: str, expected: str) -> None:
    """A full address stays, a version gets the route, anything else gets both."""
    assert endpoint(base_url) == expected


@pytest.mark.parametrize("base_url", [None, "", "localhost:5001/v1", "ftp://m.test", "http://", "http://m.test:99999"])
def test_an_address_that_cannot_be_called_is_a_wrong_setting(base_url: str | None) -> None:
    """It fails before any call."""
    with pytest.raises(CallFailed) as failed:
        build_request(connection(base_url), ASK)
    assert failed.value.failure.kind == "settings"


def test_the_model_sees_one_system_and_one_user_message() -> None:
    """No persona, no tools, nothing else."""
    call = build_request(connection(), ASK)
    assert call.body == {
        "model": "fake-small",
        "messages": [
            {"role": "system", "content": "You summarize."},
            {"role": "user", "content": "The passage."},
        ],
        "temperature": 0.3,
        "max_tokens": 500,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert call.headers == {}


def test_extra_body_adds_replaces_and_removes_but_never_touches_the_messages() -> None:
    """A null removes a field; messages and streaming are not its business."""
    extra: dict[str, Any] = {
        "seed": 1,
        "max_tokens": None,
        "temperature": 1,
        "messages": [],
        "stream": False,
        "stream_options": None,
    }
    body = build_request(connection(extra_body=extra, temperature=0.0), ASK).body or {}
    assert (body["seed"], body["temperature"], body["stream"]) == (1, 1, True)
    assert body["messages"] == ASK.messages
    assert not {"max_tokens", "stream_options"} & set(body)


def test_a_temperature_of_zero_is_a_temperature() -> None:
    """Zero is not "unset"."""
    assert (build_request(connection(temperature=0.0), ASK).body or {})["temperature"] == 0


def test_the_key_goes_into_the_header_and_into_no_repr() -> None:
    """What is logged by accident shows no key and no chat."""
    call = build_request(connection(api_key=" sk-secret "), ASK)
    assert call.headers == {"Authorization": "Bearer sk-secret"}
    assert "sk-secret" not in repr(call)
    assert "passage" not in repr(call)


@pytest.mark.parametrize("key", ["sk-schlüssel", "sk-a\nX-Evil: 1"])
def test_a_key_that_no_header_carries_is_a_wrong_setting(key: str) -> None:
    """It neither breaks the request nor smuggles a header into it."""
    with pytest.raises(CallFailed) as failed:
        build_request(connection(api_key=key), ASK)
    assert failed.value.failure.kind == "settings"
    assert key not in failed.value.failure.reason


def test_a_stream_comes_together() -> None:
    """Deltas are joined, reasoning is ignored, usage and finish_reason are kept, comments are skipped."""
    answer = read(
        ": OPENROUTER PROCESSING",
        "event: message",
        chunk("", role="assistant", reasoning_content="Hm."),
        chunk("Anna "),
        "",
        chunk("left."),
        chunk(None, "stop"),
        'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}',
        DONE,
        chunk("never read"),
    )
    assert answer == Answer("Anna left.", Ending(True, "stop"), 7, 3)


def test_a_content_of_parts_is_read() -> None:
    """Only text parts are spoken; the others are reasoning."""
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Anna "}, {"text": "left."}, "junk"]
    assert read(chunk(parts, "stop")).text == "Anna left."


def test_line_separators_inside_a_string_do_not_break_the_stream() -> None:
    """U+2028 may stand in JSON as it is."""
    assert read(chunk("a\u2028b\x85c", "stop"), DONE).text == "a\u2028b\x85c"


def test_a_json_body_is_read_where_a_stream_was_asked_for() -> None:
    """Over one line or many; complete even without a finish_reason."""
    body = {"choices": [{"message": {"content": "Anna left."}}], "usage": {"prompt_tokens": 7}}
    for lines in ([json.dumps(body)], json.dumps(body, indent=2).split("\n")):
        assert read(*lines) == Answer("Anna left.", Ending(True, None), 7, None)


@pytest.mark.parametrize(
    ("lines", "ending"),
    [
        ([chunk("a"), DONE], Ending(True)),
        ([chunk("a", "stop")], Ending(True, "stop")),
        ([chunk("a")], Ending(False)),
        ([], Ending(False)),
        ([chunk("a", "length"), DONE], Ending(True, "length")),
        ([chunk("", tool_calls=[{"index": 0}]), DONE], Ending(True, None, True)),
        ([chunk("", function_call={"name": "f"}), DONE], Ending(True, None, True)),
        ([chunk("a", ""), DONE], Ending(True)),
    ],
)
def test_how_it_ended(lines: list[str], ending: Ending) -> None:
    """An end mark or a finish_reason makes a stream complete; tool calls are noticed."""
    assert read(*lines).ending == ending


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([chunk("a"), "data: {oops", DONE], ("unusable", None)),
        ([chunk("a"), "oops", DONE], ("unusable", None)),
        (["<html>", "</html>"], ("connection", None)),
        (["data: 5"], ("connection", None)),
        (['{"object":"list"}'], ("connection", None)),
        (["[" * 100_000], ("connection", None)),
        (["data: " + "[" * 100_000], ("connection", None)),
        ([chunk("", refusal="No.")], ("unusable", None)),
        ([chunk("a"), 'data: {"error":{"message":"sk-secret","code":429}}'], ("status", 429)),
        ([chunk("a"), 'data: {"error":{"message":"x","code":"502"}}'], ("status", 502)),
        ([chunk("a"), 'data: {"error":"overloaded"}'], ("connection", None)),
        ([chunk("a"), 'error: {"code":500,"message":"x"}'], ("status", 500)),
        (['{"error":{"message":"x","code":"server_error"}}'], ("connection", None)),
        ([chunk("a"), '{"error":{"message":"x"}}'], ("connection", None)),
    ],
)
def test_a_broken_answer_is_a_failed_call(lines: list[str], expected: tuple[str, int | None]) -> None:
    """Errors inside an answer count as errors, garbage after text as the model's, garbage alone as no model's."""
    assert failure_of(*lines) == expected


def test_an_endless_answer_is_cut_off() -> None:
    """A model that never stops is stopped."""
    assert failure_of(*[chunk("x" * 10_000)] * (MAX_ANSWER_CHARS // 10_000 + 1)) == ("unusable", None)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "delta", "message", "content", "usage", "finish_reason", "error", "code", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSONISH.map(json.dumps) | st.text(max_size=20), max_size=4), st.booleans())
def test_no_answer_breaks_the_reading(values: list[str], streamed: bool) -> None:
    """Whatever a server sends is an answer or a failed call."""
    with suppress(CallFailed):
        read(*[f"data: {value}" if streamed else value for value in values])


def test_the_models_are_listed() -> None:
    """The list is where the completions are, without their route."""
    assert models_request(connection("http://m.test/v1")).url == "http://m.test/v1/models"
    assert parse_models('{"data":[{"id":"b"},{"id":"a"},{"no":1},3]}') == ["b", "a"]
    with pytest.raises(CallFailed):
        parse_models("<html>")


async def test_a_call_and_its_answer(respx_mock: respx.MockRouter) -> None:
    """Request and reader fit together over HTTP."""
    body = "\n\n".join([chunk("Anna "), chunk("left.", "stop"), DONE])
    route = respx_mock.post("http://m.test/v1/chat/completions").respond(200, text=body)
    taking = reader()
    async with httpx.AsyncClient() as client:
        await exchange(client, build_request(connection(), ASK), 5, FakeTime().now, taking.take)
    assert taking.answer().text == "Anna left."
    assert json.loads(route.calls.last.request.content)["stream"] is True
