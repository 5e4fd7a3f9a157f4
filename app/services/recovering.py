"""Bringing back what was deleted or overwritten, as long as it is kept."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from app.core.model import Role
from app.errors import Conflict, NotFound
from app.services.counters import ChatCounters
from app.services.editing import SAID, change, finish, require_message, show_message
from app.services.noting import note_history
from app.services.ports import Runner
from app.services.reading import require_chat
from app.services.recording import Draft, MessageView, measure, row_of
from app.services.settling import Traces
from app.store import chats, history, kept, messages
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.kept_tables import KeptMessage
from app.store.tables import Chat


@dataclass(frozen=True, slots=True)
class EarlierText:
    """What a message said before it was changed or deleted; it can be restored until it is `kept_until`."""

    version: str
    role: str
    name: str | None
    content: str | None
    why: str
    replaced_at: datetime
    kept_until: datetime


@dataclass(frozen=True)
class Recovering:
    """Reads and brings back what is kept of messages. Methods raise NotFound for what is not there."""

    db: Database
    counters: ChatCounters
    runner: Runner

    def restore(self, chat_id: str, message_id: str, version: str | None = None) -> MessageView:
        """Bring a deleted message back to its place, or a text that a message had: the last one, or the one named.

        Raises Conflict where nothing was kept of a message that is there.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            there = messages.by_ids(session, chat.key, [message_id]).get(message_id)
            found = _wanted(session, chat, message_id, version, deleted=there is None)
            if found is None:
                raise _nothing_kept(message_id, there=there is not None)
            if there is not None:
                said = {name: found.snapshot[name] for name in SAID}
                count = self.counters.of_chat(session, chat)
                job_id = change(session, chat, require_message(session, chat, message_id), said, count, "restore")
            else:
                traces = self._bring_back(session, chat, found)
                note_history(session, chat, "restore")
                job_id = finish(session, chat, traces)
            session.delete(found)
            session.flush()
            shown = show_message(session, chat, message_id)
        if job_id is not None:
            self.runner.poke(job_id)
        return shown

    def earlier_texts(self, chat_id: str, message_id: str, offset: int, limit: int) -> list[EarlierText]:
        """What is kept of a message, newest first."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            found = kept.of_message(session, chat.key, message_id, offset, limit)
            if not found and not offset:
                require_message(session, chat, message_id)
            return [_earlier(one) for one in found]

    def deleted(self, chat_id: str, after: tuple[int, int] | None, limit: int) -> list[tuple[int, MessageView]]:
        """Deleted messages that can be restored, by the index they had; each with its number in that list's order."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            return [(one.key, _show(one)) for one in kept.deleted_page(session, chat.key, after, limit)]

    def _bring_back(self, session: Session, chat: Chat, gone: KeptMessage) -> Traces:
        place = kept.place_of(session, chat.key, gone)
        index = min(gone.position if place is None else place, chats.count_messages(session, chat.key))
        chat.changes += index < chats.count_messages(session, chat.key)
        history.shift(session, chat.key, index, 1)
        draft = _draft(gone)
        size = measure(self.counters.of_chat(session, chat), [draft])[0]
        row = row_of(chat.key, index, draft, size, now_ms())
        messages.insert_many(session, [{**row, "skipped": gone.snapshot.get("skipped", False)}])
        traces = Traces()
        if draft.speaks:
            traces.arrived.add(index)
        return traces


def _wanted(session: Session, chat: Chat, message_id: str, version: str | None, *, deleted: bool) -> KeptMessage | None:
    if version is None:
        return kept.newest(session, chat.key, message_id, "deleted" if deleted else None)
    return kept.by_key(session, chat.key, message_id, int(version)) if version.isdecimal() else None


def _nothing_kept(message_id: str, *, there: bool) -> Conflict | NotFound:
    if there:
        return Conflict(f"No such earlier text of message {message_id!r} is kept; there is nothing to restore.")
    return NotFound(f"There is no message {message_id!r}, and none is kept: deleted ones are for 30 days.")


def _draft(gone: KeptMessage) -> Draft:
    said = gone.snapshot
    return Draft(
        role=Role(said["role"]),
        content=said["content"],
        id=gone.id,
        name=said["name"],
        hidden=said["hidden"],
        pinned=said["pinned"],
        omitted=said["omitted"],
        created_at=from_ms(said["created_at"]),
        tool_calls=said["tool_calls"],
        tool_call_id=said["tool_call_id"],
        extra=said["extra"],
    )


def _earlier(gone: KeptMessage) -> EarlierText:
    said = gone.snapshot
    until = from_ms(gone.kept_at + kept.KEPT_MS)
    return EarlierText(
        str(gone.key), said["role"], said["name"], said["content"], gone.why, from_ms(gone.kept_at), until
    )


def _show(gone: KeptMessage) -> MessageView:
    """A deleted message as it was; no snippet stands for it."""
    said = gone.snapshot
    return MessageView(
        id=gone.id,
        index=gone.position,
        role=said["role"],
        name=said["name"],
        content=said["content"],
        hidden=said["hidden"],
        pinned=said["pinned"],
        history="omit" if said["omitted"] else "keep",
        ghosted=False,
        snippet_id=None,
        tokens=said["tokens"],
        created_at=from_ms(said["created_at"]),
        extra=said["extra"] or {},
        tool_calls=said["tool_calls"],
        tool_call_id=said["tool_call_id"],
    )
