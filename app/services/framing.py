"""Frames: knowledge, instructions and variables around the current turn of a prompt; never stored.

rolling-and-buffer.md, Frame. The template is Mustache, its values are data. Whoever sends them pays for them, and no
more than a message may hold: sections over long lists multiply what a short template says.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pystache
from pystache.context import ContextStack, KeyNotFoundError
from pystache.renderengine import RenderEngine

from app.errors import InvalidRequest
from app.services.mustache import check_template

Position = Literal["replace", "before_user", "before_system", "after_user", "after_system"]

MAX_RENDERED_CHARS = 1_048_576
_MAX_WORK = 20_000_000
"""Characters that a rendering may put together, before it is told to stop: a fraction of a second."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the current turn. `values` are JSON; `position` says where, and as whose words."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    position: Position = "before_system"


def apply_frame(frame: Frame, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The current part of a prompt, chat-completions messages, with the frame around its last user message.

    `replace` puts the rendering in that message's place and gives the template its text as `user_message`; elsewhere
    that is empty. Without a user message it stands before or after all of them, or as one of its own at the end. An
    empty rendering changes nothing. Raises InvalidRequest.
    """
    found = [dict(message) for message in messages]
    place = next((i for i in reversed(range(len(found))) if found[i]["role"] == "user"), None)
    replaces = frame.position == "replace"
    said = found[place].get("content") if replaces and place is not None else None
    text = _rendered(frame, said or "")
    if not text.strip():
        return found
    if replaces and place is not None:
        found[place]["content"] = text
        return found
    before, _, role = frame.position.partition("_")
    start, end = (0, len(found)) if place is None else (place, place + 1)
    found.insert(start if before == "before" else end, {"role": role or "user", "content": text})
    return found


def _rendered(frame: Frame, user_message: str) -> str:
    try:
        check_template(frame.template)
    except ValueError as error:
        raise _invalid(str(error)) from None
    meter = _Meter(len(frame.template) + 64)
    engine = RenderEngine(
        literal=meter.text, escape=meter.text, resolve_context=meter.value, resolve_partial=_no_partial, to_str=_written
    )
    values = ContextStack({**frame.values, "user_message": user_message})
    try:
        text: str = pystache.parse(frame.template).render(engine, values)
    except _TooMuch:
        text = ""
    if meter.left < 0 or len(text) > MAX_RENDERED_CHARS:
        raise _invalid(f"The frame renders to more than {MAX_RENDERED_CHARS:,} characters; send shorter values.")
    return text


class _TooMuch(Exception):
    """A rendering that would take too long."""


class _Meter:
    """Looks values up, and stops a rendering that grows beyond all use. `each`: what one round of a section costs."""

    def __init__(self, each: int) -> None:
        self.left = _MAX_WORK
        self._each = each

    def value(self, stack: Any, name: str) -> Any:
        """What a name stands for; nothing for one that is not there."""
        try:
            found = stack.get(name)
        except KeyNotFoundError:
            found = ""
        self._take(len(name) + 8 + (len(found) * self._each if isinstance(found, list) else 0))
        return found

    def text(self, value: str) -> str:
        """A value as it goes into the text: unescaped."""
        self._take(len(value))
        return value

    def _take(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise _TooMuch


def _no_partial(_name: str) -> str:
    return ""


def _written(value: Any) -> str:
    """A value that is no text, as JSON writes it; null is empty."""
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _invalid(detail: str) -> InvalidRequest:
    return InvalidRequest(detail, [{"loc": ["body", "frame", "template"], "msg": detail}])
