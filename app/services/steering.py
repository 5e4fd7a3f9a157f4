"""What a person decides about a chat's memory: fold now, take up or skip a backlog, stop, pause, clear."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from sqlmodel import Session

from app.core.folding import DRAIN, FORCE
from app.core.model import Strategy
from app.core.settings import merge_values
from app.services.ports import Runner
from app.services.reading import ChatState, read_state, require_chat
from app.services.settling import forget
from app.services.starting import queue, queue_if_due
from app.services.working import JobView, show_job
from app.store import chats, counting, jobs, messages, trees
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
            state = read_state(session, require_chat(session, chat_id))
            started = _start(session, state, "summarize")
        return self._poked(started)

    def backlog(self, chat_id: str, choice: Literal["all", "one"]) -> Started:
        """Answer the question what to do with a backlog; without one, this acts as summarize, or a batch of it."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            if choice == "all":
                messages.take_up_skipped(session, chat.key)
            state = read_state(session, chat)
            chat.backlog_answer = choice if choice == "all" or state.has_backlog else "began"
            full = state.fold(DRAIN) is not None
            kind = "one" if choice == "one" else "backlog" if full else "summarize"
            started = _start(session, state, kind)
        return self._poked(started)

    def _poked(self, started: Started) -> Started:
        if started.job is not None:
            self.runner.poke(started.job.id)
        return started

    def skip(self, chat_id: str) -> int:
        """Leave a backlog's turns visible and unfolded; returns how many, 0 where there is no backlog."""
        with self.db.write() as session:
            state = read_state(session, require_chat(session, chat_id))
            turns = state.over_window if state.has_backlog else ()
            messages.set_skipped(session, [message.key for turn in turns for message in turn.messages])
            state.chat.backlog_answer = "skip"
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
            _set_paused(session, chat, paused=False)
            chat.held = False
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
            chat.held, chat.retry_at = True, None
            trees.withdraw_asked(session, chat.key)
            return _cancel(session, chat.key, "Stopped on request.")

    def _shown(self, job_id: str, chat_id: str) -> JobView | None:
        with self.db.read() as session:
            job = jobs.by_id(session, job_id)
            return show_job(job, chat_id) if job else None

    def _pause(self, chat_id: str) -> str | None:
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            _set_paused(session, chat, paused=True)
            chat.retry_at = None
            return _cancel(session, chat.key, "Folding was paused.")

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
            return Cleared(forget(session, chat), ghosted), job_id


def _set_paused(session: Session, chat: Chat, *, paused: bool) -> None:
    """The chat's own value, unless the server's says the same."""
    everywhere = bool(chats.server_settings(session).get("paused", False))
    settings = merge_values(chat.settings, {"paused": None if paused is everywhere else paused})
    if settings != chat.settings:
        chat.settings = settings
        chat.revision += 1


def _cancel(session: Session, chat_key: int, reason: str) -> str | None:
    """End the chat's job in the store, so that nothing of it can be committed any more; its id, if there was one."""
    job = jobs.active(session, chat_key)
    if job is None:
        return None
    jobs.finish(session, job, "cancelled", reason)
    return job.id


def _start(session: Session, state: ChatState, kind: str) -> Started:
    if state.chat.strategy == Strategy.NONE or not state.settings.enabled:
        return Started(None, state.idle_reason())
    if state.fold(DRAIN if kind == "backlog" else FORCE) is None:
        return Started(None, "nothing_to_fold")
    state.chat.held = False
    job = queue(session, state, kind, 1 if kind == "one" else _batches(state))
    session.flush()
    return Started(show_job(job, state.chat.id))


def _batches(state: ChatState) -> int:
    return max(1, -(-state.backlog.turns // state.settings.layered.turns_per_batch))
