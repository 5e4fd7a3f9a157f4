"""Ollama's own chat format: a JSON object per line. Pure: requests out, answers in."""

import json
from urllib.parse import urlsplit, urlunsplit

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
    mapping,
    merged,
    no_answer,
    text_or_empty,
    wrong_settings,
)

_DEFAULT_BASE_URL = "http://127.0.0.1:11434"


def endpoint(base_url: str | None, route: str) -> str:
    """Where `route` ("chat" or "tags") of Ollama's API is; without a base URL, where Ollama listens by default."""
    parts = urlsplit(http_url(base_url or _DEFAULT_BASE_URL))
    path = parts.path.rstrip("/").removesuffix("/chat").removesuffix("/api")
    return urlunsplit(parts._replace(path=f"{path}/api/{route}", fragment=""))


def build_request(connection: Connection, ask: Ask) -> HttpCall:
    """The call for one answer. Raises CallFailed where the settings make none possible.

    `num_ctx` is the connection's context_size: without it Ollama cuts long prompts in silence. `extra_body` may add
    or replace anything but the messages and the streaming, its `options` one by one.
    """
    if not connection.model:
        raise wrong_settings("has no model; set it")
    options = {
        "temperature": DEFAULT_TEMPERATURE if connection.temperature is None else connection.temperature,
        "num_predict": ask.max_tokens,
        "num_ctx": connection.context_size,
    }
    merged_options = merged(options, mapping(connection.extra_body.get("options")), {})
    fixed = {"messages": ask.messages, "stream": True, "options": merged_options}
    body = merged({"model": connection.model}, connection.extra_body, fixed)
    return HttpCall(endpoint(connection.base_url, "chat"), headers(connection), body)


def models_request(connection: Connection) -> HttpCall:
    """The call for the list of models."""
    return HttpCall(endpoint(connection.base_url, "tags"), headers(connection))


def parse_models(text: str) -> list[str]:
    """The names in a list of models. Raises CallFailed if it is none."""
    listed = mapping(decode(text)).get("models")
    if not isinstance(listed, list):
        raise no_answer()
    return [name for item in listed if (name := text_or_empty(mapping(item).get("name")))]


def reader() -> Reader:
    """Reads a stream of JSON lines, or one JSON body over several lines."""
    return Reader(_parse_line, _parse_body)


def _parse_line(line: str) -> Piece | None:
    try:
        chunk = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return _piece(chunk) if isinstance(chunk, dict) else None


def _parse_body(text: str) -> Piece:
    body = decode(text)
    if not isinstance(body, dict):
        raise no_answer()
    return _piece(body)


def _piece(chunk: dict[str, object]) -> Piece:
    error = chunk.get("error")
    if error:
        raise error_in_answer(error)
    if "message" not in chunk and "done" not in chunk:
        raise no_answer()
    message = mapping(chunk.get("message"))
    done = chunk.get("done") is True
    return Piece(
        text=text_or_empty(message.get("content")),
        finish_reason=text_or_empty(chunk.get("done_reason")) or None,
        tool_calls=bool(message.get("tool_calls")),
        complete=done,
        ended=done,
        prompt_tokens=count_or_none(chunk.get("prompt_eval_count")),
        completion_tokens=count_or_none(chunk.get("eval_count")),
    )
