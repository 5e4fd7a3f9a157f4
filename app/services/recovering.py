"""Bringing back what was deleted or overwritten, as long as it is kept."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from app.core.model import Role
from app.errors import Conflict, NotFound
from app.services.editing import SAID, finish, require_message, rewrite, show_message
from app.services.ports import Counter, Runner
from app.services.reading import require_chat
from app.services.recording import Draft, MessageView, measure, row_of
from app.services.settling import Traces
from app.store import chats, history, messages
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.kept_tables import KeptMessage
from app.store.tables import Chat


@dataclass(frozen=True, slots=True)
class EarlierText:
    """What a message said before it was changed or deleted; it can be restored until it is `kept_until`."""

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
    count: Counter
    runner: Runner

    def restore(self, chat_id: str, message_id: str) -> MessageView:
        """Bring a deleted message back to its place, or the text a message had before its last change.

        Raises Conflict where nothing was kept of a message that is there.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            found = messages.by_ids(session, chat.key, [message_id])
            kept = history.newest_kept(session, chat.key, message_id, "overwritten" if found else "deleted")
            if kept is None and found:
                raise Conflict(
                    f"Nothing is kept of earlier texts of message {message_id!r}; there is nothing to restore."
                )
            if kept is None:
                raise NotFound(f"There is no message {message_id!r}, and none is kept: deleted ones are for 30 days.")
            traces = Traces()
            if found:
                row = require_message(session, chat, message_id)
                said = {name: kept.snapshot[name] for name in SAID}
                rewrite(session, chat, [(row, said, row["position"])], self.count, traces)
            else:
                self._bring_back(session, chat, kept, traces)
            session.delete(kept)
            job_id = finish(session, chat, traces)
            shown = show_message(session, chat, message_id)
        if job_id is not None:
            self.runner.poke(job_id)
        return shown

    def earlier_texts(self, chat_id: str, message_id: str) -> list[EarlierText]:
        """What is kept of a message, newest first."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            found = history.kept_of(session, chat.key, message_id)
            if not found:
                require_message(session, chat, message_id)
            return [_earlier(kept) for kept in found]

    def deleted(self, chat_id: str, after: tuple[int, int] | None, limit: int) -> list[tuple[int, MessageView]]:
        """Deleted messages that can be restored, by the index they had; each with its number in that list's order."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            return [(kept.key, _show(kept)) for kept in history.deleted_page(session, chat.key, after, limit)]

    def _bring_back(self, session: Session, chat: Chat, kept: KeptMessage, traces: Traces) -> None:
        total = chats.count_messages(session, chat.key)
        index = min(_place_of(session, chat, kept), total)
        history.shift(session, chat.key, index, 1)
        draft = _draft(kept)
        size = measure(self.count, [draft])[0]
        messages.insert_many(session, [row_of(chat.key, index, draft, size, now_ms())])
        if not (draft.hidden or draft.omitted or draft.pinned):
            traces.arrived.add(index)


def _place_of(session: Session, chat: Chat, kept: KeptMessage) -> int:
    """Where a deleted message belongs: behind the one it stood behind, or where that one stood if it went too."""
    seen: set[str] = set()
    before = kept.after_id
    while before is not None and before not in seen:
        seen.add(before)
        found = messages.by_ids(session, chat.key, [before])
        if before in found:
            return found[before].position + 1
        gone = history.newest_kept(session, chat.key, before, "deleted")
        if gone is None:
            return kept.position
        before = gone.after_id
    return 0 if before is None else kept.position


def _draft(kept: KeptMessage) -> Draft:
    said = kept.snapshot
    return Draft(
        role=Role(said["role"]),
        content=said["content"],
        id=kept.id,
        name=said["name"],
        hidden=said["hidden"],
        pinned=said["pinned"],
        omitted=said["omitted"],
        created_at=from_ms(said["created_at"]),
        tool_calls=said["tool_calls"],
        tool_call_id=said["tool_call_id"],
        extra=said["extra"],
    )


def _earlier(kept: KeptMessage) -> EarlierText:
    said = kept.snapshot
    until = from_ms(kept.kept_at + history.KEPT_MS)
    return EarlierText(said["role"], said["name"], said["content"], kept.why, from_ms(kept.kept_at), until)


def _show(kept: KeptMessage) -> MessageView:
    """A deleted message as it was; no snippet stands for it."""
    said = kept.snapshot
    return MessageView(
        id=kept.id,
        index=kept.position,
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
