"""Making our history equal to a frontend's: what differs is changed, everything else keeps its identity and memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from sqlmodel import Session

from app.core.alignment import Alignment, align
from app.core.edits import effect_of_removal
from app.errors import Conflict
from app.services.branching import inherit
from app.services.counters import ChatCounters
from app.services.editing import differing, rewrite, start
from app.services.likeness import given_all, is_same, said_all, text, text_of
from app.services.noting import note_history
from app.services.ports import Counter, Runner
from app.services.recording import Draft, Size, measure, refuse_doubles, row_of
from app.services.sequences import common_subsequence
from app.services.settling import Traces, forget, leaves_of, one_step, settle
from app.store import chats, events, history, kept, messages
from app.store.clock import from_ms, now_ms, to_ms
from app.store.engine import Database
from app.store.history import Row
from app.store.tables import Chat

_SHRINKS_FROM = 20
"""A history of so many messages does not lose more than half of them without `allow_shrink` (http-api.md, Sync)."""

_COLUMNS = {"history": "omitted"}
_FOLLOWING = ("name", "hidden", "pinned", "omitted", "created_at", "extra")


@dataclass(frozen=True, slots=True)
class Line:
    """A message of the frontend's history, and the names of the fields it spoke of: the others stay as they are."""

    draft: Draft
    given: frozenset[str]


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync changed. `stale_snippets` are live ones under which something changed."""

    appended: int
    edited: int
    deleted: int
    unchanged: int
    stale_snippets: int


@dataclass(frozen=True)
class Syncing:
    """Carries syncs out."""

    db: Database
    counters: ChatCounters
    runner: Runner

    def sync(
        self,
        chat_id: str,
        lines: Sequence[Line],
        *,
        reset: bool = False,
        allow_shrink: bool = False,
        parent_chat_id: str | None = None,
    ) -> Synced:
        """Make the chat's history these lines, and queue the folding that makes due.

        Raises InvalidRequest for two messages with one id, and Conflict for a history that would lose what a frontend
        can hardly mean to lose. `reset` forgets all memory too. `parent_chat_id`: what the chat, if it is new, has in
        common with that one's beginning brings its memory along.
        """
        drafts = [line.draft for line in lines]
        refuse_doubles(drafts)
        sizes = _Sizes(self.counters.ahead(chat_id), lines)
        with self.db.read() as session:
            chat = chats.find(session, chat_id)
            stored = history.whole(session, chat.key) if chat else []
        said = align(said_all(stored), given_all(drafts), common_subsequence)
        sizes.prepare(said.inserted)  # counting takes long, so it is done before anybody has to wait
        with self.db.write() as session:
            chat = chats.find(session, chat_id) or _begin(session, chat_id, parent_chat_id)
            inherited = parent_chat_id is not None and _inherit(session, chat, lines, parent_chat_id)
            if not history.is_as_read(session, chat.key, stored):
                stored = history.whole(session, chat.key)
                said = align(said_all(stored), given_all(drafts), common_subsequence)
            plan = _Plan(_refreshed(session, stored, lines, said), lines, said)
            with one_step(chat):
                synced = self._apply(session, chat, plan, sizes, reset=reset, shrinks=allow_shrink)
                if inherited or plan.is_news(edited=synced.edited):
                    note_history(session, chat, "sync")
                job_id = start(session, chat, replied=any(lines[new].draft.closes for new in said.inserted) or None)
        if job_id is not None:
            self.runner.poke(job_id)
        return synced

    def _apply(
        self, session: Session, chat: Chat, plan: "_Plan", sizes: "_Sizes", *, reset: bool, shrinks: bool
    ) -> Synced:
        if not reset:
            plan.refuse_loss(shrinks=shrinks)
        traces = Traces()
        _delete(session, chat, plan, traces)
        history.move(session, chat.key, ((plan.stored[old]["position"], new) for old, new in plan.said.pairs))
        edits = [(plan.stored[old], _changes(plan.lines[new]), new) for old, new in plan.said.pairs]
        edited = rewrite(session, chat, edits, sizes.count, traces)
        _insert(session, chat, plan, sizes, traces)
        chat.changes += not plan.said.appends
        session.flush()
        stale = settle(session, chat, traces)
        if reset:
            forget(session, chat)
        chat.held = False
        if edited or plan.said.deleted or plan.said.inserted:
            chat.updated_at = now_ms()
        synced = Synced(
            appended=len(plan.said.inserted),
            edited=edited,
            deleted=len(plan.said.deleted),
            unchanged=len(plan.said.pairs) - edited,
            stale_snippets=0 if reset else stale,
        )
        if reset:
            events.add(session, chat.key, "history_set", {"messages": len(plan.lines), **asdict(synced)})
        return synced


@dataclass(frozen=True)
class _Plan:
    """What is stored, what is to be, and which is which."""

    stored: list[Row]
    lines: Sequence[Line]
    said: Alignment

    @cached_property
    def moved(self) -> Mapping[str, Row]:
        """Messages that go at one place and come at another, by id, as they are stored."""
        coming = {self.lines[new].draft.id for new in self.said.inserted}
        going = (self.stored[old] for old in self.said.deleted)
        return {row["id"]: row for row in going if row["id"] in coming}

    def is_news(self, *, edited: int) -> bool:
        """Whether the history is another one by this, be it that a message has another id."""
        if edited or self.said.deleted or self.said.inserted:
            return True
        ids = ((self.stored[old]["id"], self.lines[new].draft.id) for old, new in self.said.pairs)
        return any(new not in (None, old) for old, new in ids)

    def drafts(self) -> Iterator[tuple[int, Draft, bool]]:
        """What comes in, each with its place, and whether its turn was left unfolded by choice.

        A message that moved keeps what the frontend does not speak of.
        """
        for place in self.said.inserted:
            line = self.lines[place]
            row = self.moved.get(line.draft.id or "")
            yield place, _moved(line, row) if row else line.draft, bool(row and row["skipped"])

    def refuse_loss(self, *, shrinks: bool) -> None:
        """Nobody loses a chat to a frontend that had not loaded yet."""
        held, lost = len(self.stored), len(self.said.deleted)
        if held and not self.lines:
            raise Conflict(
                f"The history sent is empty, but {held} messages are stored. If it is meant to be emptied, send"
                ' "reset": true.'
            )
        if held >= _SHRINKS_FROM and 2 * lost > held and not shrinks:
            raise Conflict(
                f"This would delete {lost} of {held} messages. If that is meant, send"
                ' "allow_shrink": true, or "reset": true to forget the memory too.'
            )


class _Sizes:
    """Token counts of lines, counted once."""

    def __init__(self, count: Counter, lines: Sequence[Line]) -> None:
        self.count, self._lines = count, lines
        self._known: dict[int, Size] = {}

    def prepare(self, places: Sequence[int]) -> None:
        """Count those of these that are not counted yet."""
        missing = [place for place in places if place not in self._known]
        self._known.update(zip(missing, measure(self.count, [self._lines[p].draft for p in missing]), strict=True))

    def __getitem__(self, place: int) -> Size:
        return self._known[place]


def _refreshed(session: Session, stored: list[Row], lines: Sequence[Line], said: Alignment) -> list[Row]:
    """The stored messages, with those that are to change or to go as they are at this moment."""
    going = [stored[old]["key"] for old in said.deleted]
    changing = [stored[old]["key"] for old, new in said.pairs if differing(stored[old], _changes(lines[new]))]
    now = {row["key"]: row for row in history.chosen(session, [*going, *changing])}
    return [now.get(row["key"], row) for row in stored]


def _begin(session: Session, chat_id: str, parent_chat_id: str | None) -> Chat:
    """A new chat, with its parent's kind of memory."""
    parent = chats.find(session, parent_chat_id) if parent_chat_id is not None else None
    return chats.add(session, chat_id, {"strategy": parent.strategy} if parent is not None else {})


