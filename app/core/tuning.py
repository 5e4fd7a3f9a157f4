"""A connection as rolling memory uses it: with a model, a window and a way to pick words of its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.core.settings import RollingSettings
from app.core.summary import Connection

_OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens")
_OLLAMA_NAMES = {"max_tokens": "num_predict", "context_size": "num_ctx"}


def summary_limit(settings: RollingSettings) -> int:
    """Tokens of a summary: `max_summary_tokens`, or `sampling.max_tokens` if that is less."""
    return min(settings.max_summary_tokens, settings.sampling.max_tokens or settings.max_summary_tokens)


def tune(connection: Connection, settings: RollingSettings) -> Connection:
    """`connection` with what rolling memory sets itself; the rest stays the connection's, its `extra_body` too.

    `top_p`, `min_p`, `top_k` and `repeat_penalty` go by these names into the body of an OpenAI-compatible call, and
    into Ollama's `options`. A `max_tokens` of the sampling is never more than the summary's limit, and a window never
    more than the connection's model is known to have.
    """
    sampling = settings.sampling
    known = None if settings.model_name else connection.context_size
    # Unasked, Ollama gets no window of ours: with another num_ctx it loads the model anew.
    bounds = settings.context_size or connection.provider != "ollama"
    own: dict[str, Any] = {
        "model": settings.model_name or None,
        "context_size": min(settings.window, known or settings.window) if bounds else None,
        "temperature": sampling.temperature,
        "max_tokens": summary_limit(settings) if sampling.max_tokens else None,
    }
    own = {name: value for name, value in own.items() if value is not None}
    extra = {name: getattr(sampling, name) for name in ("top_p", "min_p", "top_k", "repeat_penalty")}
    extra = {name: value for name, value in extra.items() if value is not None}
    laid = _in_options if connection.provider == "ollama" else _in_body
    return replace(connection, extra_body=laid(connection.extra_body, own, extra), **own)


def _in_body(body: Mapping[str, Any], own: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Some models take `max_completion_tokens` only: where the connection says so, that is what changes."""
    left = {name: value for name, value in body.items() if name not in own or name in _OUTPUT_LIMITS}
    if "max_tokens" in own:
        left.update({name: own["max_tokens"] for name in _OUTPUT_LIMITS if left.get(name) is not None})
    return {**left, **extra}


def _in_options(body: Mapping[str, Any], own: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    taken = {_OLLAMA_NAMES.get(name, name) for name in own}
    given = body.get("options")
    options = {name: value for name, value in given.items() if name not in taken} if isinstance(given, dict) else {}
    left = {name: value for name, value in body.items() if name not in ("options", "model" if "model" in own else "")}
    merged = {**options, **extra}
    return {**left, "options": merged} if merged else left
