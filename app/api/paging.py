"""Lists by cursor: opaque to clients, and good for the list that gave it out only."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.errors import InvalidRequest

MAX_CURSOR_CHARS = 300
_MAX_PLACE = 2**63 - 1
"""The largest number a database column holds."""

T = TypeVar("T")
Place = tuple[int, ...]


def encode_cursor(kind: str, place: Place) -> str:
    """A cursor to the items after `place` in the list `kind`."""
    return urlsafe_b64encode(json.dumps([kind, *place]).encode()).decode().rstrip("=")


def decode_cursor(kind: str, cursor: str, size: int) -> Place:
    """The place, `size` numbers, in a cursor of the list `kind`. Raises InvalidRequest for any other text."""
    try:
        found = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise _unknown_cursor() from None
    if not isinstance(found, list) or len(found) != size + 1 or found[0] != kind:
        raise _unknown_cursor()
    if not all(type(number) is int and 0 <= number <= _MAX_PLACE for number in found[1:]):
        raise _unknown_cursor()
    return tuple(found[1:])


def _unknown_cursor() -> InvalidRequest:
    return InvalidRequest(
        "The cursor is not one that this list gave out; begin again without it.",
        [{"loc": ["query", "cursor"], "msg": "Is no cursor of this list."}],
    )


@dataclass(frozen=True, slots=True)
class Paged(Generic[T]):
    """One page, and the cursor to the next one, if there is one."""

    items: Sequence[T]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page of a list is asked for."""

    limit: int
    cursor: str | None = None

    @property
    def wanted(self) -> int:
        """How many items to read: one more than are shown tells whether another page follows."""
        return self.limit + 1

    def after(self, kind: str, size: int = 1) -> Place | None:
        """The place after which the page begins; None for the first page. Raises InvalidRequest."""
        return None if self.cursor is None else decode_cursor(kind, self.cursor, size)

    def offset(self, kind: str) -> int:
        """How many items come before the page, for lists that are counted through. Raises InvalidRequest."""
        place = self.after(kind)
        return place[0] if place else 0

    def page(self, kind: str, found: Sequence[T], place: Callable[[T], Place]) -> Paged[T]:
        """The page of what was read with `wanted`; `place` says where an item stands in the list."""
        items = found[: self.limit]
        more = len(found) > self.limit
        return Paged(items, encode_cursor(kind, place(items[-1])) if more else None)

    def counted_page(self, kind: str, found: Sequence[T]) -> Paged[T]:
        """The page of a list that is counted through."""
        end = self.offset(kind) + self.limit
        return Paged(found[: self.limit], encode_cursor(kind, (end,)) if len(found) > self.limit else None)
