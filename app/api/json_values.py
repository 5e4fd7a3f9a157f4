"""What a value parsed from JSON may hold: anything the store and the answers can hold without loss.

`json.loads` lets through NUL, lone surrogates, NaN, numbers of any length and nesting up to the stack's end.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DEPTH = 100
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_INT_LIMIT = 2**63

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a value (`msg` never quotes it), and where in it."""

    at: Place
    msg: str


def text_fault(text: str) -> str | None:
    """Why a text cannot be stored."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return None
    return "Holds a NUL character." if found[0] == "\0" else "Holds half of a surrogate pair, which is no character."


def json_fault(value: object) -> Fault | None:
    """The first fault found in a value, whatever its depth: no recursion."""
    msg = _scalar_fault(value)
    if msg is not None:
        return Fault((), msg)
    pending: list[tuple[Place, object]] = [((), value)]
    while pending:
        at, container = pending.pop()
        if len(at) > MAX_DEPTH:
            return Fault(at[:3], f"Is nested more than {MAX_DEPTH} levels deep.")
        for step, item in _items(container):
            msg = _key_fault(step) or _scalar_fault(item)
            if msg is not None:
                return Fault((*at, step), msg)
            if isinstance(item, dict | list):
                pending.append(((*at, step), item))
    return None


def _items(container: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(container, dict):
        yield from container.items()
    elif isinstance(container, list):
        yield from enumerate(container)


def _key_fault(step: object) -> str | None:
    return text_fault(step) if isinstance(step, str) else None


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "Is no number that JSON knows: NaN and Infinity are not."
    if isinstance(value, int) and not -_INT_LIMIT <= value < _INT_LIMIT:
        return "Is a whole number beyond 64 bits."
    return None
