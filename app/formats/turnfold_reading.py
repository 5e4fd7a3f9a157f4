"""Reading a file of our own: strictly, since a program wrote it. What is wrong is refused and named by its line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from app.errors import InvalidRequest, UnsupportedComponent
from app.formats.decoding import ByteSource, decoded
from app.formats.lenient_json import BrokenJson, decode, storable
from app.formats.parsed import MAX_RECORD_CHARS, Warning, WarningLog
from app.formats.turnfold import CHAT, CHAT_SHAPE, END, KEY, PARTS, VERSION
from app.formats.turnfold_fields import Record, Shape, Unknown, Wrong, read_record

# A message that came in with a line of 16 MiB is one of ours with a little more around it.
_MAX_LINE_CHARS = 2 * MAX_RECORD_CHARS


@dataclass(frozen=True, slots=True)
class Numbered:
    """A record, the part it belongs to, the number of its line and how many characters that has."""

    line: int
    part: str
    record: Record
    size: int


@dataclass(frozen=True, slots=True)
class TurnfoldFile:
    """A file being read. `records` reads it as it is consumed, once, and `warnings` fills meanwhile.

    Only what a record says by itself is checked: not whether what it refers to is there. Consuming `records` raises
    InvalidRequest and UnsupportedComponent, at the latest at its end, where a file that was cut off is noticed.
    """

    chat: Record
    records: Iterator[Numbered]
    warnings: list[Warning]


def read_turnfold(stream: ByteSource) -> TurnfoldFile:
    """Begin to read a seekable stream, which must stay open meanwhile. Raises InvalidRequest, UnsupportedComponent."""
    log = WarningLog()
    lines = _objects(decoded(stream), log)
    number, header, _ = next(lines, (1, {}, 0))
    parts = _parts(number, header)
    chat = _record(number, CHAT, CHAT_SHAPE, header.get(CHAT))
    return TurnfoldFile(chat, _records(lines, parts), log.entries)


def invalid(number: int, detail: str) -> InvalidRequest:
    """A fault of one line, told as the end of a sentence."""
    return InvalidRequest(
        f"Line {number}: {detail}. Nothing was imported.", [{"loc": ["file", number], "msg": f"{detail}."}]
    )


def _objects(text: TextIO, log: WarningLog) -> Iterator[tuple[int, dict[str, Any], int]]:
    number = 0
    while line := text.readline(_MAX_LINE_CHARS):
        number += 1
        if len(line) == _MAX_LINE_CHARS:
            raise invalid(number, "it is longer than 32 MiB")
        if line.isspace():
            continue
        try:
            value, replaced = storable(decode(line), line)
        except BrokenJson as error:
            raise invalid(number, f"{error}; the file is damaged or was cut off") from None
        if not isinstance(value, dict):
            raise invalid(number, "it is no JSON object")
        if replaced:
            log.add("replaced_characters", f"Line {number} holds characters that are no text; they became U+FFFD.")
        yield number, value, len(line)


def _parts(number: int, header: dict[str, Any]) -> Sequence[str]:
    """The parts that the file announces, if this version can read them all."""
    about = header.get(KEY)
    if not isinstance(about, dict):
        raise invalid(number, f"it is not the header of a Turnfold file: “{KEY}” is missing")
    version, parts = about.get("version"), about.get("parts")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise invalid(number, f"“{KEY}.version” must be a whole number from 1")
    if version > VERSION:
        raise _unsupported(f"version {version} of the format; it reads version {VERSION}")
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise invalid(number, f"“{KEY}.parts” must be a list of names")
    extra = [*(part for part in parts if part not in PARTS), *(header.keys() - {KEY, CHAT}), *(about.keys() - _ABOUT)]
    if extra:
        raise _unsupported(f"the part “{extra[0][:60]}”")
    return parts


_ABOUT = frozenset({"version", "parts"})


def _records(lines: Iterator[tuple[int, dict[str, Any], int]], parts: Sequence[str]) -> Iterator[Numbered]:
    counts = dict.fromkeys(parts, 0)
    number = 1
    for number, value, size in lines:
        if len(value) != 1:
            raise invalid(number, "it must be an object with one key, which names its part")
        [(part, fields)] = value.items()
        if part == END:
            _check_end(number, fields, counts)
            break
        if part not in PARTS:
            raise _unsupported(f"the part “{part[:60]}” (line {number})")
        if part not in counts:
            raise invalid(number, f"the part “{part}” is not announced in the header")
        counts[part] += 1
        yield Numbered(number, part, _record(number, part, PARTS[part], fields), size)
    else:
        raise invalid(number + 1, f"the file was cut off: its last line, “{END}”, is missing")
    if (more := next(lines, None)) is not None:
        raise invalid(more[0], f"something follows the last line, “{END}”")


def _check_end(number: int, fields: Any, counts: dict[str, int]) -> None:
    if fields != counts:
        found = ", ".join(f"{count} × {part}" for part, count in counts.items()) or "nothing"
        raise invalid(number, f"lines are missing or doubled: the end counts others than what was read ({found})")


def _record(number: int, part: str, shape: Shape, value: Any) -> Record:
    try:
        record = read_record(shape, value)
        _check_together(part, record)
    except Wrong as error:
        raise invalid(number, f"{part}: {error}") from None
    except Unknown as error:
        raise _unsupported(f"{error} (line {number}, {part})") from None
    return record


def _check_together(part: str, record: Record) -> None:
    """What the fields of a record say of each other. Raises Wrong."""
    if part in ("message", "kept_message") and record["content"] is None and not record["tool_calls"]:
        raise Wrong("“content” may be missing only beside “tool_calls”")
    if part == "message" and record["leaves"] and (record["hidden"] or record["pinned"] or record["history"] == "omit"):
        raise Wrong("no snippet covers a message that is hidden, pinned or omitted")
    if part == "snippet" and (record["state"] == "absorbed") != (record["parent_id"] is not None):
        raise Wrong("a snippet has a “parent_id” exactly when it is absorbed")
    if part == "undo_step":
        _check_step(record)


def _check_step(step: Record) -> None:
    if (step["kind"] in ("edit", "regenerate")) != (step["version"] is not None):
        raise Wrong("a step has a “version” exactly when it changed a text")
    if (step["kind"] == "delete") != (step["covered"] is not None):
        raise Wrong("a step has “covered” exactly when it deleted a snippet")


def _unsupported(what: str) -> UnsupportedComponent:
    return UnsupportedComponent(
        f"The file holds something this server does not know: {what}. Update Turnfold; nothing was imported."
    )
