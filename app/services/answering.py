"""A prompt before whose answer a summary buffer folds (rolling-and-buffer.md, `summary_buffer`)."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlmodel import Session

from app.core.model import Strategy
from app.core.rewrite import Rewrite
from app.errors import NotFound
from app.services.beforehand import failed, rests, skipped, too_long
from app.services.failing import give_up
from app.services.failure import Failure
from app.services.momentary import Due, Momentary
from app.services.ports import ModelServers, Runner
from app.services.projecting import Projecting
from app.services.projection_query import NOTHING_BEFORE, Beforehand, ProjectionQuery
from app.services.projection_view import WARNINGS, ProjectionView, WarningView
from app.services.reading import ChatState, read_state, require_chat
from app.services.rewriting import check
from app.services.sessions import for_session, is_open, open_session
from app.services.starting import queue
from app.store import chats, client_calls, jobs
from app.store.clock import now_ms
from app.store.engine import Database

_NO_SESSION = WarningView("session_missing", WARNINGS["session_missing"])


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request before whose answer something folds: of which chat, or session. `own`: what it brought itself."""

    chat_id: str
    query: ProjectionQuery
    own: Due | None = None
    told: tuple[WarningView, ...] = ()


@dataclass(frozen=True)
class Answering:
    """Projects for answers. `cooldown_s`: how long answers do not wait for a fold after one that took too long;
    `waiting`: how many answers of this process wait for a job.

    The fold is a job of the chat: it goes on if the client that began it leaves, and whoever asks meanwhile waits for
    the same one.
    """

    db: Database
    runner: Runner
    models: ModelServers
    projecting: Projecting
    momentary: Momentary
    cooldown_s: float
    waiting: Counter[str] = field(default_factory=Counter)

    async def project(self, chat_id: str, query: ProjectionQuery) -> ProjectionView:
        """The prompt, after the fold that was due before it or at the end of the time that may take.

        A fold that fails is a warning. Raises NotFound and InvalidRequest.
        """
        found = await asyncio.to_thread(self._look, chat_id, query)
        if isinstance(found, ProjectionView):
            return found
        try:
            return await self._answer(found)
        except NotFound:
            if found.chat_id == chat_id:
                raise
            detail = f"Session {query.session_id!r} of chat {chat_id!r} was forgotten meanwhile; it may begin anew."
            raise NotFound(detail) from None

    async def _answer(self, found: _Asked) -> ProjectionView:
        query = found.query
        if found.own is None:
            before = await self._fold(found.chat_id)
        else:
            query, before = await self.momentary.fold(query, found.own)
        before = replace(before, warnings=(*before.warnings, *found.told))
        return await asyncio.to_thread(self.projecting.project, found.chat_id, query, keep=True, before=before)

    def _look(self, chat_id: str, query: ProjectionQuery) -> ProjectionView | _Asked:
        """The prompt at once if nothing is folded before it; else what is asked, which then is known to be valid."""
        state = self._read(chat_id)
        if state is None:
            return self.projecting.project(chat_id, query, keep=True)
        scope = state.settings.summary_buffer.scope
        if scope == "session" and query.session_id is not None:
            chat_id, query = self._enter(chat_id, query)
            state, scope = self._read(chat_id) or state, "thread"
        told = (_NO_SESSION,) if scope == "session" else ()
        found = _unless_due(state) if scope == "thread" else self.momentary.plan(chat_id, query)
        if isinstance(found, Beforehand):
            before = replace(found, warnings=(*found.warnings, *told))
            return self.projecting.project(chat_id, query, keep=True, before=before)
        self.projecting.project(chat_id, query)
        return _Asked(chat_id, query, found, told)

    def _enter(self, chat_id: str, query: ProjectionQuery) -> tuple[str, ProjectionQuery]:
        """The session, and what is asked of it. A request that cannot be answered begins none."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            begins, asked = not is_open(session, chat, query.session_id), for_session(session, chat, query)
        if begins:
            self.projecting.project(chat_id, query)
        with self.db.write() as session:
            return open_session(session, require_chat(session, chat_id), query.session_id).id, asked

    def _read(self, chat_id: str) -> ChatState | None:
        """None where the chat's memory is another one."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            return read_state(session, chat) if chat.strategy == Strategy.SUMMARY_BUFFER else None

    async def _fold(self, chat_id: str) -> Beforehand:
        """Wait for the fold; what the prompt says of it."""
        found = await asyncio.to_thread(self._start, chat_id)
        if isinstance(found, Beforehand):
            return found
        job_id, seconds = found
        self.runner.poke(job_id)
        self.waiting[job_id] += 1
        try:
            ended = await self.runner.wait(job_id, seconds)
        finally:
            self.waiting[job_id] -= 1
            last = not self.waiting[job_id]
            if last:
                del self.waiting[job_id]
        if not ended and await asyncio.to_thread(self._give_up, found, chat_id, last):
            await self.runner.cancel(job_id)
        return await asyncio.to_thread(self._outcome, chat_id, job_id)

    def _start(self, chat_id: str) -> Beforehand | tuple[str, float]:
        """The job to wait for, and for how many seconds; or why no fold is made."""
        with self.db.write() as session:
            chat = require_chat(session, chat_id)
            state = read_state(session, chat)
            before = _unless_due(state)
            if before is not None:
                return before
            return queue(session, state, "fold", 1).id, state.settings.summary_buffer.timeout_s

    def _give_up(self, waited: tuple[str, float], chat_id: str, last: bool) -> bool:
        """Note that a fold took too long; whether its job was ended, as one is that began by itself and that nobody
        waits for any longer. One that waits for a frontend goes on: it may be this answer that keeps it from writing.
        """
        job_id, seconds = waited
        with self.db.write() as session:
            job, state = jobs.by_id(session, job_id), read_state(session, require_chat(session, chat_id))
            if job is None or job.state not in jobs.ACTIVE:
                return False
            begun, done, pending = job.started_at is not None, job.done > 0, self.models.pending(chat_id)
            fronted = client_calls.is_asked(session, state.chat.key, now_ms())
            failure = too_long(state, self.cooldown_s, pending, begun=begun, done=done, fronted=fronted)
            if not last or fronted:
                state.chat.last_error, state.chat.retry_at = failure.report(), failure.retry_at
                return False
            ended = give_up(session, state.chat, job, failure)
        if ended and failure.retry_at is not None:
            self.models.silent(chat_id, seconds)
        return ended

    def _outcome(self, chat_id: str, job_id: str) -> Beforehand:
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            state = read_state(session, chat)
            plan, why = check(state), _why_not(session, state, job_id)
        if not isinstance(plan, Rewrite) or why is None:
            return NOTHING_BEFORE
        if chat.session_of is not None and why:
            self._tell_chat(chat.session_of, why)
        return failed(state, plan, why)

    def _tell_chat(self, key: int, why: Mapping[str, Any]) -> None:
        """Nobody sees the status of a session: its chat's says why its fold failed."""
        with self.db.write() as session:
            chat = chats.get(session, key)
            if chat is not None:
                chat.last_error = {**why, "retry_at": None}


def _unless_due(state: ChatState) -> Beforehand | None:
    """What a prompt says where no fold is begun before it; None if one is."""
    plan, idle = check(state), state.idle_reason()
    if not isinstance(plan, Rewrite):
        return NOTHING_BEFORE
    if idle is not None:
        return Beforehand(skipped=skipped(plan, idle))
    return failed(state, plan, state.chat.last_error or {}) if rests(state.chat) else None


def _why_not(session: Session, state: ChatState, job_id: str) -> Mapping[str, Any] | None:
    """Why a job did not fold what was due; None if it did, and more has come in since."""
    job = jobs.by_id(session, job_id)
    if job is not None and job.state == "succeeded":
        return None
    if job is not None and job.error is not None:
        return job.error
    if job is None or job.state not in jobs.ACTIVE:
        ended = Failure("cancelled", (job.reason if job else None) or "The fold was cancelled.", skip="cancelled")
        return ended.report()
    return state.chat.last_error or {}
