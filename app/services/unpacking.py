"""From the records of a file of our own to rows ready to be stored: measured, in batches, in a temporary file."""

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple

from app.core.model import Role
from app.formats.turnfold_fields import Record
from app.formats.turnfold_reading import Numbered, invalid
from app.services.ports import Counter
from app.services.recording import Draft, measure, row_of
from app.store.history import TRAITS

_AT_ONCE = 1000
_CHARS_AT_ONCE = 4 * 1024 * 1024

_REFERRING = frozenset({"leaves", "parent_id", "snippet_id", "number", "version", "covered"})


class Row(NamedTuple):
    """The columns of a row but for keys, the line it came from, and what it refers to by id."""

    line: int
    columns: dict[str, Any]
    refers: Mapping[str, Any]


@dataclass
class Unpacked:
    """Rows in a temporary file, by part, in the order of the file."""

    spool: IO[bytes]
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, part: str, rows: list[Row]) -> None:
        """Write a batch; not while one is read."""
        self._places[part].append(self.spool.tell())
        self.counts[part] += len(rows)
        pickle.dump(rows, self.spool)

    def of(self, part: str) -> Iterator[list[Row]]:
        """The rows of a part, batch by batch."""
        for place in self._places[part]:
            self.spool.seek(place)
            yield pickle.load(self.spool)  # written above, by this process, into a file without a name


def unpack(count: Counter, records: Iterable[Numbered], spool: IO[bytes]) -> Unpacked:
    """All records as rows. Raises InvalidRequest where messages are out of order, and whatever reading raises."""
    unpacked = Unpacked(spool)
    for some in _batches(records):
        part = some[0].part
        if part == "message":
            _check_places(some, unpacked.counts[part])
        unpacked.add(part, list(_MAKERS[part](count, some)))
    return unpacked


def _batches(records: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """Neighbours of one part, as many as are held at once."""
    some: list[Numbered] = []
    chars = 0
    for record in records:
        if some and (record.part != some[0].part or len(some) == _AT_ONCE or chars > _CHARS_AT_ONCE):
            yield some
            some, chars = [], 0
        some.append(record)
        chars += record.size
    if some:
        yield some


def _check_places(some: Sequence[Numbered], start: int) -> None:
    for index, message in enumerate(some, start):
        if message.record["index"] != index:
            raise invalid(message.line, f"message: “index” must be {index}; a message is missing, doubled or misplaced")


def _messages(count: Counter, some: Sequence[Numbered]) -> Iterator[Row]:
    for message, said in zip(some, _said(count, some), strict=True):
        record = message.record
        more = {"position": record["index"], "skipped": record["skipped"], "revision": record["revision"]}
        yield Row(message.line, {**said, **more}, _refers(record))


def _kept(count: Counter, some: Sequence[Numbered]) -> Iterator[Row]:
    for kept, said in zip(some, _said(count, some), strict=True):
        columns = {name: kept.record[name] for name in ("id", "why", "after_id", "kept_at")}
        whole = {**said, "skipped": kept.record["skipped"]}
        snapshot = {name: whole[name] for name in TRAITS}
        yield Row(kept.line, {**columns, "position": kept.record["index"], "snapshot": snapshot}, {})


def _said(count: Counter, some: Sequence[Numbered]) -> Iterator[dict[str, Any]]:
    """The columns that hold what is said, with those that follow from it."""
    drafts = [_draft(numbered.record) for numbered in some]
    for numbered, draft, size in zip(some, drafts, measure(count, drafts), strict=True):
        yield row_of(0, 0, draft, size, numbered.record["created_at"])


def _draft(record: Record) -> Draft:
    return Draft(
        role=Role(record["role"]),
        content=record["content"],
        id=record["id"],
        name=record["name"],
        hidden=record["hidden"],
        pinned=record["pinned"],
        omitted=record["history"] == "omit",
        tool_calls=record["tool_calls"],
        tool_call_id=record["tool_call_id"],
        extra=record["extra"],
    )


def _texts(count: Counter, some: Sequence[Numbered]) -> Iterator[Row]:
    """Snippets and their earlier texts: counted anew, whatever wrote the file."""
    sizes = count.count_many([numbered.record["text"] for numbered in some])
    for numbered, tokens in zip(some, sizes, strict=True):
        columns = {name: value for name, value in numbered.record.items() if name not in _REFERRING}
        yield Row(numbered.line, {**columns, "tokens": tokens}, _refers(numbered.record))


def _steps(_count: Counter, some: Sequence[Numbered]) -> Iterator[Row]:
    for step in some:
        columns = {name: step.record[name] for name in ("kind", "made_at")}
        yield Row(step.line, columns, _refers(step.record))


def _views(_count: Counter, some: Sequence[Numbered]) -> Iterator[Row]:
    for view in some:
        yield Row(view.line, {**view.record, "revision": 0}, {})


def _refers(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name in _REFERRING}


_MAKERS: Mapping[str, Callable[[Counter, Sequence[Numbered]], Iterator[Row]]] = {
    "message": _messages,
    "snippet": _texts,
    "kept_message": _kept,
    "snippet_version": _texts,
    "undo_step": _steps,
    "view": _views,
}
