"""What a person decides about a chat's memory: fold now, take up or skip a backlog, stop, pause, clear."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlmodel import Session

from app.core.batches import foresee_batches
from app.core.model import Strategy, Turn
from app.core.resolving import merge_values
from app.core.rewrite import Skip
from app.services.choosing import stronger
from app.services.noting import note_chat, note_history, note_memory
from app.services.ports import Runner
from app.services.questions import begin
from app.services.reading import ChatState, read_head, read_state, require_chat
from app.services.rewriting import check, note_skipped
from app.services.settling import forget
from app.services.starting import can_fold, queue, queue_if_due
from app.services.waiting import read_waiting
from app.services.working import JobView, show_job
from app.store import chats, client_calls, counting, jobs, messages, trees
from app.store.engine import Database
from app.store.tables import Chat

Choice = Literal["all", "skip", "one"]


@dataclass(frozen=True, slots=True)
class Started:
    """The job that was started or joined, else the reason why there is nothing to do."""

    job: JobView | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """Whether something ran, and the job that was cut."""

    stopped: bool
    job: JobView | None


@dataclass(frozen=True, slots=True)
class Cleared:
    """What clearing took away."""

    cleared_snippets: int
    unghosted_messages: int


@dataclass(frozen=True)
class Steering:
    """Carries out what a person decides. Every method raises NotFound for an unknown chat."""

    db: Database
    runner: Runner

    def summarize(self, chat_id: str) -> Started:
        """Fold everything outside the window now, the backlog included, pause or not."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            started = _refused(session, chat) or _start(session, read_state(session, chat), "summarize")
        return self._poked(started)

    def backlog(self, chat_id: str, choice: Literal["all", "one"]) -> Started:
        """Answer the question what to do with a backlog; without one, this acts as summarize, or a batch of it."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            started = _refused(session, chat) or _answer(session, chat, choice)
        return self._poked(started)

    def _poked(self, started: Started) -> Started:
        if started.job is not None:
            self.runner.poke(started.job.id)
        return started

    def skip(self, chat_id: str) -> int:
        """Leave a backlog's turns visible and unfolded; returns how many, 0 where there is no backlog.

        A job that folds them ends, and nothing it still asks for is stored.
        """
        with self.db.write() as session:
            state = read_state(session, require_chat(session, chat_id))
            turns = state.over_window if state.has_backlog else ()
            job_id = _leave(session, state.chat, turns) if turns else None
        if job_id is not None:
            self.runner.poke(job_id)
        return len(turns)

    async def stop(self, chat_id: str) -> Stopped:
        """Cut what runs on the chat; nothing runs until the next append, sync or explicit call."""
        job_id = await asyncio.to_thread(self._hold, chat_id)
        if job_id is None:
            return Stopped(stopped=False, job=None)
        await self.runner.cancel(job_id)
        return Stopped(stopped=True, job=await asyncio.to_thread(self._shown, job_id, chat_id))

    async def pause(self, chat_id: str) -> bool:
        """Stop automatic folding; what is remembered is still sent."""
        job_id = await asyncio.to_thread(self._pause, chat_id)
        if job_id is not None:
            await self.runner.cancel(job_id)
            await asyncio.to_thread(self._take_up_asked, chat_id)
        return True

    def resume(self, chat_id: str) -> bool:
        """Fold by itself again, at once if something is due."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            was_held, chat.held = chat.held, False
            if _set_paused(session, chat, paused=False) or was_held:
                note_chat(session, chat)
            session.flush()
            job, _ = queue_if_due(session, read_state(session, chat))
            job_id = job.id if job else None
        if job_id is not None:
            self.runner.poke(job_id)
        return False

    async def clear(self, chat_id: str) -> Cleared:
        """Cut what runs, forget every summary and un-ghost every message."""
        cleared, job_id = await asyncio.to_thread(self._forget, chat_id)
        if job_id is not None:
            await self.runner.cancel(job_id)
        return cleared

    def _hold(self, chat_id: str) -> str | None:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            if not chat.held:
                note_chat(session, chat)
            chat.held, chat.retry_at = True, None
            trees.withdraw_asked(session, chat.key)
            return _cut(session, chat, "Stopped on request.")

    def _shown(self, job_id: str, chat_id: str) -> JobView | None:
        with self.db.read() as session:
            job = jobs.by_id(session, job_id)
            return show_job(job, chat_id) if job else None

    def _pause(self, chat_id: str) -> str | None:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            if _set_paused(session, chat, paused=True):
                note_chat(session, chat)
            chat.retry_at = None
            return _cut(session, chat, "Folding was paused.")

    def _take_up_asked(self, chat_id: str) -> None:
        """What a person asked to have made anew goes on."""
        with self.db.write() as session:
            job, _ = queue_if_due(session, read_state(session, require_chat(session, chat_id)))
            job_id = job.id if job else None
        if job_id is not None:
            self.runner.poke(job_id)

    def _forget(self, chat_id: str) -> tuple[Cleared, str | None]:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            job_id = _cancel(session, chat.key, "The memory was cleared.")
            ghosted = counting.counts(session, chat.key, chat.strategy).ghosted
            cleared = forget(session, chat)
            if cleared:
                begin(chat)
                note_memory(session, chat, "clear")
            return Cleared(cleared, ghosted), job_id


