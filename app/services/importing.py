"""Taking in a chat from a file: all of it in one transaction, or nothing."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO
from uuid import uuid4

from sqlmodel import Session

from app.errors import Conflict
from app.formats.parsed import ParsedChat, ParsedMessage, Warning, WarningLog
from app.formats.recognize import open_chat
from app.services.ports import Counter, Runner
from app.services.recording import Draft, Size, insert, measure
from app.services.starting import queue_after_append
from app.store import chats
from app.store.engine import Database

_AT_ONCE = 2000
_IN_MEMORY = 32 * 1024 * 1024
"""Bytes of a file's messages that are held in memory before they go to disk."""


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

        A file's own id that is taken gives way to a new one, with a warning. The file is read and counted first, so
        that other writers wait for the storing alone.
        """
        self._refuse_taken(chat_id)
        parsed = open_chat(stream, format=format)
        log = WarningLog()
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
            batches = self._spool(parsed.messages, spool, log)
            imported, job_id = self._store(parsed, _unspool(spool, batches), chat_id, title, log)
        if job_id is not None:
            self.runner.poke(job_id)
        return imported

    def _refuse_taken(self, chat_id: str | None) -> None:
        with self.db.read() as session:
            if chat_id is not None and chats.find(session, chat_id):
                raise _taken(chat_id)

    def _spool(self, found: Iterable[ParsedMessage], spool: IO[bytes], log: WarningLog) -> int:
        """Write drafts with their sizes, batch by batch; returns the number of batches."""
        seen: set[int] = set()
        written = 0
        for some in _batches(found):
            drafts = [_draft(message, seen, log) for message in some]
            pickle.dump(list(zip(drafts, measure(self.count, drafts), strict=True)), spool)
            written += 1
        return written

    def _store(
        self,
        parsed: ParsedChat,
        batches: Iterable[list[tuple[Draft, Size]]],
        chat_id: str | None,
        title: str | None,
        log: WarningLog,
    ) -> tuple[Imported, str | None]:
        with self.db.write() as session:
            if chat_id is not None and chats.find(session, chat_id):
                raise _taken(chat_id)
            free_id = chat_id or _free_id(session, parsed, log)
            chat = chats.add(session, free_id, _fields(parsed, title))
            total = 0
            for batch in batches:
                total = insert(session, chat, batch, total)
            session.flush()
            job, _ = queue_after_append(session, chat)
            return Imported(free_id, total, 0, [*parsed.warnings, *log.entries]), job.id if job else None


def _unspool(spool: IO[bytes], batches: int) -> Iterator[list[tuple[Draft, Size]]]:
    spool.seek(0)
    for _ in range(batches):
        yield pickle.load(spool)  # written above, by this process, into a file without a name


def _taken(chat_id: str) -> Conflict:
    return Conflict(f"There is a chat {chat_id!r} already; import under another chat_id, or delete it first.")


def _free_id(session: Session, parsed: ParsedChat, log: WarningLog) -> str:
    if parsed.chat_id is None:
        return str(uuid4())
    if chats.find(session, parsed.chat_id) is None:
        return parsed.chat_id
    new_id = str(uuid4())
    log.add("chat_id_taken", f"The file's own id {parsed.chat_id} is taken; the chat is {new_id}.")
    return new_id


def _fields(parsed: ParsedChat, title: str | None) -> dict[str, str | None]:
    return {
        "title": title or parsed.title,
        "user_name": parsed.user_name,
        "character_name": parsed.character_name,
    }


def _draft(message: ParsedMessage, seen: set[int], log: WarningLog) -> Draft:
    """The message to store; an id that came before in the file is given up. `seen` holds hashes, to stay small."""
    own_id = message.id
    if own_id is not None and hash(own_id) in seen:
        log.add("repeated_id", f"The id {own_id} comes twice; the later message has a new one.")
        own_id = None
    if own_id is not None:
        seen.add(hash(own_id))
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