def _inherit(session: Session, chat: Chat, lines: Sequence[Line], parent_chat_id: str) -> bool:
    """Let a chat without a history yet begin with what it shares with its parent; an unknown parent has nothing.
    Whether it has shared something.
    """
    parent = chats.find(session, parent_chat_id)
    if chats.count_messages(session, chat.key) or (parent is not None and parent.key == chat.key):
        return False
    chat.parent_chat_id = parent_chat_id
    if parent is None:
        return False
    theirs = history.whole(session, parent.key)
    shared = 0
    while shared < min(len(theirs), len(lines)) and is_same(theirs[shared], lines[shared].draft):
        shared += 1
    if shared:
        inherit(session, parent, chat, shared - 1, [line.draft for line in lines[shared:]])
        session.flush()
    return shared > 0


def _delete(session: Session, chat: Chat, plan: _Plan, traces: Traces) -> None:
    rows = [plan.stored[old] for old in plan.said.deleted]
    going = [
        (plan.stored[old], plan.stored[old - 1]["id"] if old else None)
        for old in plan.said.deleted
        if plan.stored[old]["id"] not in plan.moved
    ]
    for row in rows:
        traces.note(row, effect_of_removal(covered=bool(leaves_of(row))), row["position"])
    kept.keep_deleted(session, chat.key, going)
    kept.keep_overwritten(session, chat.key, _reworded(plan))
    history.remove(session, [row["key"] for row in rows])


def _reworded(plan: _Plan) -> list[Row]:
    """Texts that go because a message says something else at its new place."""
    texts = {line.draft.id: text_of(line.draft) for line in plan.lines if line.draft.id in plan.moved}
    return [row for message_id, row in plan.moved.items() if texts[message_id] != text(row)]


def _moved(line: Line, row: Row) -> Draft:
    """A line at its new place, with what a stored message knows and the line does not say."""
    spoken = {_COLUMNS.get(name, name) for name in line.given}
    known = {name: row[name] for name in _FOLLOWING if name not in spoken}
    if "created_at" in known:
        known["created_at"] = from_ms(known["created_at"])
    return replace(line.draft, **known)


def _insert(session: Session, chat: Chat, plan: _Plan, sizes: _Sizes, traces: Traces) -> None:
    sizes.prepare(plan.said.inserted)
    now = now_ms()
    fresh = []
    for place, draft, skipped in plan.drafts():
        fresh.append({**row_of(chat.key, place, draft, sizes[place], now), "skipped": skipped})
        if draft.speaks:
            traces.arrived.add(place)
    messages.insert_many(session, fresh)


def _changes(line: Line) -> dict[str, Any]:
    """What a stored message is to be, by column: what it says, and the marks the frontend spoke of."""
    draft = line.draft
    wanted: dict[str, Any] = {
        "role": draft.role.value,
        "content": draft.content,
        "tool_calls": draft.tool_calls,
        "tool_call_id": draft.tool_call_id,
    }
    if draft.id is not None:
        wanted["id"] = draft.id
    spoken = {_COLUMNS.get(name, name) for name in line.given}
    for name in _FOLLOWING:
        if name in spoken:
            wanted[name] = getattr(draft, name)
    if "created_at" in wanted:
        wanted["created_at"] = to_ms(draft.created_at) if draft.created_at else None
    return {name: value for name, value in wanted.items() if name != "created_at" or value is not None}