def _set_paused(session: Session, chat: Chat, *, paused: bool) -> bool:
    """The chat's own value, unless the server's says the same; whether it was another one."""
    everywhere = bool(chats.server_settings(session).get("paused", False))
    settings = merge_values(chat.settings, {"paused": None if paused is everywhere else paused})
    if settings == chat.settings:
        return False
    chat.settings = settings
    chat.revision += 1
    return True


def _cancel(session: Session, chat_key: int, reason: str) -> str | None:
    """End the chat's job in the store, so that nothing of it can be committed any more; its id, if there was one."""
    job = jobs.active(session, chat_key)
    if job is None:
        return None
    jobs.finish(session, job, "cancelled", reason)
    client_calls.withdraw(session, client_calls.of_summary(chat_key), "cut")
    return job.id


def _cut(session: Session, chat: Chat, reason: str) -> str | None:
    """The same, and rolling memory notes it beside the turn that waited for its summary."""
    job_id = _cancel(session, chat.key, reason)
    if job_id is not None:
        note_skipped(session, chat, "cancelled")
    return job_id


def _refused(session: Session, chat: Chat) -> Started | None:
    """Nothing at all is folded where a chat has no memory, or has it switched off."""
    state = read_head(session, chat)
    off = chat.strategy == Strategy.NONE or not state.settings.enabled
    return Started(None, state.idle_reason()) if off else None


def _answer(session: Session, chat: Chat, choice: Literal["all", "one"]) -> Started:
    if choice == "all":
        messages.take_up_skipped(session, chat.key)
    state = read_state(session, chat)
    running = jobs.active(session, chat.key)
    joins = running is not None and stronger(running.kind, "one") != "one"
    if state.has_backlog and not (choice == "one" and joins):  # a job that does more goes on doing so
        chat.backlog_answer = choice
    full = can_fold(state, "backlog")
    return _start(session, state, "one" if choice == "one" else "backlog" if full else "summarize")


def _start(session: Session, state: ChatState, kind: str) -> Started:
    if not can_fold(state, kind):
        found = check(state, forced=True) if state.chat.strategy == Strategy.ROLLING else None
        return Started(None, found.reason if isinstance(found, Skip) else "nothing_to_fold")
    state.chat.held = False
    job = queue(session, state, kind, 1 if kind == "one" else _batches(session, state, kind))
    session.flush()
    return Started(show_job(job, state.chat.id))


def _batches(session: Session, state: ChatState, kind: str) -> int:
    if not state.layered:
        return 1
    waiting = read_waiting(session, state)
    return max(1, len(foresee_batches(waiting, state.settings.layered, partial=kind == "summarize")))


def _leave(session: Session, chat: Chat, turns: Sequence[Turn]) -> str | None:
    """Skip turns; the id of a job for what else there is to do, if one that folded them was ended."""
    messages.set_skipped(session, [message.key for turn in turns for message in turn.messages])
    note_history(session, chat, "mark")
    chat.backlog_answer = "skip"
    running = jobs.active(session, chat.key)
    if running is None or stronger(running.kind, "heal") == "heal":
        return None
    jobs.finish(session, running, "cancelled", "The backlog was skipped.")
    session.flush()
    job, _ = queue_if_due(session, read_state(session, chat))
    return job.id if job else None
