"""What is stored of a chat, as a check of it looks at it, and what a check finds."""

from collections.abc import Iterable
from dataclasses import dataclass

_MOST = 10


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as its row says, whatever that is.

    `leaf`: the key of the snippet over it, of the strategy that is looked at; `elsewhere`: another strategy's snippet
    covers it too. `empty`: neither text nor tool calls are stored; `calls`: tool calls are. `blank` and `closes` are
    the columns that should follow from these.
    """

    key: int
    position: int
    role: str
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    blank: bool = False
    closes: bool = False
    empty: bool = False
    calls: bool = False
    leaf: int | None = None
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class StoredSnippet:
    """A snippet as its row says; `parent` is the key of what absorbed it."""

    key: int
    id: str
    layer: int
    position: int
    state: str = "live"
    parent: int | None = None
    stale: bool = False
    degraded: bool = False
    edited: bool = False
    asked: bool = False
    failures: int = 0


# What puts something right, as data. All name rows by their keys.


@dataclass(frozen=True, slots=True)
class Renumber:
    """Messages and the places they belong to."""

    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Derive:
    """Messages and what `blank` and `closes` must say of them."""

    values: tuple[tuple[int, bool, bool], ...]


@dataclass(frozen=True, slots=True)
class Uncover:
    """Messages that no snippet covers any more, and the snippets that are out of date by that; None: whatever its
    strategy.
    """

    messages: tuple[int, ...]
    stale: tuple[int, ...] = ()
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class FallBack:
    """Summaries of a strategy that keeps one, which go, and the one that stands then, if any."""

    strategy: str
    gone: tuple[int, ...]
    standing: int | None


@dataclass(frozen=True, slots=True)
class Drop:
    """Snippets that go; what is left under them is uncovered."""

    snippets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Relink:
    """Snippets with the state and the parent they must have."""

    values: tuple[tuple[int, str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Rank:
    """Snippets with the layer and the position they belong to."""

    places: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class MarkStale:
    """Snippets that are out of date, with all that absorbed them."""

    snippets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Snippets to be made anew."""

    snippets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The newest snippets give way until enough turns are verbatim again (layered.md, promise 3)."""


Fix = Renumber | Derive | Uncover | FallBack | Drop | Relink | Rank | MarkStale | Ask | GiveBack


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be: `code` for programs, `detail` for people. `fix`: the one right one."""

    code: str
    detail: str
    fix: Fix | None = None


def count(number: int, noun: str) -> str:
    """`1 message`, `2 messages`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(names: Iterable[object]) -> str:
    """The names, the first ten of many."""
    words = [str(name) for name in names]
    rest = len(words) - _MOST
    return ", ".join(words[:_MOST]) + (f" and {rest} more" if rest > 0 else "")
