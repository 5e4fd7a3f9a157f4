"""The settings of a chat in a file of our own: as strict as the API, which takes no others (http-api.md, Chats)."""

import math
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from app.core.limits import is_id
from app.core.settings import RANGES, ChatSettings, LayeredSettings
from app.core.template import fill
from app.formats.turnfold_fields import Unknown, Wrong, json_object

_MAX_PROMPT_CHARS = 100_000
_MAX_NAME_CHARS = 500
_MAX_PATTERNS = 100
_MAX_PATTERN_CHARS = 1000
_PLACEMENTS = ("system_end",)
_CONNECTIONS = frozenset({"connection", "merge_connection", "fallback_connection"})
_PROMPTS = frozenset({"system_prompt", "user_prompt", "merge_prompt", "injection_template"})


def read_settings(value: Any) -> dict[str, Any]:
    """The values a chat sets itself. Raises Wrong and Unknown."""
    return _checked(json_object(value), ChatSettings, "settings")


def _checked(values: dict[str, Any], kind: type, place: str) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = {field.name for field in fields(kind)}
    for name, value in values.items():
        if name not in names:
            raise Unknown(f"the setting “{place}.{name[:60]}”")
        if name == "layered":
            _checked(json_object(value), LayeredSettings, "layered")
        else:
            _check(name, value, hints[name])
    return values


def _check(name: str, value: Any, kind: Any) -> None:
    if not _is(value, kind) or not _is_in_range(name, value) or not _is_text_for(name, value):
        raise Wrong(f"has a “{name}” that cannot be set")


def _is(value: Any, kind: Any) -> bool:
    """Whether a JSON value is of a type that settings have; null takes a setting back, so that none is stored."""
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if kind == tuple[str, ...]:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    choices = [choice for choice in get_args(kind) or (kind,) if choice is not NoneType]
    return type(value) in choices


def _is_in_range(name: str, value: Any) -> bool:
    if name in RANGES:
        low, high = RANGES[name]
        return bool(low <= value <= high)
    return name != "memory_share" or 0 <= value <= 1


def _is_text_for(name: str, value: Any) -> bool:
    if name in _CONNECTIONS:
        return is_id(value)
    if name in _PROMPTS:
        return len(value) <= _MAX_PROMPT_CHARS and (name != "injection_template" or _holds_summary(value))
    if name == "strip_patterns":
        return len(value) <= _MAX_PATTERNS and all(1 <= len(item) <= _MAX_PATTERN_CHARS for item in value)
    if name == "output_language":
        return len(value) <= _MAX_NAME_CHARS
    return name != "memory_placement" or value in _PLACEMENTS


def _holds_summary(template: str) -> bool:
    return fill(template, {"summary": ""}) != template
