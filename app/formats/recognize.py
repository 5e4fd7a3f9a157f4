"""Which kind of chat file a stream holds, told from its content, and the chat in it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import TextIO

from app.errors import InvalidRequest
from app.formats.decoding import ByteSource, decoded
from app.formats.lenient_json import BrokenJson, JsonCursor, decode
from app.formats.openai import MESSAGES_KEY, read_openai
from app.formats.parsed import ParsedChat, WarningLog
from app.formats.sillytavern import HEADER_KEYS, MESSAGE_KEYS, read_sillytavern
from app.formats.turnfold import KEY

READERS: Mapping[str, Callable[[TextIO, WarningLog], ParsedChat]] = {
    "sillytavern": read_sillytavern,
    "openai": read_openai,
}

TURNFOLD = "turnfold"
"""Our own format, which is no other program's chat: turnfold_reading reads it."""

_MEMORY = "memory"
# Fields of a memory's export and of a group's file, which no chat has.
_MEMORY_KEYS = frozenset({"layers", "memories", "members", "past_metadata"})
_READ = (
    "a chat that was exported from here (.turnfold.jsonl), a SillyTavern chat (.jsonl) and OpenAI messages (a JSON "
    "array, or an object with “messages”)"
)
# How far into a file whose beginning is damaged a readable SillyTavern line is looked for.
_LINES_TRIED = 100
_LINE_CHARS = 1024 * 1024


def open_chat(stream: ByteSource, *, format: str | None = None) -> ParsedChat:
    """Begin to read a chat from a seekable stream, which must stay open while `messages` is consumed.

    `format` ("sillytavern", "openai") is not questioned; without it the content decides. Raises InvalidRequest for an
    unknown format, a file no reader knows, and one with not a single readable message although it is not empty;
    nothing after that, but warnings.
    """
    if format is not None and format not in READERS:
        raise InvalidRequest(f"Unknown format. Known are: {', '.join(sorted([*READERS, TURNFOLD]))}.")
    kind = format or recognize(stream)
    if kind == _MEMORY:
        raise InvalidRequest(
            "The file holds a memory and no chat: hand it in beside the chat's file as the field “memory”, or, for a "
            "chat that is here already, post it to /v1/chats/{chat_id}/import (in the dashboard: open the chat, Care, "
            "Import a memory)."
        )
    if kind is None:
        raise InvalidRequest(f"The file is of no known kind. What can be read: {_READ}.")
    chat = READERS[kind](decoded(stream), WarningLog())
    first = list(islice(chat.messages, 1))
    if not first and chat.warnings:
        raise InvalidRequest(f"No message in the file can be read. {chat.warnings[0].detail}")
    return replace(chat, messages=chain(first, chat.messages))


def recognize(stream: ByteSource) -> str | None:
    """What a stream holds: a format, or `memory` for a memory without a chat; None for what nobody knows."""
    cursor = JsonCursor(decoded(stream))
    begin = cursor.peek()
    kind = "openai" if begin == "[" else _kind_of_object(cursor) if begin == "{" else None
    return kind or _kind_of_damaged(decoded(stream))


def _kind_of_object(cursor: JsonCursor) -> str | None:
    """A list of messages decides at once, as do fields of a message; those of a header only if no messages follow."""
    header_seen = False
    try:
        for key in cursor.each_key():
            if key == MESSAGES_KEY and cursor.peek() == "[":
                return "openai"
            if key == KEY:
                return TURNFOLD
            if key in MESSAGE_KEYS:
                return "sillytavern"
            if key in _MEMORY_KEYS:
                return _MEMORY
            header_seen = header_seen or key in HEADER_KEYS
    except BrokenJson:
        pass  # a damaged first line says no more than it said so far
    return "sillytavern" if header_seen else None


def _kind_of_damaged(text: TextIO) -> str | None:
    for line in islice(iter(lambda: text.readline(_LINE_CHARS), ""), _LINES_TRIED):
        try:
            value = decode(line)
        except BrokenJson:
            continue
        if isinstance(value, dict) and isinstance(value.get("mes"), str):
            return "sillytavern"
    return None
