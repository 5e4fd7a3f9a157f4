"""Taking in a chat from a file: all of it in one transaction, token counts included, or nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO
from uuid import uuid4

from sqlmodel import Session

from app.errors import Conflict
from app.formats.parsed import ParsedChat, ParsedMessage, Warning
from app.formats.recognize import open_chat
from app.services.ports import Counter, Runner
from app.services.recording import Draft, insert
from app.services.starting import queue_after_append
from app.store import chats
from app.store.engine import Database
from app.store.tables import Chat

_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in, and what to know about it."""

    chat_id: str
    messages: int
    snippets: int
    warnings: list[Warning]


@dataclass(frozen=True)
class Importing:
    """Imports chats."""

    db: Database
    count: Counter
    runner: Runner

    def load(self, stream: BinaryIO, *, chat_id: str | None, title: str | None, format: str | None) -> Imported:
        """Read a file that can be rewound. Raises InvalidRequest, and Conflict when chat_id is taken.

        A file's own id that is taken gives way to a new one, with a warning.
        """
        parsed = open_chat(stream, format=format)
        extra: list[Warning] = []
        with self.db.write() as session:
            if chat_id is not None and chats.find(session, chat_id):
                raise Conflict(
                    f"There is a chat {chat_id!r} already; import under another chat_id, or delete it first."
                )
            free_id = chat_id or _free_id(session, parsed, extra)
            chat = chats.add(session, free_id, _fields(parsed, title))
            total = self._store(session, chat, parsed.messages, extra)
            session.flush()
            job, _ = queue_after_append(session, chat)
            job_id = job.id if job else None
        if job_id is not None:
            self.runner.poke(job_id)
        return Imported(free_id, total, 0, [*parsed.warnings, *extra])

    def _store(self, session: Session, chat: Chat, found: Iterable[ParsedMessage], warnings: list[Warning]) -> int:
        total, seen = 0, set[str]()
        for some in _batches(found):
            drafts = [_draft(message, seen, warnings) for message in some]
            tokens = self.count.count_many([draft.content or "" for draft in drafts])
            total = insert(session, chat, zip(drafts, tokens, strict=True), total)
        return total


def _free_id(session: Session, parsed: ParsedChat, warnings: list[Warning]) -> str:
    if parsed.chat_id is None:
        return str(uuid4())
    if chats.find(session, parsed.chat_id) is None:
        return parsed.chat_id
    new_id = str(uuid4())
    warnings.append(Warning("chat_id_taken", f"The file's own id {parsed.chat_id} is taken; the chat is {new_id}."))
    return new_id


def _fields(parsed: ParsedChat, title: str | None) -> dict[str, str | None]:
    return {
        "title": title or parsed.title,
        "user_name": parsed.user_name,
        "character_name": parsed.character_name,
    }


def _draft(message: ParsedMessage, seen: set[str], warnings: list[Warning]) -> Draft:
    """The message to store; an id that came before in the file is given up."""
    own_id = message.id
    if own_id in seen:
        warnings.append(Warning("repeated_id", f"The id {own_id} comes twice; the later message has a new one."))
        own_id = None
    if own_id is not None:
        seen.add(own_id)
    return Draft(
        role=message.role,
        content=message.content,
        id=own_id,
        name=message.name,
        hidden=message.hidden,
        created_at=message.created_at,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        extra=message.extra,
    )


def _batches(found: Iterable[ParsedMessage]) -> Iterator[list[ParsedMessage]]:
    messages = iter(found)
    while some := list(islice(messages, _AT_ONCE)):
        yield some
