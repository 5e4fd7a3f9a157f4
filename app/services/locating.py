"""Which messages of a chat a memory speaks of: it names them by their places in a file, or by ids."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlmodel import Session

from app.core.adoption import NOT_TAKEN, Claim, Repair
from app.core.model import Role
from app.formats.parsed import ParsedMemory, ParsedMessage, ParsedSnippet
from app.formats.sillytavern import mark_of
from app.store import places

_FLAGGED, _LISTED = 1, 2


@dataclass(frozen=True)
class Whereabouts:
    """Where a chat's messages stand in a file. `file_indices` has the place of each, ascending; `named` the index in
    the chat by the names a memory uses; `newest_ghost` the index of the newest message that was ghosted there.
    """

    file_indices: Sequence[int]
    named: Mapping[str, int] = field(default_factory=dict)
    newest_ghost: int | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The indices of what stands from `first` to `last` in the file. Ends beyond the chat stay beyond it; the last
        is less than the first where nothing between them was read.
        """
        before, after = bisect_left(self.file_indices, first), bisect_right(self.file_indices, last) - 1
        return self._index(first, before), self._index(last, after)

    def ends(self, memory: ParsedMemory) -> list[int]:
        """Hints at the newest message that is covered, the best first."""
        through = memory.summarized_through
        index = None if through is None else self.span(through, through)[1]
        return [end for end in (index, self.newest_ghost) if end is not None and end < len(self.file_indices)]

    def _index(self, place: int, found: int) -> int:
        beyond = place - (self.file_indices[-1] if self.file_indices else -1)
        return len(self.file_indices) - 1 + beyond if beyond > 0 else min(place, found)


def claims_of(memory: ParsedMemory, where: Whereabouts) -> tuple[list[tuple[int, Claim]], list[Repair]]:
    """What the snippets of a memory claim, each with the snippet's number; and what is to be told of them."""
    repairs: list[Repair] = []
    any_known = any(name in where.named for snippet in memory.snippets for name in snippet.message_ids)
    claims = []
    for number, snippet in enumerate(memory.snippets):
        names = snippet.message_ids if any_known or snippet.range is None else ()
        span = _of_names(number, names, where, repairs) if names else _of_range(number, snippet, where, repairs)
        if span is None or span[0] <= span[1]:
            claims.append((number, Claim(snippet.layer, span, snippet.merged)))
        else:
            repairs.append(Repair(NOT_TAKEN, number, "the messages it covers are not in the chat"))
    return claims, repairs


_NOTHING = (0, -1)


def _of_names(number: int, names: Sequence[str], where: Whereabouts, repairs: list[Repair]) -> tuple[int, int]:
    known = [where.named[name] for name in names if name in where.named]
    if known and len(known) < len(names):
        told = f"of the {len(names)} messages it names only {len(known)} are in the chat"
        repairs.append(Repair("messages_missing", number, told))
    return (min(known), max(known)) if known else _NOTHING


def _of_range(number: int, snippet: ParsedSnippet, where: Whereabouts, repairs: list[Repair]) -> tuple[int, int] | None:
    if snippet.range is None:
        return None
    first, last = sorted(snippet.range)
    if (first, last) != snippet.range:
        repairs.append(Repair("range_reversed", number, f"its range was written backwards, from {last} to {first}"))
    return where.span(first, last)


def _names_in(memory: ParsedMemory) -> set[str]:
    return {name for snippet in memory.snippets for name in snippet.message_ids} | memory.ghosted_ids


class Layout:
    """What a memory must know of a chat that is being read, a few bytes for each message."""

    def __init__(self, memory: ParsedMemory | None) -> None:
        self._memory = memory or ParsedMemory()
        self._wanted = _names_in(self._memory)
        self._file_indices = array("q")
        self._marks = bytearray()
        self._named: dict[str, int] = {}

    def add(self, message: ParsedMessage) -> None:
        """Note the next message of the chat."""
        index = len(self._file_indices)
        place = index if message.file_index is None else message.file_index
        self._file_indices.append(place)
        names = {name for name in (message.id, message.mark) if name is not None}
        for name in names & self._wanted:
            self._named.setdefault(name, index)
        listed = place in self._memory.ghosted or not names.isdisjoint(self._memory.ghosted_ids)
        self._marks.append(_FLAGGED if message.ghosted else _LISTED if listed and _may_be_ghost(message) else 0)

    @property
    def whereabouts(self) -> Whereabouts:
        """Where the messages are, once all are noted."""
        newest = self.ghosted.rfind(1)
        return Whereabouts(self._file_indices, self._named, newest if newest >= 0 else None)

    @property
    def ghosted(self) -> bytes:
        """A byte per message, 1 where the file says that a summary stands for it.

        Lists of ghosts go stale with every deletion: they are believed where no message bears the mark (older files).
        """
        kind = _FLAGGED if _FLAGGED in self._marks else _LISTED
        return bytes(self._marks).translate(bytes(int(mark == kind) for mark in range(256)))


def _may_be_ghost(message: ParsedMessage) -> bool:
    """Comments were never sent, so no summary stands for one."""
    return not (message.hidden and message.role is Role.SYSTEM)


def locate(session: Session, chat_key: int, total: int, memory: ParsedMemory) -> Whereabouts:
    """Where the messages of a stored chat are, if it is the chat of the memory's file: in their places, or by ids."""
    wanted = _names_in(memory)
    named = places.of_ids(session, chat_key, sorted(wanted))
    if wanted - named.keys():
        for index, extra in places.with_extra(session, chat_key):
            mark = mark_of(extra)
            if mark in wanted:
                named.setdefault(mark, index)
    ghosts = [place for place in memory.ghosted if place < total]
    ghosts += [named[name] for name in memory.ghosted_ids if name in named]
    return Whereabouts(range(total), named, max(ghosts, default=None))
