"""Appending messages and reading them."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Literal
from uuid import uuid4

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from app.core.model import Role, Strategy, Usage
from app.errors import Conflict, InvalidRequest, NotFound
from app.services.counters import ChatCounters
from app.services.noting import note_history
from app.services.paying import share_of
from app.services.ports import Counter, Runner
from app.services.reading import require_chat
from app.services.sessions import open_session
from app.services.starting import queue_after_change
from app.store import chats, jobs, messages, paging
from app.store.clock import from_ms, now_ms, to_ms
from app.store.engine import Database
from app.store.tables import Chat, Job, Message

Fold = Literal["background", "none", "wait"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be stored, checked by the API or a format."""

    role: Role
    content: str | None
    id: str | None = None
    name: str | None = None
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    created_at: datetime | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    extra: dict[str, Any] | None = None

    @property
    def blank(self) -> bool:
        """Neither text nor tool calls (layered.md, Words)."""
        return not self.tool_calls and not (self.content or "").strip()

    @property
    def speaks(self) -> bool:
        """Whether memory should tell of it some day."""
        return not (self.blank or self.hidden or self.pinned or self.omitted)

    @property
    def closes(self) -> bool:
        """Whether its own content makes it the end of a turn."""
        return self.role is Role.ASSISTANT and not self.tool_calls and not self.blank


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message as it is shown."""

    id: str
    index: int
    role: str
    name: str | None
    content: str | None
    hidden: bool
    pinned: bool
    history: Literal["keep", "omit"]
    ghosted: bool
    snippet_id: str | None
    tokens: int
    created_at: datetime
    extra: dict[str, Any]
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did. `reason`: why no fold was started, or how the one that was waited for ended. `place`: which
    batch of its job it brought, counted from 1.
    """

    appended: int
    duplicates: int
    items: list[MessageView]
    job_id: str | None
    usage: Usage
    reason: str | None
    strategy: str = Strategy.LAYERED
    place: int = 0


@dataclass(frozen=True)
class Recording:
    """Stores messages, and queues the folding they make due in the same transaction."""

    db: Database
    counters: ChatCounters
    runner: Runner

    async def append(
        self,
        chat_id: str,
        drafts: Sequence[Draft],
        fold: Fold | None,
        wait_s: float,
        session_id: str | None = None,
    ) -> Appended:
        """Append messages; with `fold` wait, answer when folding has ended or wait_s (seconds) have passed.

        Without a word on `fold` rolling memory is waited for: the turn that started a fold pays for it.
        """
        store = partial(self.store, fold=fold or "background", session_id=session_id)
        appended = await asyncio.to_thread(store, chat_id, drafts)
        if appended.job_id is None:
            return appended
        self.runner.poke(appended.job_id)
        if fold != "wait" and (fold or appended.strategy != Strategy.ROLLING):
            return appended
        await self.runner.wait(appended.job_id, wait_s)
        return await asyncio.to_thread(self._with_outcome, chat_id, appended)

    def store(self, chat_id: str, drafts: Sequence[Draft], *, fold: Fold, session_id: str | None = None) -> Appended:
        """Store the messages and queue a job if one is due, in one transaction. Raises Conflict, InvalidRequest.

        `session_id`: the session they belong to, where the chat's memory is kept session by session.
        """
        refuse_doubles(drafts)
        sizes = measure(self.counters.ahead(chat_id), drafts)
        with self.db.write() as session:
            chat = chats.find(session, chat_id) or chats.add(session, chat_id, {})
            chat = open_session(session, chat, session_id)
            known = messages.by_ids(session, chat.key, [draft.id for draft in drafts if draft.id])
            _refuse_changes(drafts, known)
            fresh = [(draft, count) for draft, count in zip(drafts, sizes, strict=True) if draft.id not in known]
            start = chats.count_messages(session, chat.key)
            total = insert(session, chat, fresh, start)
            if fresh:
                note_history(session, chat, "append", total)
            replied = any(draft.closes and not (draft.hidden or draft.omitted) for draft, _ in fresh)
            job, reason = self._queue(session, chat, fold, replied=replied) if fresh else (None, "nothing_new")
            session.flush()
            items = self._items(session, chat, [draft.id for draft in drafts if draft.id in known], start)
            job_id, place = (job.id, job.total) if job else (None, 0)
            return Appended(len(fresh), len(known), items, job_id, Usage(), reason, chat.strategy, place)

    def page(self, chat_id: str, *, state: str, after: int, limit: int) -> list[MessageView]:
        """Messages with index over `after`, in order. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            where = paging.in_state(state, chat.strategy)
            return [show(*row) for row in paging.page(session, chat.key, chat.strategy, where, after, limit)]

    def get(self, chat_id: str, message_id: str) -> MessageView:
        """One message. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            rows = paging.page(session, chat.key, chat.strategy, paging.with_id(message_id), -1, 1)
            if not rows:
                raise NotFound(f"There is no message {message_id!r} in chat {chat_id!r}.")
            return show(*rows[0])

    def _queue(self, session: Session, chat: Chat, fold: Fold, *, replied: bool) -> tuple[Job | None, str | None]:
        chat.updated_at = now_ms()
        chat.held = False
        session.flush()
        if chat.strategy == Strategy.NONE:
            return None, "strategy_none"
        if fold == "none":
            return None, "not_asked"
        return queue_after_change(session, chat, replied=replied)

    def _items(self, session: Session, chat: Chat, known: Sequence[str | None], start: int) -> list[MessageView]:
        """What was stored already, then what is new: each is found by an index of its own, however long the chat."""
        stored = [message_id for message_id in known if message_id]
        found = paging.chosen(session, chat.key, chat.strategy, stored) if stored else []
        found += paging.page(session, chat.key, chat.strategy, paging.in_state("all", chat.strategy), start - 1, 1000)
        return [show(*row) for row in found]

    def _with_outcome(self, chat_id: str, appended: Appended) -> Appended:
        with self.db.read() as session:
            job = jobs.by_id(session, appended.job_id or "")
            chat = require_chat(session, chat_id)
            ids = [item.id for item in appended.items]
            items = [show(*row) for row in paging.chosen(session, chat.key, chat.strategy, ids)]
            usage = share_of(session, chat, job, appended.place) if job else Usage()
        return replace(appended, items=items, usage=usage, reason=_outcome(job, appended.strategy))


