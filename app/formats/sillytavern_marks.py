"""What SillyTavern has no field for, and where it stands in a line of its files: under extra["turnfold"].

SillyTavern keeps what it does not know, so that this comes back with the chat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from app.formats.parsed import usable_id

MARKS = "turnfold"


@dataclass(frozen=True, slots=True)
class Marks:
    """Of one message. `id`: its own, which the extension gave it; `given_name`: the name that was written where the
    message has none.

    `wordless`: its content is null, beside tool calls. `hidden` is told apart only where the message is `omitted`:
    SillyTavern has one field for both. `extra` is the message's own, but for what belongs to SillyTavern.
    """

    id: str | None = None
    role: Literal["tool"] | None = None
    wordless: bool = False
    given_name: str | None = None
    pinned: bool = False
    omitted: bool = False
    hidden: bool = False
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def write_marks(marks: Marks) -> dict[str, Any]:
    """The JSON object; empty where there is nothing to say."""
    fields = {
        "id": marks.id,
        "role": marks.role,
        "wordless": marks.wordless,
        "given_name": marks.given_name,
        "pinned": marks.pinned,
        "history": "omit" if marks.omitted else None,
        "hidden": marks.hidden,
        "tool_calls": marks.tool_calls,
        "tool_call_id": marks.tool_call_id,
        "extra": marks.extra,
    }
    return {name: value for name, value in fields.items() if value}


def read_marks(value: object) -> Marks:
    """The marks in a JSON value, whatever somebody made of it; what cannot be meant is left out."""
    fields: Mapping[str, Any] = value if isinstance(value, dict) else {}
    given_name, call_id, extra = (fields.get(name) for name in ("given_name", "tool_call_id", "extra"))
    calls = fields.get("tool_calls")
    return Marks(
        id=usable_id(fields.get("id")),
        role="tool" if fields.get("role") == "tool" else None,
        wordless=fields.get("wordless") is True,
        given_name=given_name if isinstance(given_name, str) else None,
        pinned=fields.get("pinned") is True,
        omitted=fields.get("history") == "omit",
        hidden=fields.get("hidden") is True,
        tool_calls=calls if _are_calls(calls) else None,
        tool_call_id=call_id if isinstance(call_id, str) else None,
        extra=extra if isinstance(extra, dict) else {},
    )


def _are_calls(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(call, dict) and isinstance(call.get("id"), str) and call["id"] for call in value
    )
