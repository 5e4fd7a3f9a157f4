"""The chat-completions format of OpenAI and of the many servers that follow it. Pure: requests out, answers in."""

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from app.core.acceptance import REFUSED
from app.core.summary import Connection
from app.llm.wire import (
    DEFAULT_TEMPERATURE,
    Ask,
    HttpCall,
    Piece,
    Reader,
    count_or_none,
    decode,
    error_in_answer,
    headers,
    http_url,
    items,
    mapping,
    merged,
    no_answer,
    text_or_empty,
    unusable,
    wrong_settings,
)

_COMPLETIONS = "/chat/completions"
_VERSIONED = re.compile(r"/v\d+\Z")
_SSE_FIELD = re.compile(r"(?:event|id|retry)(?::|\Z)|:")
_ERROR_LINE = re.compile(r"error\s*:\s*(?=\{)")
_SPOKEN_PARTS = ("text", "output_text")


def endpoint(base_url: str) -> str:
    """Where chat completions are asked for: `…/chat/completions` as it is, `…/vN` + that, else + `/v1` + that.

    Source: layered.md, Failing calls. A query (`?api-version=…`) is kept.
    """
    parts = urlsplit(http_url(base_url))
    path = parts.path.rstrip("/")
    if not path.endswith(_COMPLETIONS):
        path += _COMPLETIONS if _VERSIONED.search(path) else f"/v1{_COMPLETIONS}"
    return urlunsplit(parts._replace(path=path, fragment=""))


def build_request(connection: Connection, ask: Ask) -> HttpCall:
    """The call for one answer. Raises CallFailed where the settings make none possible.

    `extra_body` may replace or (with null) remove anything but the messages and the streaming: some models want
    max_completion_tokens, or no temperature.
    """
    body = {
        "model": connection.model,
        "temperature": DEFAULT_TEMPERATURE if connection.temperature is None else connection.temperature,
        "max_tokens": ask.max_tokens,
        "stream_options": {"include_usage": True},
    }
    fixed = {"messages": ask.messages, "stream": True}
    return HttpCall(endpoint(_base_url(connection)), headers(connection), merged(body, connection.extra_body, fixed))


def models_request(connection: Connection) -> HttpCall:
    """The call for the list of models."""
    parts = urlsplit(endpoint(_base_url(connection)))
    path = parts.path.removesuffix(_COMPLETIONS) + "/models"
    return HttpCall(urlunsplit(parts._replace(path=path)), headers(connection))


def parse_models(text: str) -> list[str]:
    """The names in a list of models. Raises CallFailed if it is none."""
    body = decode(text)
    listed = body if isinstance(body, list) else mapping(body).get("data")
    if not isinstance(listed, list):
        raise no_answer()
    return [name for item in listed if (name := text_or_empty(mapping(item).get("id")))]


def reader() -> Reader:
    """Reads a stream of server-sent events, or one JSON body where a server does not stream."""
    return Reader(_parse_line, _parse_body)


def _base_url(connection: Connection) -> str:
    if not connection.base_url:
        raise wrong_settings("has no base_url; set it")
    return connection.base_url


def _parse_line(line: str) -> Piece | None:
    if line.startswith("data:"):
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return Piece(complete=True, ended=True)
        return _parse_chunk(data) if data else Piece()
    error = _ERROR_LINE.match(line)
    if error:  # llama.cpp's own kind of event
        raise error_in_answer(decode(line[error.end() :]))
    return Piece() if _SSE_FIELD.match(line) else None


def _parse_chunk(data: str) -> Piece:
    chunk = decode(data)
    if not isinstance(chunk, dict):
        raise no_answer()
    return _piece(chunk)


def _parse_body(text: str) -> Piece:
    body = mapping(decode(text))
    if not body.get("error") and "choices" not in body:
        raise no_answer()
    return replace(_piece(body), complete=True)


def _piece(chunk: Mapping[str, object]) -> Piece:
    if chunk.get("error"):
        raise error_in_answer(chunk["error"])
    choice = mapping(next(iter(items(chunk.get("choices"))), None))
    message = mapping(choice.get("delta")) or mapping(choice.get("message"))
    if message.get("refusal"):
        raise unusable(REFUSED)
    usage = mapping(chunk.get("usage"))
    return Piece(
        text=_spoken(message.get("content")),
        finish_reason=text_or_empty(choice.get("finish_reason")) or None,
        tool_calls=bool(message.get("tool_calls") or message.get("function_call")),
        prompt_tokens=count_or_none(usage.get("prompt_tokens")),
        completion_tokens=count_or_none(usage.get("completion_tokens")),
    )


def _spoken(content: object) -> str:
    """The text of a content: a string, or a list of parts of which only texts are spoken (others are reasoning)."""
    if isinstance(content, str):
        return content
    parts = (mapping(part) for part in items(content))
    return "".join(text_or_empty(part.get("text")) for part in parts if part.get("type", "text") in _SPOKEN_PARTS)
