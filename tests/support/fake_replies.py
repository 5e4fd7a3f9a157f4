"""What the fake model server can do with a call. Each function gives a behaviour for `FakeModel.do`."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

from tests.support.fake_exchange import Behaviour, Exchange

JSON = {"content-type": "application/json"}


def answer(
    text: str,
    *,
    finish: str | None = "stop",
    usage: tuple[int, int] | None = (100, 10),
    reasoning: str = "",
    done: bool = True,
    content_type: str | None = None,
) -> Behaviour:
    """An answer, streamed unless the request wants none. `usage`: prompt and completion tokens; `done`: whether the
    end mark comes; `content_type`: another one than the wire's own.
    """

    async def behave(exchange: Exchange) -> None:
        if not exchange.request.streams:
            await exchange.whole(200, JSON, json.dumps(_whole(exchange, text, finish)).encode())
            return
        await exchange.begin({"content-type": content_type} if content_type else None)
        for piece in _pieces(exchange, text, reasoning):
            await exchange.event(_delta(exchange, piece))
        await _finish(exchange, finish, usage, done)
        await exchange.end()

    return behave


def status(code: int, *, retry_after: str | float | None = None, body: str = "", **headers: str) -> Behaviour:
    """An HTTP error; underscores in header names become hyphens."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if retry_after is not None:
        fields["retry-after"] = str(retry_after)

    async def behave(exchange: Exchange) -> None:
        await exchange.whole(code, {**JSON, **fields}, body.encode())

    return behave


def redirect(location: str) -> Behaviour:
    """Sends the caller elsewhere."""
    return status(307, location=location)


def blank() -> Behaviour:
    """An answer without text."""
    return answer("")


def nothing_chosen() -> Behaviour:
    """A body that is an answer of a model, but without one."""

    async def behave(exchange: Exchange) -> None:
        none = {"choices": []} if exchange.request.wire == "openai" else {"message": None, **_done("stop", None)}
        await exchange.whole(200, JSON, json.dumps(none).encode())

    return behave


def half_stream(text: str) -> Behaviour:
    """The beginning of an answer, then the connection is dropped."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.event(_delta(exchange, {"content": text}))
        exchange.cut()

    return behave


def closed_early(text: str) -> Behaviour:
    """The beginning of an answer, then the connection is closed as if all were well, but the body has no end."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.event(_delta(exchange, {"content": text}))

    return behave


def no_end_mark(text: str) -> Behaviour:
    """A stream that is closed properly, but says nowhere that the answer is complete."""
    return answer(text, finish=None, usage=None, done=False)


def bad_line(text: str) -> Behaviour:
    """A stream with a line that is no JSON."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.event(_delta(exchange, {"content": text}))
        await exchange.chunk(b"data: {oops\n\n" if exchange.request.wire == "openai" else b"{oops\n")
        await _finish(exchange, "stop", None, True)
        await exchange.end()

    return behave


def error_in_stream(text: str, code: int | str = 500, message: str = "overloaded") -> Behaviour:
    """A stream that turns into an error object."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.event(_delta(exchange, {"content": text}))
        openai = exchange.request.wire == "openai"
        await exchange.event({"error": {"message": message, "code": code} if openai else message})
        await exchange.end()

    return behave


def ramble(kilobytes: int = 40) -> Behaviour:
    """A very long answer without repetitions."""
    sentences = (f"Then, at gate {number}, guest {number * 7919 % 9973} spoke." for number in range(kilobytes * 30))
    text = " ".join(sentences)[: kilobytes * 1000]
    return answer(text)


def open_think(text: str) -> Behaviour:
    """An answer that never gets out of its reasoning."""
    return answer(f"<think>{text}")


def length_stop(text: str) -> Behaviour:
    """An answer cut at its token limit."""
    return answer(text, finish="length")


def declined(text: str) -> Behaviour:
    """A refusal in the field that OpenAI has for it; Ollama has none, so there it is an answer."""

    async def behave(exchange: Exchange) -> None:
        field = "refusal" if exchange.request.wire == "openai" else "content"
        await exchange.begin()
        await exchange.event(_delta(exchange, {field: text}))
        await _finish(exchange, "stop", None, True)
        await exchange.end()

    return behave


