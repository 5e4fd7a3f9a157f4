"""What a value parsed from JSON may hold: anything the store and the answers can hold without loss.

`json.loads` lets through NUL, lone surrogates, NaN, numbers of any length and nesting up to the stack's end. Looking
at every value costs more than parsing it did, so the text is searched first for what such a value must be written with.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from app.core.limits import MAX_DEPTH, UNSTORABLE, is_storable_int

Place = tuple[str | int, ...]

_CONTAINERS = frozenset((dict, list))
# A surrogate must be written as an escape: the body is UTF-8. A pair of them is harmless, but rare enough.
_ESCAPES = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NO_NUMBERS = ("NaN", "Infinity")
# Digits all alike, so that one plain search finds any 19 of them: 18 fit 64 bits, and with an exponent of two more
# digits they make no infinity.
_ALIKE = bytes.maketrans(b"123456789E", b"000000000e")
_LONG_NUMBERS = (b"0" * 19, b"e000")


class Unstorable(ValueError):
    """A body is JSON, but holds `fault`."""

    def __init__(self, fault: "Fault") -> None:
        super().__init__(fault.msg)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a value (`msg` never quotes it), and where in it."""

    at: Place
    msg: str


class _Node(NamedTuple):
    """An object or a list on the way, and how it was reached; its path is only built where a fault is found."""

    value: dict[str, Any] | list[Any]
    depth: int
    step: str | int = ""
    parent: "_Node | None" = None

    def place(self, *last: str | int) -> Place:
        above = self.parent.place(self.step) if self.parent else ()
        return (*above, *last)


def read_json(body: bytes) -> Any:
    """The value a body holds. Raises Unstorable, and as `json.loads` does: ValueError or RecursionError."""
    text = body.decode("utf-8-sig")
    value = json.loads(text)
    fault = json_fault(value) if _suspicious(body, text) or _deep(text, value) else None
    if fault is not None:
        raise Unstorable(fault)
    return value


def text_fault(text: str) -> str | None:
    """Why a text cannot be stored."""
    found = UNSTORABLE.search(text)
    if found is None:
        return None
    return "Holds a NUL character." if found[0] == "\0" else "Holds half of a surrogate pair, which is no character."


def json_fault(value: object) -> Fault | None:
    """The first fault found in a value, whatever its depth: no recursion."""
    msg = _scalar_fault(value)
    if msg is not None:
        return Fault((), msg)
    pending = [_Node(value, 1)] if isinstance(value, dict | list) else []
    while pending:
        node = pending.pop()
        if node.depth > MAX_DEPTH:
            return Fault(node.place()[:3], f"Is nested more than {MAX_DEPTH} levels deep.")
        for step, item in _items(node.value):
            msg = _key_fault(step) or _scalar_fault(item)
            if msg is not None:
                return Fault(node.place(step), msg)
            if isinstance(item, dict | list):
                pending.append(_Node(item, node.depth + 1, step, node))
    return None


def _suspicious(body: bytes, text: str) -> bool:
    """Whether a JSON text may hold what cannot be stored, nesting aside; without recursion, and never wrongly False."""
    if any(word in text for word in _NO_NUMBERS) or _ESCAPES.search(text):
        return True
    alike = body.translate(_ALIKE, delete=b"+")
    return any(number in alike for number in _LONG_NUMBERS)


def _deep(text: str, value: object) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for container in level for item in _values(container) if type(item) in _CONTAINERS]
        if not level:
            return False
    return True


def _values(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _items(container: dict[str, Any] | list[Any]) -> Iterable[tuple[str | int, object]]:
    return container.items() if isinstance(container, dict) else enumerate(container)


def _key_fault(step: object) -> str | None:
    return text_fault(step) if isinstance(step, str) else None


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "Is no number that JSON knows: NaN and Infinity are not."
    if isinstance(value, int) and not is_storable_int(value):
        return "Is a whole number beyond 64 bits."
    return None
