"""How the server's settings and the chat's own come together, and which values do not fit together."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from app.core.settings import BufferSettings, ChatSettings, LayeredSettings, RollingSettings, Sampling

_STRATEGIES = ("layered", "rolling", "summary_buffer")
_CHAT_WIDE = frozenset(field.name for field in fields(ChatSettings)) - {*_STRATEGIES}
_SUMMARIZER_SPARE = 64
"""Tokens of a summarizer's window that a summary can never have."""


def merge_values(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `change` laid over it, one object per strategy deep; a null in `change` takes a value away.

    Changing a prompt under a named preset makes the preset `custom` (layered.md, Settings).
    """
    merged = dict(base)
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            merged[name] = _merge_strategy(name, merged.get(name, {}), value)
        else:
            merged[name] = value
    return merged


def _merge_strategy(strategy: str, base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: value for name, value in {**base, **change}.items() if value is not None}
    if change.get("sampling") is not None:
        both = {**base.get("sampling", {}), **change["sampling"]}
        merged["sampling"] = {name: value for name, value in both.items() if value is not None}
    prompts = {"system_prompt", "user_prompt", "merge_prompt"}
    touched = strategy == "layered" and "preset" not in change
    if touched and any(change.get(name) not in (None, base.get(name)) for name in prompts):
        merged["preset"] = "custom"
    return merged


def resolve(server: Mapping[str, Any], chat: Mapping[str, Any]) -> tuple[ChatSettings, list[str]]:
    """The settings in force: defaults, then the server's, then the chat's own; with a warning per clamped value."""
    settings, warnings = _resolved(_Given(repr(server), server), _Given(repr(chat), chat))
    return settings, list(warnings)


@dataclass(frozen=True, slots=True)
class _Given:
    """Values as JSON has them, known by their text."""

    text: str
    values: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=128)
def _resolved(server: _Given, chat: _Given) -> tuple[ChatSettings, tuple[str, ...]]:
    """Remembered: every prompt asks for the same few."""
    wanted = resolve_unclamped(server.values, chat.values)
    clamped = clamp(wanted)
    return clamped, tuple(warning for strategy in _STRATEGIES for warning in _differences(strategy, wanted, clamped))


def resolve_unclamped(server: Mapping[str, Any], chat: Mapping[str, Any]) -> ChatSettings:
    """The settings as they were set, whether they fit together or not."""
    chat_wide = {name: value for name, value in {**server, **chat}.items() if name in _CHAT_WIDE}
    layered, rolling, buffer = ({**server.get(name, {}), **chat.get(name, {})} for name in _STRATEGIES)
    sampling = {**server.get("rolling", {}).get("sampling", {}), **chat.get("rolling", {}).get("sampling", {})}
    return ChatSettings(
        **chat_wide,
        layered=LayeredSettings(**{**layered, "strip_patterns": tuple(layered.get("strip_patterns") or ())}),
        rolling=RollingSettings(**{**rolling, "sampling": Sampling(**sampling)}),
        summary_buffer=BufferSettings(**buffer),
    )


def clamp(settings: ChatSettings) -> ChatSettings:
    """The nearest settings that fit together: a change of the server's default can leave a chat's value out."""
    layered, rolling, buffer = settings.layered, settings.rolling, settings.summary_buffer
    promotion = min(layered.snippets_per_promotion, layered.snippets_per_layer - 1)
    flush = layered.flush_turns
    if flush is not None:
        flush = max(flush, layered.turns_per_batch)
    summary = max(16, min(rolling.max_summary_tokens, rolling.window - _SUMMARIZER_SPARE))
    keep = min(buffer.recent_messages_to_keep, buffer.max_messages_before_summary - 1)
    return replace(
        settings,
        layered=replace(layered, snippets_per_promotion=max(2, promotion), flush_turns=flush),
        rolling=replace(rolling, max_summary_tokens=summary),
        summary_buffer=replace(buffer, recent_messages_to_keep=max(0, keep)),
    )


def contradictions(settings: ChatSettings) -> dict[tuple[str, str], str]:
    """What does not fit together, by strategy and setting."""
    layered, rolling, buffer = settings.layered, settings.rolling, settings.summary_buffer
    found = {}
    if layered.snippets_per_promotion >= layered.snippets_per_layer:
        found["layered", "snippets_per_promotion"] = (
            f"must be less than snippets_per_layer ({layered.snippets_per_layer})"
        )
    if layered.flush_turns is not None and layered.flush_turns < layered.turns_per_batch:
        found["layered", "flush_turns"] = f"must be at least turns_per_batch ({layered.turns_per_batch})"
    most = rolling.window - _SUMMARIZER_SPARE
    if rolling.max_summary_tokens > most:
        found["rolling", "max_summary_tokens"] = f"must be at most context_size - {_SUMMARIZER_SPARE} ({most})"
    if buffer.recent_messages_to_keep >= buffer.max_messages_before_summary:
        most = buffer.max_messages_before_summary
        found["summary_buffer", "recent_messages_to_keep"] = f"must be less than max_messages_before_summary ({most})"
    return found


def lacking(server: Mapping[str, Any], chat: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """What a setting that was made needs beside it, by strategy and setting: an external model is of a connection."""
    buffer = resolve_unclamped(server, chat).summary_buffer
    if buffer.llm_source != "external" or buffer.connection or "connection" in {**server, **chat}:
        return {}
    return {("summary_buffer", "llm_source"): "external needs a connection: name one in summary_buffer.connection"}


def _differences(strategy: str, wanted: ChatSettings, clamped: ChatSettings) -> list[str]:
    before, after = getattr(wanted, strategy), getattr(clamped, strategy)
    return [
        f"{strategy}.{name} {getattr(before, name)} does not fit the other settings; {getattr(after, name)} is used."
        for name in (field.name for field in fields(before))
        if getattr(before, name) != getattr(after, name)
    ]
