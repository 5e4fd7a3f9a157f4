"""What every reader of chat files hands over: a chat, its messages as a stream, the memory that came with it, and what
was wrong with the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.core.limits import is_id
from app.core.model import Role

MAX_RECORD_CHARS = 16 * 1024 * 1024
"""The most characters of a file that are held at once: one message with all that hangs on it."""

MAX_LISTED_WARNINGS = 100


@dataclass(frozen=True, slots=True)
class Warning:
    """Something about a file a person should know. `code` is stable, `detail` names the place and what was done."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message of a file, safe to store: no NUL, no lone surrogates, JSON values nested and numbers
    as long as app.core.limits allows.

    `content` is None only beside `tool_calls`, each of which is an object with a string `id`. `id` is one a message
    may have (`usable_id`), but nobody has checked that it occurs once. `created_at` is in UTC. `extra` holds what
    the file said beyond this, so that an export can say it again.

    `file_index` is its 0-based place among the messages of the file, those that could not be read counted too; None
    where that is its place among the messages read. `mark` is the name that a memory may know it by. `ghosted`: a
    summary of the program that wrote the file stood for it.
    """

    role: Role
    content: str | None
    name: str | None = None
    id: str | None = None
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    created_at: datetime | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    file_index: int | None = None
    mark: str | None = None
    ghosted: bool = False


@dataclass(frozen=True, slots=True)
class ParsedSnippet:
    """One summary of a file, in one line and not blank. `layer` counts from 0, `place` is its 0-based place in the list
    that the file has for this layer.

    `range`: first and last `file_index` of what it covers, inclusive, as the file says it: perhaps reversed, negative
    or beyond the end. `message_ids`: the same as ids or marks of messages. Both may be missing. `merged`: how many
    snippets of the layer above it replaced, at least 1. `promoted`: it came from that layer as it is. `extra` holds
    what the file said beyond this.
    """

    text: str
    layer: int
    place: int
    range: tuple[int, int] | None = None
    message_ids: tuple[str, ...] = ()
    merged: int = 1
    created_at: datetime | None = None
    promoted: bool = False
    regenerated: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedMemory:
    """The memory of one chat, in reading order: deepest layer first, oldest first. Nobody has checked that it fits.

    `summarized_through`, `ghosted` (places) and `ghosted_ids` are hints of the file: the `file_index` up to which all
    is summarized, -1 for nothing, and the messages that are ghosted. `extra` holds what the store said beyond this.
    """

    snippets: tuple[ParsedSnippet, ...] = ()
    summarized_through: int | None = None
    ghosted: frozenset[int] = frozenset()
    ghosted_ids: frozenset[str] = frozenset()
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParsedChat:
    """A chat file being read.

    `messages` reads the file as it is consumed, once; `warnings` fills meanwhile and is complete when `messages` is
    exhausted. `chat_id` is the file's own, if it has one that a chat may have. `extra` holds what the file said of the
    chat beyond this, by the name of the format, so that an export can say it again.
    """

    messages: Iterator[ParsedMessage]
    warnings: list[Warning]
    title: str | None = None
    user_name: str | None = None
    character_name: str | None = None
    chat_id: str | None = None
    memory: ParsedMemory | None = None
    extra: dict[str, Any] = field(default_factory=dict)


class WarningLog:
    """Collects warnings: the first hundred as they are, the rest as a number, so that a ruined file fits in memory."""

    def __init__(self) -> None:
        self.entries: list[Warning] = []
        self._unlisted = 0
        self._summaries = 0

    def add(self, code: str, detail: str) -> None:
        """Warn of one place in the file."""
        if len(self.entries) - self._summaries < MAX_LISTED_WARNINGS:
            self.entries.append(Warning(code, detail))
            return
        if self._unlisted:
            self.entries.pop()
        self._unlisted += 1
        self.entries.append(Warning("more", f"{self._unlisted} more warnings are not listed."))

    def summarize(self, code: str, detail: str) -> None:
        """Warn of the file as a whole; comes first and is always listed."""
        self.entries.insert(0, Warning(code, detail))
        self._summaries += 1


def usable_id(value: object) -> str | None:
    """`value` if it can name a chat or a message (http-api.md, Conventions), else None."""
    return value if isinstance(value, str) and is_id(value) else None