def tool_call() -> Behaviour:
    """A call of a tool in place of an answer."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "save", "arguments": "{}"}}
        await exchange.event(_delta(exchange, {"content": "", "tool_calls": [call]}))
        await _finish(exchange, "tool_calls", None, True)
        await exchange.end()

    return behave


def hang() -> Behaviour:
    """Accepts the call and says nothing."""

    async def behave(exchange: Exchange) -> None:
        await exchange.silence()

    return behave


def silence_after_head(text: str = "") -> Behaviour:
    """Headers, perhaps a beginning, then nothing."""

    async def behave(exchange: Exchange) -> None:
        await exchange.begin()
        if text:
            await exchange.event(_delta(exchange, {"content": text}))
        await exchange.silence()

    return behave


def reset() -> Behaviour:
    """Drops the connection before any answer."""

    async def behave(exchange: Exchange) -> None:
        exchange.cut()

    return behave


def body(text: str, *, finish: str | None = "stop", compressed: bool = False, indent: int | None = None) -> Behaviour:
    """One JSON body although a stream was asked for; perhaps gzipped."""

    async def behave(exchange: Exchange) -> None:
        data = json.dumps(_whole(exchange, text, finish), indent=indent).encode()
        headers = {**JSON, "content-encoding": "gzip"} if compressed else JSON
        await exchange.whole(200, headers, gzip.compress(data) if compressed else data)

    return behave


def zipped_stream(text: str) -> Behaviour:
    """A stream that is compressed as a whole and comes in small parts, which end anywhere."""

    async def behave(exchange: Exchange) -> None:
        first, last = _delta(exchange, {"content": text}), _delta(exchange, {"content": ""})
        last = {**last, **_done("stop", None)} if exchange.request.wire == "ollama" else _stop("stop")
        data = gzip.compress(exchange.framed(first) + exchange.framed(last))
        await exchange.begin({"content-encoding": "gzip"})
        for start in range(0, len(data), 20):
            await exchange.chunk(data[start : start + 20])
        await exchange.end()

    return behave


def no_http(data: bytes = b"SSH-2.0-OpenSSH_9.9\r\n") -> Behaviour:
    """Something else than HTTP listens there."""

    async def behave(exchange: Exchange) -> None:
        await exchange.raw(data)

    return behave


def raw(data: bytes, content_type: str = "text/html") -> Behaviour:
    """Any bytes with status 200."""

    async def behave(exchange: Exchange) -> None:
        await exchange.whole(200, {"content-type": content_type}, data)

    return behave


def listing(names: Sequence[str]) -> Behaviour:
    """The models on offer."""

    async def behave(exchange: Exchange) -> None:
        openai = {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
        ollama = {"models": [{"name": name} for name in names]}
        data = json.dumps(openai if exchange.request.wire == "openai" else ollama).encode()
        await exchange.whole(200, JSON, data)

    return behave


def _pieces(exchange: Exchange, text: str, reasoning: str) -> list[dict[str, Any]]:
    """A stream's deltas, in parts of uneven length; reasoning first, in the wire's field for it."""
    size = max(1, len(text) // 7)
    spoken = [{"content": text[start : start + size]} for start in range(0, len(text), size)]
    field = "reasoning_content" if exchange.request.wire == "openai" else "thinking"
    return [{"content": "", field: reasoning}, *spoken] if reasoning else list(spoken)


def _delta(exchange: Exchange, delta: dict[str, Any]) -> dict[str, Any]:
    if exchange.request.wire == "ollama":
        return {"model": "fake", "message": {"role": "assistant", **delta}, "done": False}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


async def _finish(exchange: Exchange, finish: str | None, usage: tuple[int, int] | None, done: bool) -> None:
    if exchange.request.wire == "ollama":
        if done:
            await exchange.event({**_delta(exchange, {"content": ""}), **_done(finish, usage)})
        return
    if finish:
        await exchange.event(_stop(finish))
    if usage:
        await exchange.event({"choices": [], "usage": _usage(usage)})
    if done:
        await exchange.chunk(b"data: [DONE]\n\n")


def _stop(finish: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


def _done(finish: str | None, usage: tuple[int, int] | None) -> dict[str, Any]:
    counts = {"prompt_eval_count": usage[0], "eval_count": usage[1]} if usage else {}
    return {"done": True, "done_reason": finish, **counts}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _whole(exchange: Exchange, text: str, finish: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    if exchange.request.wire == "ollama":
        return {"message": message, **_done(finish, (100, 10))}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": _usage((100, 10))}
