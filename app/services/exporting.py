"""Writing a chat down: in our own format, which carries everything, or as another program reads it."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from sqlmodel import Session

from app.core.model import Role
from app.errors import InvalidRequest
from app.formats.given import GivenChat, GivenMessage, GivenSnippet
from app.formats.openai_writing import write_openai
from app.formats.sillytavern_writing import write_sillytavern
from app.formats.summaryception import STORE_KEY
from app.formats.summaryception_writing import write_store
from app.services.dumping import dump
from app.services.reading import require_chat
from app.store import chats, streams
from app.store.clock import from_ms
from app.store.engine import Database
from app.store.streams import LiveLine, Row
from app.store.tables import Chat

_IN_MEMORY = 1024 * 1024
"""Bytes of an export that are held in memory; what is longer goes to a temporary file."""

_NAME_CHARS = 60
"""Of a title; file systems take 255 bytes."""

_NOTICE_EVERY = 1000

Notice = Callable[[int, int], None]
"""Told how many messages are written, and how many there are."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A whole file, at its beginning, which whoever takes it closes; its size in bytes, a name and a media type."""

    file: IO[bytes]
    size: int
    name: str
    media_type: str


def _to_nobody(_done: int, _total: int) -> None:
    pass


@dataclass(frozen=True)
class Exporting:
    """Exports chats."""

    db: Database

    def export(self, chat_id: str, format: str, notice: Notice = _to_nobody) -> Exported:
        """Write a chat to a temporary file, as it is at one moment. Raises NotFound, and InvalidRequest for a format
        that is none of FORMATS.
        """
        if format not in FORMATS:
            raise InvalidRequest(f"Unknown format. Known are: {', '.join(FORMATS)}.")
        kind = FORMATS[format]
        with ExitStack() as stack:
            spool = stack.enter_context(SpooledTemporaryFile(max_size=_IN_MEMORY))
            with self.db.read() as session:
                chat = require_chat(session, chat_id)
                name = (chat.title or chat.id)[:_NAME_CHARS] + kind.ending
                for piece in kind.write(session, chat, notice):
                    spool.write(piece.encode())
            size = spool.tell()
            spool.seek(0)
            stack.pop_all()
        return Exported(spool, size, name, kind.media_type)


@dataclass(frozen=True, slots=True)
class Kind:
    """A format: how a chat is written in it, how the names of such files end, and their media type."""

    write: Callable[[Session, Chat, Notice], Iterator[str]]
    ending: str
    media_type: str


def _turnfold(session: Session, chat: Chat, notice: Notice) -> Iterator[str]:
    return dump(session, chat, _noticed(session, chat, streams.stream_whole(session, chat.key), notice))


def _sillytavern(session: Session, chat: Chat, notice: Notice) -> Iterator[str]:
    store = _store(session, chat)
    memory = {**_kept(chat, "store"), **store} if store["layers"] else None
    return write_sillytavern(_given_chat(chat), memory, _messages(session, chat, notice))


def _summaryception(session: Session, chat: Chat, _notice: Notice) -> Iterator[str]:
    yield json.dumps(_store(session, chat), ensure_ascii=False) + "\n"


def _openai(session: Session, chat: Chat, notice: Notice) -> Iterator[str]:
    return write_openai(_messages(session, chat, notice))


def _messages(session: Session, chat: Chat, notice: Notice) -> Iterator[GivenMessage]:
    rows = streams.stream_messages(session, chat.key, chat.strategy)
    return (_given_message(row) for row in _noticed(session, chat, rows, notice))


def _noticed(session: Session, chat: Chat, rows: Iterator[Row], notice: Notice) -> Iterator[Row]:
    total = chats.count_messages(session, chat.key)
    for done, row in enumerate(rows):
        if done % _NOTICE_EVERY == 0:
            notice(done, total)
        yield row


def _store(session: Session, chat: Chat) -> dict[str, Any]:
    """The memory as the Summaryception extension keeps it."""
    details = _kept(chat, "snippets")
    lines = (
        _given_snippet(line, details.get(line.id, {})) for line in streams.live_lines(session, chat.key, chat.strategy)
    )
    return write_store(lines, streams.covered_places(session, chat.key, chat.strategy))


def _kept(chat: Chat, part: str) -> Mapping[str, Any]:
    """What the extension's own store said beyond what is stored here, of itself or of its snippets (by id)."""
    kept: Mapping[str, Any] = (chat.extra or {}).get(STORE_KEY, {})
    return kept.get(part) or {}


def _given_chat(chat: Chat) -> GivenChat:
    return GivenChat(chat.user_name, chat.character_name, from_ms(chat.created_at), chat.extra or {}, chat.title)


def _given_message(row: Row) -> GivenMessage:
    return GivenMessage(
        role=Role(row["role"]),
        content=row["content"],
        created_at=from_ms(row["created_at"]),
        name=row["name"],
        hidden=row["hidden"],
        pinned=row["pinned"],
        omitted=row["omitted"],
        ghosted=row["leaf_id"] is not None,
        tool_calls=row["tool_calls"],
        tool_call_id=row["tool_call_id"],
        extra=row["extra"] or {},
        id=row["id"],
    )


def _given_snippet(line: LiveLine, detail: Mapping[str, Any]) -> GivenSnippet:
    return GivenSnippet(
        layer=line.layer,
        text=line.text,
        first=line.first,
        last=line.last,
        made_at=from_ms(line.regenerated_at or line.created_at),
        seeded=line.kind == "seed",
        regenerated=line.regenerated_at is not None,
        merged=line.parts,
        merged_from=line.part_layer,
        extra=detail,
    )


FORMATS: Mapping[str, Kind] = {
    "turnfold": Kind(_turnfold, ".turnfold.jsonl", "application/x-ndjson"),
    "sillytavern": Kind(_sillytavern, ".jsonl", "application/x-ndjson"),
    "summaryception": Kind(_summaryception, ".summaryception.json", "application/json"),
    "openai": Kind(_openai, ".json", "application/json"),
}
"""What a chat can be written as, by the names of the contract."""
