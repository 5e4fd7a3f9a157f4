"""Changing one message: its text and marks, deleting it, and bringing back what was there before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session

from app.core.edits import Effect, Marks, effect_of_change, effect_of_removal
from app.core.model import Role
from app.errors import Conflict, InvalidRequest, NotFound
from app.services.ports import Counter, Runner
from app.services.reading import read_state, require_chat
from app.services.recording import Draft, MessageView, measure, row_of, show
from app.services.settling import UNCOVERED, Traces, leaves_of, settle
from app.services.starting import queue_if_due
from app.store import chats, history, messages, paging
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.history import Row
from app.store.kept_tables import KeptMessage
from app.store.tables import Chat

_SAID = ("role", "name", "content", "tool_calls", "tool_call_id")


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
class Editing:
    """Changes single messages. Methods raise NotFound for what is not there."""

    db: Database
    count: Counter
    runner: Runner

    def edit(self, chat_id: str, message_id: str, fields: Mapping[str, Any]) -> MessageView:
        """Change the columns named in `fields` (content, name, hidden, pinned, omitted, extra) of a message.

        Raises InvalidRequest for a text of null where no tool call stands beside it.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            row = _require(session, chat, message_id)
            if fields.get("content", "") is None and not row["tool_calls"]:
                raise InvalidRequest(
                    "content: Must be a string; null only beside tool_calls.",
                    [{"loc": ["body", "content"], "msg": "Must be a string; null only beside tool_calls."}],
                )
            traces = Traces()
            rewrite(session, chat, [(row, dict(fields), row["position"])], self.count, traces)
            job_id = finish(session, chat, traces)
            shown = _shown(session, chat, message_id)
        self._poke(job_id)
        return shown

    def delete(self, chat_id: str, message_id: str) -> None:
        """Take a message out; it can be restored for 30 days."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            row = _require(session, chat, message_id)
            index = row["position"]
            before = messages.id_at(session, chat.key, index - 1) if index else None
            traces = Traces()
            traces.note(row, effect_of_removal(covered=bool(leaves_of(row))), index)
            history.keep(session, chat.key, [(row, "deleted", before)])
            history.remove(session, [row["key"]])
            history.shift(session, chat.key, index + 1, -1)
            job_id = finish(session, chat, traces)
        self._poke(job_id)

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
                row = _require(session, chat, message_id)
                said = {name: kept.snapshot[name] for name in _SAID}
                rewrite(session, chat, [(row, said, row["position"])], self.count, traces)
            else:
                self._bring_back(session, chat, kept, traces)
            session.delete(kept)
            job_id = finish(session, chat, traces)
            shown = _shown(session, chat, message_id)
        self._poke(job_id)
        return shown

    def earlier_texts(self, chat_id: str, message_id: str) -> list[EarlierText]:
        """What is kept of a message, newest first."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            found = history.kept_of(session, chat.key, message_id)
            if not found:
                _require(session, chat, message_id)
            return [_earlier(kept) for kept in found]

    def _bring_back(self, session: Session, chat: Chat, kept: KeptMessage, traces: Traces) -> None:
        total = chats.count_messages(session, chat.key)
        index = min(_place_of(session, chat, kept), total)
        history.shift(session, chat.key, index, 1)
        draft = _draft(kept)
        size = measure(self.count, [draft])[0]
        messages.insert_many(session, [row_of(chat.key, index, draft, size, now_ms())])
        if not (draft.hidden or draft.omitted or draft.pinned):
            traces.arrived.add(index)

    def _poke(self, job_id: str | None) -> None:
        if job_id is not None:
            self.runner.poke(job_id)


def rewrite(
    session: Session,
    chat: Chat,
    changes: list[tuple[Row, dict[str, Any], int]],
    count: Counter,
    traces: Traces,
) -> int:
    """Write changed columns of messages: each as it is stored, its new values by column, and where it stands now.

    Texts that are overwritten are kept. What does not differ is not written; how many messages do.
    """
    real = [(row, _differing(row, values), index) for row, values, index in changes]
    real = [(row, values, index) for row, values, index in real if values]
    rewritten = [(row, values) for row, values, _ in real if any(name in values for name in _SAID)]
    history.keep(session, chat.key, [(row, "overwritten", None) for row, _ in rewritten])
    for (_, values), derived in zip(rewritten, _derive(count, rewritten), strict=True):
        values.update(derived)
    for row, values, index in real:
        effect = _effect(row, values)
        traces.note(row, effect, index)
        if effect.leaves:
            values.update(UNCOVERED)
    history.change(session, {row["key"]: values for row, values, _ in real})
    return len(real)


def finish(session: Session, chat: Chat, traces: Traces) -> str | None:
    """Bring memory in line after a change, and queue what is due by it; the job's id."""
    settle(session, chat, traces)
    return start(session, chat)


def start(session: Session, chat: Chat) -> str | None:
    """Queue what a change of history makes due; the job's id."""
    chat.updated_at = now_ms()
    session.flush()
    session.expire_all()  # rows were changed beside the ORM
    job, _ = queue_if_due(session, read_state(session, chat))
    return job.id if job else None


def _differing(row: Row, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if (row[name] or None) != (value or None)}


def _derive(count: Counter, rewritten: list[tuple[Row, dict[str, Any]]]) -> list[dict[str, Any]]:
    """What follows from new texts: their sizes, and what they make of the messages."""
    drafts = [_said({**row, **values}) for row, values in rewritten]
    return [
        {
            "tokens": size.text,
            "call_tokens": size.calls,
            "blank": draft.blank,
            "closes": draft.closes,
            "revision": row["revision"] + 1,
        }
        for (row, _), draft, size in zip(rewritten, drafts, measure(count, drafts), strict=True)
    ]


def _said(row: Row) -> Draft:
    return Draft(Role(row["role"]), row["content"], tool_calls=row["tool_calls"], tool_call_id=row["tool_call_id"])


def _effect(row: Row, values: Mapping[str, Any]) -> Effect:
    after = {**row, **values}
    return effect_of_change(
        _marks(row), _marks(after), covered=bool(leaves_of(row)), rewritten=any(name in values for name in _SAID)
    )


def _marks(row: Row) -> Marks:
    return Marks(bool(row["hidden"]), bool(row["pinned"]), bool(row["omitted"]))


def _require(session: Session, chat: Chat, message_id: str) -> Row:
    found = messages.by_ids(session, chat.key, [message_id])
    if message_id not in found:
        raise NotFound(f"There is no message {message_id!r} in chat {chat.id!r}.")
    return history.chosen(session, [found[message_id].key])[0]


def _shown(session: Session, chat: Chat, message_id: str) -> MessageView:
    return show(*paging.chosen(session, chat.key, chat.strategy, [message_id])[0])


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