@dataclass(frozen=True, slots=True)
class Size:
    """Tokens of a message: of its text, and of its tool calls."""

    text: int
    calls: int


def measure(count: Counter, drafts: Sequence[Draft]) -> list[Size]:
    """The tokens of each draft; tool calls count as the JSON that a prompt holds."""
    texts = count.count_many([draft.content or "" for draft in drafts])
    calls = [count(json.dumps(draft.tool_calls, ensure_ascii=False)) if draft.tool_calls else 0 for draft in drafts]
    return [Size(*size) for size in zip(texts, calls, strict=True)]


def insert(session: Session, chat: Chat, drafts: Iterable[tuple[Draft, Size]], start: int) -> int:
    """Store drafts with their token counts from index `start` on; returns the next index."""
    now = now_ms()
    rows = [row_of(chat.key, index, draft, size, now) for index, (draft, size) in enumerate(drafts, start)]
    try:
        messages.insert_many(session, rows)
    except IntegrityError:
        raise Conflict("A message with one of these ids is already in the chat; send it with another id.") from None
    return start + len(rows)


def show(message: Message, snippet_id: str | None) -> MessageView:
    """A stored message as it is shown, with the id of its leaf."""
    return MessageView(
        id=message.id,
        index=message.position,
        role=message.role,
        name=message.name,
        content=message.content,
        hidden=message.hidden,
        pinned=message.pinned,
        history="omit" if message.omitted else "keep",
        ghosted=snippet_id is not None,
        snippet_id=snippet_id,
        tokens=message.tokens,
        created_at=from_ms(message.created_at),
        extra=message.extra or {},
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )


def row_of(chat_key: int, index: int, draft: Draft, size: Size, now: int) -> dict[str, Any]:
    """The columns of a draft that is to stand at a place; `now` (epoch ms) is when it was said if it does not say."""
    return {
        "chat_key": chat_key,
        "position": index,
        "id": draft.id or str(uuid4()),
        "role": draft.role.value,
        "name": draft.name,
        "content": draft.content,
        "tokens": size.text,
        "call_tokens": size.calls,
        "blank": draft.blank,
        "closes": draft.closes,
        "hidden": draft.hidden,
        "pinned": draft.pinned,
        "omitted": draft.omitted,
        "created_at": to_ms(draft.created_at) if draft.created_at else now,
        "tool_calls": draft.tool_calls or None,
        "tool_call_id": draft.tool_call_id,
        "extra": draft.extra or None,
    }


def refuse_doubles(drafts: Sequence[Draft]) -> None:
    """Raises InvalidRequest where two messages have the same id."""
    seen: set[str] = set()
    for place, draft in enumerate(drafts):
        if draft.id in seen:
            raise InvalidRequest(
                "Two messages of the request have the same id; ids are unique within a chat.",
                [{"loc": ["body", "messages", place, "id"], "msg": "used by an earlier message of this request"}],
            )
        if draft.id is not None:
            seen.add(draft.id)


def _refuse_changes(drafts: Sequence[Draft], known: dict[str, Message]) -> None:
    for draft in drafts:
        stored = known.get(draft.id) if draft.id else None
        if stored is not None and _said(stored) != _said(draft):
            raise Conflict(
                f"Message {draft.id!r} is already stored with another role or text. Appending never overwrites:"
                " PATCH the message, or send this one with another id."
            )


def _said(message: Message | Draft) -> tuple[str, str | None, list[dict[str, Any]], str | None]:
    return str(message.role), message.content, message.tool_calls or [], message.tool_call_id


def _outcome(job: Job | None, strategy: str) -> str | None:
    if job is None or job.state in jobs.ACTIVE:
        return "still_folding"
    if Strategy(strategy).rewrites:
        return "cancelled" if job.state == "cancelled" else job.reason
    return job.reason if job.state != "succeeded" else None
