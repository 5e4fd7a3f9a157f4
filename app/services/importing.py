"""Taking in a chat from a file, and memory from another: all of it in one transaction, or nothing."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from operator import attrgetter
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO
from uuid import uuid4

from sqlmodel import Session

from app.errors import Conflict, InvalidRequest
from app.formats.memory_file import open_memory
from app.formats.parsed import ParsedChat, ParsedMemory, ParsedMessage, Warning, WarningLog
from app.formats.recognize import TURNFOLD, open_chat, recognize
from app.services.adopting import Offer, TakenIn, take_in, weigh
from app.services.counters import ChatCounters
from app.services.locating import Layout, locate
from app.services.noting import note_history, note_memory
from app.services.ports import Counter, Runner
from app.services.reading import read_state, require_chat
from app.services.recording import Draft, Size, insert, measure
from app.services.restoring import restore
from app.services.starting import queue_after_change, queue_if_due
from app.store import chats
from app.store.clock import now_ms
from app.store.engine import Database

_AT_ONCE = 2000
_VALUES = attrgetter(*(field.name for field in fields(Draft)))
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
    """Imports chats and memories."""

    db: Database
    counters: ChatCounters
    runner: Runner

    def load(
        self,
        stream: BinaryIO,
        *,
        chat_id: str | None,
        title: str | None,
        format: str | None,
        memory: BinaryIO | None = None,
    ) -> Imported:
        """Read a chat from a file that can be rewound, with the memory it brings or that of the file beside it.

        Raises InvalidRequest, and Conflict when chat_id is taken. A file's own id that is taken gives way to a new
        one, with a warning. The files are read and counted first, so that other writers wait for the storing alone.
        """
        self._refuse_taken(chat_id)
        if (format or recognize(stream)) == TURNFOLD:
            return self._restore(stream, chat_id, title, memory)
        log = WarningLog()
        beside = open_memory(memory, log) if memory is not None else None
        parsed = open_chat(stream, format=format)
        brought = _chosen(parsed.memory, beside, log)
        count = self.counters.of_new({})
        with SpooledTemporaryFile(max_size=_IN_MEMORY) as spool:
            layout = Layout(brought)
            batches = _spool(count, parsed.messages, spool, layout, log)
            chat = _Read(parsed, layout, _unspool(spool, batches))
            offer = weigh(count, brought) if brought is not None else None
            imported, job_id = self._store(chat, offer, chat_id, title, log)
        if job_id is not None:
            self.runner.poke(job_id)
        return imported

    def adopt(self, chat_id: str, stream: BinaryIO) -> Imported:
        """Take a file's memory into a chat: what fits, where the chat has none. Raises NotFound and InvalidRequest."""
        with self.db.read() as session:
            require_chat(session, chat_id)
        log = WarningLog()
        memory = open_memory(stream, log)
        offer = weigh(self.counters.ahead(chat_id), memory)
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            where = locate(session, chat.key, chats.count_messages(session, chat.key), memory)
            taken = take_in(session, chat, offer, where, log)
            job = None
            if taken.snippets:
                chat.updated_at = now_ms()
                note_memory(session, chat, "import")
                job, _ = queue_if_due(session, read_state(session, chat))
            job_id = job.id if job else None
        if job_id is not None:
            self.runner.poke(job_id)
        return Imported(chat_id, 0, taken.snippets, log.entries)

    def _restore(self, stream: BinaryIO, chat_id: str | None, title: str | None, memory: BinaryIO | None) -> Imported:
        """Take in a chat that was exported from here."""
        if memory is not None:
            raise InvalidRequest("The chat's file brings its own memory; import it without one beside it.")
        restored = restore(self.db, self.counters.of_new, stream, chat_id=chat_id, title=title)
        if restored.job_id is not None:
            self.runner.poke(restored.job_id)
        return Imported(restored.chat_id, restored.messages, restored.snippets, restored.warnings)

    def _refuse_taken(self, chat_id: str | None) -> None:
        with self.db.read() as session:
            if chat_id is not None and chats.find(session, chat_id):
                raise _taken(chat_id)

    def _store(
        self, read: "_Read", offer: Offer | None, chat_id: str | None, title: str | None, log: WarningLog
    ) -> tuple[Imported, str | None]:
        with self.db.write() as session:
            if chat_id is not None and chats.find(session, chat_id):
                raise _taken(chat_id)
            free_id = chat_id or _free_id(session, read.parsed, log)
            chat = chats.add(session, free_id, _fields(read.parsed, title))
            total = 0
            for batch in read.batches:
                total = insert(session, chat, batch, total)
            session.flush()
            if total:
                note_history(session, chat, "import", total)
            taken = take_in(session, chat, offer, read.layout.whereabouts, log) if offer else TakenIn(0, bytes(total))
            _tell_ghosts(read.layout.ghosted, taken, log)
            job, _ = queue_after_change(session, chat)
            warnings = [*read.parsed.warnings, *log.entries]
            return Imported(free_id, total, taken.snippets, warnings), job.id if job else None


