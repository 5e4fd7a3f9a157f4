"""The settings of a chat in a file of our own: as strict as the API, which takes no others (http-api.md, Chats)."""

import math
from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from app.core.limits import is_id
from app.core.placement import parse_placement
from app.core.settings import (
    BUFFER_RANGES,
    RANGES,
    ROLLING_RANGES,
    BufferSettings,
    ChatSettings,
    LayeredSettings,
    RollingSettings,
    Sampling,
)
from app.core.template import fill
from app.formats.turnfold_fields import Unknown, Wrong, json_object

_MAX_PROMPT_CHARS = 100_000
_MAX_NAME_CHARS = 500
_MAX_PATTERNS = 100
_MAX_PATTERN_CHARS = 1000
_CONNECTIONS = frozenset({"connection", "merge_connection", "fallback_connection"})
_PROMPTS = frozenset({"system_prompt", "user_prompt", "merge_prompt", "injection_template", "template"})
_NAMES = frozenset({"output_language", "model_name"})
_OBJECTS = frozenset({LayeredSettings, RollingSettings, BufferSettings, Sampling})
_RANGES: Mapping[type, Mapping[str, tuple[float, float]]] = {
    ChatSettings: {"memory_share": (0, 1)},
    LayeredSettings: RANGES,
    RollingSettings: ROLLING_RANGES,
    BufferSettings: BUFFER_RANGES,
    Sampling: {
        "temperature": (0, 2),
        **dict.fromkeys(("top_p", "min_p"), (0, 1)),
        **dict.fromkeys(("top_k", "repeat_penalty"), (0, math.inf)),
        "max_tokens": (1, math.inf),
    },
}


def read_settings(value: Any) -> dict[str, Any]:
    """The values a chat sets itself. Raises Wrong and Unknown."""
    return _checked(json_object(value), ChatSettings, "settings")


def _checked(values: dict[str, Any], kind: type, place: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = {field.name for field in fields(kind)}
    for name, value in values.items():
        if name not in names:
            raise Unknown(f"the setting “{place}.{name[:60]}”")
        if hints[name] in _OBJECTS:
            _checked(json_object(value), hints[name], name)
        elif not (_is(value, hints[name]) and _is_in_range(kind, name, value) and _is_allowed(name, value)):
            raise Wrong(f"has a “{name}” that cannot be set")
    return values


def _is(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of a type that settings have; null takes a setting back, so that none is stored."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == tuple[str, ...]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    choices = [choice for choice in get_args(kind) if choice is not NoneType]
    return any(_is(value, choice) for choice in choices) if choices else type(value) is kind


def _is_in_range(kind: type, name: str, value: Any) -> bool:
    low, high = _RANGES[kind].get(name, (None, None))
    return low is None or high is None or bool(low <= value <= high)


def _is_allowed(name: str, value: Any) -> bool:
    if name in _CONNECTIONS:
        return is_id(value)
    if name in _PROMPTS:
        return len(value) <= _MAX_PROMPT_CHARS and (name != "injection_template" or _holds_summary(value))
    if name == "strip_patterns":
        return len(value) <= _MAX_PATTERNS and all(1 <= len(item) <= _MAX_PATTERN_CHARS for item in value)
    if name in _NAMES:
        return len(value) <= _MAX_NAME_CHARS
    if name == "memory_placement":
        return _is_place(value)
    return name != "run_inline" or value is True


def _is_place(text: str) -> bool:
    try:
        parse_placement(text)
    except ValueError:
        return False
    return True


def _holds_summary(template: str) -> bool:
    return fill(template, {"summary": ""}) != template
