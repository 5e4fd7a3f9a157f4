"""Changing one message: its text and marks, and deleting it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from app.core.edits import Effect, Marks, effect_of_change, effect_of_removal
from app.core.model import Role
from app.errors import InvalidRequest, NotFound
from app.services.counters import ChatCounters
from app.services.noting import note_history, telling_change
from app.services.ports import Counter, Runner
from app.services.reading import require_chat
from app.services.recording import Draft, MessageView, measure, show
from app.services.settling import UNCOVERED, Traces, leaves_of, one_step, settle
from app.services.starting import queue_after_change
from app.store import history, kept, messages, paging
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.history import Row
from app.store.tables import Chat

SAID = ("role", "name", "content", "tool_calls", "tool_call_id")
_SEEN = frozenset({*SAID, "hidden", "pinned", "omitted"})
"""What a prompt shows of a message, or what decides whether it does."""


@dataclass(frozen=True)
class Editing:
    """Changes single messages. Methods raise NotFound for what is not there."""

    db: Database
    counters: ChatCounters
    runner: Runner

    def edit(self, chat_id: str, message_id: str, fields: Mapping[str, Any]) -> MessageView:
        """Change the columns named in `fields` (content, name, hidden, pinned, omitted, extra) of a message.

        Raises InvalidRequest for a text of null where no tool call stands beside it.
        """
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            row = require_message(session, chat, message_id)
            if fields.get("content", "") is None and not row["tool_calls"]:
                raise InvalidRequest(
                    "content: Must be a string; null only beside tool_calls.",
                    [{"loc": ["body", "content"], "msg": "Must be a string; null only beside tool_calls."}],
                )
            job_id = change(session, chat, row, fields, self.counters.of_chat(session, chat))
            shown = show_message(session, chat, message_id)
        self._poke(job_id)
        return shown

    def delete(self, chat_id: str, message_id: str) -> None:
        """Take a message out; it can be restored for 30 days."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            row = require_message(session, chat, message_id)
            index = row["position"]
            before = messages.id_at(session, chat.key, index - 1) if index else None
            traces = Traces()
            traces.note(row, effect_of_removal(covered=bool(leaves_of(row))), index)
            kept.keep_deleted(session, chat.key, [(row, before)])
            history.remove(session, [row["key"]])
            chat.changes += 1
            history.shift(session, chat.key, index + 1, -1)
            note_history(session, chat, "delete")
            job_id = finish(session, chat, traces)
        self._poke(job_id)

    def _poke(self, job_id: str | None) -> None:
        if job_id is not None:
            self.runner.poke(job_id)


def change(
    session: Session, chat: Chat, row: Row, values: Mapping[str, Any], count: Counter, why: str | None = None
) -> str | None:
    """Write new values into columns of one message; the id of the job that this makes due."""
    traces = Traces()
    speaks = any(name in SAID for name in differing(row, values))
    if not rewrite(session, chat, [(row, dict(values), row["position"])], count, traces):
        return None
    note_history(session, chat, why or ("edit" if speaks else "mark"))
    return finish(session, chat, traces)


def rewrite(
    session: Session,
    chat: Chat,
    changes: list[tuple[Row, dict[str, Any], int]],
    count: Counter,
    traces: Traces,
) -> int:
    """Write changed columns of messages: each as it is stored, its new values by column, and where it stands now.

    Texts that are overwritten are kept, and what does not differ is not written. How many differ in more than their id.
    """
    real = [(row, differing(row, values), index) for row, values, index in changes]
    real = [(row, values, index) for row, values, index in real if values]
    rewritten = [(row, values) for row, values, _ in real if any(name in values for name in SAID)]
    kept.keep_overwritten(session, chat.key, [row for row, _ in rewritten])
    for (_, values), derived in zip(rewritten, _derive(count, rewritten), strict=True):
        values.update(derived)
    for row, values, index in real:
        effect = _effect(row, values)
        traces.note(row, effect, index)
        if effect.leaves:
            values.update(UNCOVERED)
    history.change(session, {row["key"]: values for row, values, _ in real})
    chat.changes += any(name in _SEEN for _, values, _ in real for name in values)
    kept.rename(session, chat.key, {row["id"]: values["id"] for row, values, _ in real if "id" in values})
    return sum(1 for _, values, _ in real if values.keys() - {"id"})


def finish(session: Session, chat: Chat, traces: Traces) -> str | None:
    """Bring memory in line after a change, and queue what is due by it; the job's id."""
    with telling_change(session, chat, "history"), one_step(chat):
        settle(session, chat, traces)
        chat.updated_at = now_ms()
        return start(session, chat)


def start(session: Session, chat: Chat, *, replied: bool | None = None) -> str | None:
    """Queue what a change of history makes due, `replied` if a reply is a part of it; the job's id."""
    session.flush()
    session.expire_all()  # rows were changed beside the ORM
    job, _ = queue_after_change(session, chat, replied=replied)
    return job.id if job else None


def differing(row: Row, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the new values that a message does not have already."""
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
        _marks(row), _marks(after), covered=bool(leaves_of(row)), rewritten=any(name in values for name in SAID)
    )


def _marks(row: Row) -> Marks:
    return Marks(bool(row["hidden"]), bool(row["pinned"]), bool(row["omitted"]), bool(row["blank"]))


def require_message(session: Session, chat: Chat, message_id: str) -> Row:
    """A message with all its columns. Raises NotFound."""
    found = messages.by_ids(session, chat.key, [message_id])
    if message_id not in found:
        raise NotFound(f"There is no message {message_id!r} in chat {chat.id!r}.")
    return history.chosen(session, [found[message_id].key])[0]


def show_message(session: Session, chat: Chat, message_id: str) -> MessageView:
    """A message that is there, as it is shown."""
    return show(*paging.chosen(session, chat.key, chat.strategy, [message_id])[0])