@dataclass(frozen=True)
class _Read:
    """A chat's file, read to its end: what it says, where its messages were, and these with their sizes."""

    parsed: ParsedChat
    layout: Layout
    drafts: Iterator[list[tuple[Draft, Size]]]

    @property
    def batches(self) -> Iterator[list[tuple[Draft, Size]]]:
        """The messages; what a summary stood for was hidden by that, not by a person."""
        ghosted = self.layout.ghosted
        index = 0
        for batch in self.drafts:
            marks = ghosted[index : index + len(batch)]
            index += len(batch)
            yield [
                (replace(draft, hidden=False), size) if mark and draft.hidden else (draft, size)
                for (draft, size), mark in zip(batch, marks, strict=True)
            ]


def _spool(count: Counter, found: Iterable[ParsedMessage], spool: IO[bytes], layout: Layout, log: WarningLog) -> int:
    """Write drafts with their sizes, batch by batch; returns the number of batches."""
    seen: set[int] = set()
    written = 0
    for some in _batches(found):
        for message in some:
            layout.add(message)
        drafts = [_draft(message, seen, log) for message in some]
        sizes = measure(count, drafts)
        # Plain tuples: a frozen dataclass with slots takes eight times as long to pickle.
        pairs = zip(drafts, sizes, strict=True)
        pickle.dump([(_VALUES(draft), (size.text, size.calls)) for draft, size in pairs], spool)
        written += 1
    return written


def _unspool(spool: IO[bytes], batches: int) -> Iterator[list[tuple[Draft, Size]]]:
    spool.seek(0)
    for _ in range(batches):
        found = pickle.load(spool)  # written above, by this process, into a file without a name
        yield [(Draft(*values), Size(*size)) for values, size in found]


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


def _chosen(own: ParsedMemory | None, beside: ParsedMemory | None, log: WarningLog) -> ParsedMemory | None:
    """The memory that is taken: a person chose the one beside."""
    if beside is not None and own is not None and own.snippets:
        log.summarize("memory_twice", "The chat's file brings a memory too; that of the file beside it was taken.")
    return own if beside is None else beside


def _tell_ghosts(ghosted: bytes, taken: TakenIn, log: WarningLog) -> None:
    """Messages are ghosted here exactly where a snippet covers them; where the file said otherwise is told."""
    bare = sum(ghost and not covered for ghost, covered in zip(ghosted, taken.covered, strict=True))
    new = sum(covered and not ghost for ghost, covered in zip(ghosted, taken.covered, strict=True))
    if bare:
        log.summarize(
            "ghosted_elsewhere",
            f"{bare} messages were hidden by the Summaryception extension, and no summary that came with them covers "
            "them. They are visible here: import the extension's memory too, or let the chat fold.",
        )
    if new and any(ghosted):
        log.summarize(
            "covered_elsewhere",
            f"{new} messages were visible, but lie under a summary that came with them; it stands for them here.",
        )


def _fields(parsed: ParsedChat, title: str | None) -> dict[str, Any]:
    return {
        "title": title or parsed.title,
        "user_name": parsed.user_name,
        "character_name": parsed.character_name,
        "extra": parsed.extra or None,
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
        pinned=message.pinned,
        omitted=message.omitted,
        created_at=message.created_at,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        extra=message.extra,
    )


def _batches(found: Iterable[ParsedMessage]) -> Iterator[list[ParsedMessage]]:
    messages = iter(found)
    while some := list(islice(messages, _AT_ONCE)):
        yield some
