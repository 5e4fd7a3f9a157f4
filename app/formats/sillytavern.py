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
from app.formats.parsed import MAX_RECORD_CHARS, ParsedChat, ParsedMessage, WarningLog, usable_id

HEADER_KEYS = frozenset({"chat_metadata", "user_name", "character_name", "create_date"})
MESSAGE_KEYS = frozenset({"mes", "is_user", "is_system", "send_date", "swipes", "swipe_id"})

# What an export derives from the message itself; all other fields are kept for it under extra["sillytavern"].
_DERIVED = frozenset({"mes", "name", "is_user", "is_system"})
# Newer versions write this where a name was.
_NO_NAME = "unused"
# A header without names: they are taken from the speakers of the first messages.
_OPENING = 20
_SKIPPED_CHARS = 64 * 1024
# Written by /sys and /comment. SillyTavern itself sends narration to a chat model in the system role, and so a reader
# of the chat takes it: as stage direction, not as a reply that would close a turn.
_NOTES = frozenset({"narrator", "comment"})


class _Line(NamedTuple):
    number: int
    fields: dict[str, Any]


def read_sillytavern(text: TextIO, log: WarningLog) -> ParsedChat:
    """A solo or group chat, with or without a header. Whatever cannot be read is a warning; raises nothing."""
    lines = _objects(text, log)
    first = next(lines, None)
    header: dict[str, Any] = {}
    if first and "mes" not in first.fields and HEADER_KEYS & first.fields.keys():
        header = first.fields
    elif first:
        lines = chain([first], lines)
    messages = _messages(lines, log)
    opening = list(islice(messages, _OPENING))
    names = {key: name for key, name in header.items() if name != _NO_NAME}
    character_name = _name(names.get("character_name")) or _only_name(opening, Role.ASSISTANT)
    return ParsedChat(
        messages=chain(opening, messages),
        warnings=log.entries,
        title=character_name,
        user_name=_name(names.get("user_name")) or _only_name(opening, Role.USER),
        character_name=character_name,
        chat_id=usable_id(_object(header.get("chat_metadata")).get("integrity")),
    )


def _objects(text: TextIO, log: WarningLog) -> Iterator[_Line]:
    for number, line in _lines(text, log):
        try:
            fields, replaced = storable(decode(line), line)
        except BrokenJson as error:
            log.add("corrupt_line", f"Line {number} was skipped: {error}.")
            continue
        if not isinstance(fields, dict):
            log.add("corrupt_line", f"Line {number} was skipped: it is no JSON object.")
            continue
        if replaced:
            log.add("replaced_characters", f"Line {number} holds characters that are no text; they became U+FFFD.")
        yield _Line(number, fields)


def _lines(text: TextIO, log: WarningLog) -> Iterator[tuple[int, str]]:
    number = 0
    while line := text.readline(MAX_RECORD_CHARS):
        number += 1
        if len(line) == MAX_RECORD_CHARS and not line.endswith("\n"):
            _skip_rest_of_line(text)
            log.add("too_long", f"Line {number} was skipped: it is longer than 16 MiB.")
        elif not line.isspace():
            yield number, line


def _skip_rest_of_line(text: TextIO) -> None:
    while (rest := text.readline(_SKIPPED_CHARS)) and not rest.endswith("\n"):
        pass


def _messages(lines: Iterator[_Line], log: WarningLog) -> Iterator[ParsedMessage]:
    ghosted = 0
    for number, fields in lines:
        content = fields.get("mes")
        if not isinstance(content, str):
            log.add("corrupt_line", f"Line {number} was skipped: it has no message text (“mes”).")
        elif is_too_long(content):
            log.add("too_long", f"Line {number} was skipped: its text is longer than 1 MiB.")
        else:
            ghosted += _is_ghosted(fields)
            yield _message(content, fields)
    if ghosted:
        log.summarize(
            "ghosted_elsewhere",
            f"{ghosted} messages were hidden by the Summaryception extension. They are visible here, since no summary "
            "covers them yet: import the extension's memory too, or let the chat fold.",
        )


def _message(content: str, fields: dict[str, Any]) -> ParsedMessage:
    kept = {key: value for key, value in fields.items() if key not in _DERIVED}
    return ParsedMessage(
        role=_role(fields),
        content=content,
        name=_name(fields.get("name")),
        hidden=fields.get("is_system") is True and not _is_ghosted(fields),
        created_at=parse_send_date(fields.get("send_date")),
        extra={"sillytavern": kept} if kept else {},
    )


def _role(fields: Mapping[str, Any]) -> Role:
    if fields.get("is_user") is True:
        return Role.USER
    kind = _object(fields.get("extra")).get("type")
    return Role.SYSTEM if isinstance(kind, str) and kind in _NOTES else Role.ASSISTANT


def _is_ghosted(fields: Mapping[str, Any]) -> bool:
    """Whether the extension hid it; its `is_system` is then not a person's doing."""
    return _object(fields.get("extra")).get("sc_ghosted") is True


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _only_name(messages: list[ParsedMessage], role: Role) -> str | None:
    """The name all messages of a role bear; None where several speak (a group)."""
    names = {message.name for message in messages if message.role is role and not message.hidden}
    return names.pop() if len(names) == 1 else None
