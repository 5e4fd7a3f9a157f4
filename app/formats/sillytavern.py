"""SillyTavern's chat files: a JSON object a line, a header first in most of them, then the messages.

An import is a person's old file: what can be taken is taken, and what cannot is named by its line.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, TextIO

from app.core.limits import is_too_long
from app.core.model import Role
from app.formats.dates import parse_send_date
from app.formats.lenient_json import BrokenJson, decode, storable
from app.formats.memory_file import find_memory
from app.formats.parsed import MAX_RECORD_CHARS, ParsedChat, ParsedMessage, WarningLog, usable_id
from app.formats.sillytavern_marks import MARKS, Marks, read_marks
from app.formats.summaryception import STORE_KEY

HEADER_KEYS = frozenset({"chat_metadata", "user_name", "character_name", "create_date"})
MESSAGE_KEYS = frozenset({"mes", "is_user", "is_system", "send_date", "swipes", "swipe_id"})

# What an export derives from chat and message themselves; all other fields are kept for it under extra["sillytavern"].
_DERIVED = frozenset({"mes", "name", "is_user", "is_system"})
_NAMES = frozenset({"user_name", "character_name"})
_GHOSTED = "sc_ghosted"
_NO_MARKS = Marks()
# Newer versions write this where a name was.
_NO_NAME = "unused"
# A header without names: they are taken from the speakers of the first messages.
_OPENING = 20
_SKIPPED_CHARS = 64 * 1024
# Written by /sys and /comment. SillyTavern itself sends narration to a chat model in the system role, and so a reader
# of the chat takes it: as stage direction, not as a reply that would close a turn.
_NOTES = frozenset({"narrator", "comment"})


class _Line(NamedTuple):
    """A line that is not blank: its number in the file, and what it holds; None if it cannot be read."""

    number: int
    fields: dict[str, Any] | None
    is_header: bool


def read_sillytavern(text: TextIO, log: WarningLog) -> ParsedChat:
    """A solo or group chat, with or without a header. Whatever cannot be read is a warning; raises nothing."""
    lines = _lines(text, log)
    first = next(lines, None)
    if first and not first.is_header:
        lines = chain([first], lines)
    header = first.fields or {} if first and first.is_header else {}
    messages = _messages(lines, log)
    opening = list(islice(messages, _OPENING))
    ours = _object(_object(header.get("chat_metadata")).get(MARKS))
    names = {key: name for key, name in {**header, **ours}.items() if name != _NO_NAME}
    character_name = _name(names.get("character_name")) or _only_name(opening, Role.ASSISTANT)
    return ParsedChat(
        messages=chain(opening, messages),
        warnings=log.entries,
        title=_name(ours.get("title")) or character_name,
        user_name=_name(names.get("user_name")) or _only_name(opening, Role.USER),
        character_name=character_name,
        chat_id=usable_id(_object(header.get("chat_metadata")).get("integrity")),
        memory=find_memory({"chat_metadata": header.get("chat_metadata")}, log),
        extra=_kept_of_header(header),
    )


def _kept_of_header(header: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in header.items() if key not in _NAMES}
    metadata = kept.get("chat_metadata")
    if isinstance(metadata, dict):
        kept["chat_metadata"] = {key: value for key, value in metadata.items() if key not in (STORE_KEY, MARKS)}
    return {"sillytavern": kept} if kept else {}


def _lines(text: TextIO, log: WarningLog) -> Iterator[_Line]:
    number = 0
    while line := text.readline(MAX_RECORD_CHARS):
        number += 1
        if len(line) == MAX_RECORD_CHARS and not line.endswith("\n"):
            _skip_rest_of_line(text)
            log.add("too_long", f"Line {number} was skipped: it is longer than 16 MiB.")
            yield _Line(number, None, _mentions_header(line))
        elif not line.isspace():
            yield _line(number, line, log)


def _line(number: int, line: str, log: WarningLog) -> _Line:
    try:
        fields, replaced = storable(decode(line), line)
    except BrokenJson as error:
        log.add("corrupt_line", f"Line {number} was skipped: {error}.")
        return _Line(number, None, _mentions_header(line))
    if not isinstance(fields, dict):
        log.add("corrupt_line", f"Line {number} was skipped: it is no JSON object.")
        return _Line(number, None, is_header=False)
    if replaced:
        log.add("replaced_characters", f"Line {number} holds characters that are no text; they became U+FFFD.")
    return _Line(number, fields, "mes" not in fields and not HEADER_KEYS.isdisjoint(fields))


def _mentions_header(line: str) -> bool:
    """Whether a line that cannot be read seems to have been a header: places are counted from the line after it."""
    return '"mes"' not in line and any(f'"{key}"' in line for key in HEADER_KEYS)


def _skip_rest_of_line(text: TextIO) -> None:
    while (rest := text.readline(_SKIPPED_CHARS)) and not rest.endswith("\n"):
        pass


def _messages(lines: Iterator[_Line], log: WarningLog) -> Iterator[ParsedMessage]:
    for index, (number, fields, _) in enumerate(lines):
        content = _text(fields) if fields is not None else None
        if fields is None:
            continue  # its warning is written
        if content is None:
            log.add("corrupt_line", f"Line {number} was skipped: it has no message text (“mes”).")
        elif is_too_long(content):
            log.add("too_long", f"Line {number} was skipped: its text is longer than 1 MiB.")
        else:
            yield _message(index, content, fields)


def _text(fields: Mapping[str, Any]) -> str | None:
    """What a message says; where that is missing, the swipe that was chosen."""
    if isinstance(fields.get("mes"), str):
        return str(fields["mes"])
    swipes, chosen = fields.get("swipes"), fields.get("swipe_id", 0)
    if not isinstance(swipes, list) or not isinstance(chosen, int) or not 0 <= chosen < len(swipes):
        return None
    return swipes[chosen] if isinstance(swipes[chosen], str) else None


def _message(index: int, content: str, fields: Mapping[str, Any]) -> ParsedMessage:
    extra = _object(fields.get("extra"))
    ghosted = extra.get(_GHOSTED) is True
    ours = read_marks(extra[MARKS]) if MARKS in extra else _NO_MARKS
    name = _name(fields.get("name"))
    # What the extension hid is not a person's doing, nor is what was not replayed where the file was exported.
    off = fields.get("is_system") is True and not ghosted
    return ParsedMessage(
        role=Role.TOOL if ours.role else _role(fields),
        content=None if ours.wordless and ours.tool_calls and not content else content,
        name=None if name == ours.given_name else name,
        id=ours.id,
        hidden=off and (ours.hidden or not ours.omitted),
        pinned=ours.pinned,
        omitted=off and ours.omitted,
        created_at=parse_send_date(fields.get("send_date")),
        tool_calls=ours.tool_calls,
        tool_call_id=ours.tool_call_id,
        extra={**ours.extra, **_kept(fields, extra, ours)},
        file_index=index,
        mark=_mark(extra),
        ghosted=ghosted,
    )


def _kept(fields: Mapping[str, Any], extra: Mapping[str, Any], ours: Marks) -> dict[str, Any]:
    kept = {key: value for key, value in fields.items() if key not in _DERIVED}
    if _GHOSTED in extra or MARKS in extra:
        own_id = {MARKS: {"id": ours.id}} if ours.id else {}  # an export says it again
        kept["extra"] = {key: value for key, value in extra.items() if key not in (_GHOSTED, MARKS)} | own_id
    return {"sillytavern": kept} if kept else {}


def mark_of(extra: Mapping[str, Any]) -> str | None:
    """The name that a fork of the extension gave a message, from what is kept of it (`ParsedMessage.extra`)."""
    return _mark(_object(_object(extra.get("sillytavern")).get("extra"))) or _mark(extra)


def _mark(extra: Mapping[str, Any]) -> str | None:
    mark = extra.get("sc_id")
    return mark if isinstance(mark, str) else None


def _role(fields: Mapping[str, Any]) -> Role:
    if fields.get("is_user") is True:
        return Role.USER
    kind = _object(fields.get("extra")).get("type")
    return Role.SYSTEM if isinstance(kind, str) and kind in _NOTES else Role.ASSISTANT


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _only_name(messages: list[ParsedMessage], role: Role) -> str | None:
    """The name all messages of a role bear; None where several speak (a group)."""
    names = {message.name for message in messages if message.role is role and not message.hidden}
    return names.pop() if len(names) == 1 else None
