"""Memory of one call: what a request brings itself is summarized for it, and nothing is kept (scope `call`)."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from sqlmodel import Session

from app.core.buffer import buffered, plan_buffer
from app.core.health import Pending
from app.core.model import Message, Role, Usage
from app.core.rewrite import Rewrite
from app.core.summary import Connection, Spending, Summarizer, Summary, SummaryRequest
from app.core.turns import outline
from app.errors import InvalidRequest, ModelError, NotFound
from app.services.basis import note_usage
from app.services.beforehand import failed, rests, skipped, too_long
from app.services.connections import Connections
from app.services.counters import ChatCounters
from app.services.failure import Failure, batch_of, skip_of
from app.services.ports import Counter, ModelServers
from app.services.projection_query import NOTHING_BEFORE, Beforehand, ProjectionQuery
from app.services.reading import ChatState, read_state, require_chat
from app.services.retelling import Retelling
from app.services.trying import Trying
from app.store import chats
from app.store.engine import Database
from app.store.messages import Content

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Due:
    """A fold of what a request brought: the chat as it was read, the plan, what is asked for it, and of whom if the
    first one fails.
    """

    state: ChatState
    plan: Rewrite
    request: SummaryRequest
    others: tuple[Connection, ...] = ()


@dataclass(frozen=True)
class Momentary:
    """Folds what requests bring. `cooldown_s`: how long none is folded on a chat after a fold that took too long."""

    db: Database
    retelling: Retelling
    connections: Connections
    summarizer: Summarizer
    servers: ModelServers
    counters: ChatCounters
    cooldown_s: float

    def plan(self, chat_id: str, query: ProjectionQuery) -> Due | Beforehand:
        """The fold that is due of what a request brings, or what its prompt says where there is none."""
        with self.db.read() as session:
            state = read_state(session, require_chat(session, chat_id))
            count = self.counters.counter_for(session, state.settings)
            brought = [_read(place, message, count) for place, message in enumerate(query.current)]
            chat, settings = buffered(outline(brought, len(brought))), state.settings.summary_buffer
            plan, idle = plan_buffer(chat, settings, None, self.retelling.told), state.idle_reason()
            if plan is None or state.settings.replays_all:
                return NOTHING_BEFORE
            if idle is not None:
                return Beforehand(skipped=skipped(plan, idle))
            if rests(state.chat):
                return failed(state, plan, state.chat.last_error or {})
            name, others = state.settings.summarizer(state.chat.strategy), self._others(session, state)
            try:
                connection = self.connections.resolve(session, name)
            except (NotFound, InvalidRequest) as error:
                return failed(state, plan, Failure("provider_rejected", error.detail, name).report())
        plan = plan_buffer(chat, settings, self.retelling.room(state, "", connection), self.retelling.told) or plan
        contents = {place: _content(message) for place, message in enumerate(query.current)}
        request = self.retelling.request_unstored(state, plan, contents, connection)
        return Due(state, plan, replace(request, batch=batch_of(plan), count=count), others)

    async def fold(self, query: ProjectionQuery, due: Due) -> tuple[ProjectionQuery, Beforehand]:
        """The request without what is summarized now, and the summary; if that fails, the request as it is."""
        spending = Spending()
        try:
            found = await self._in_time(replace(due, request=replace(due.request, paid=spending.add)))
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self._pay, due, spending.usage))
            raise
        if isinstance(found, Summary):
            await asyncio.to_thread(self._note, due, found.usage, None)
            return _without(query, due.plan), Beforehand(summary=found.text)
        if isinstance(found, ModelError):
            failure = Failure.of(found, None, None, skip_of(found))
        else:
            failure = too_long(due.state, self.cooldown_s, found, fronted=_is_fronted(due))
        await asyncio.to_thread(self._note, due, spending.usage, failure)
        return query, failed(due.state, due.plan, failure.report())

    async def _in_time(self, due: Due) -> Summary | ModelError | Pending | None:
        """The summary, or why there is none; when time is up, how it fared until it was cut."""
        chat, seconds = due.request.chat, due.state.settings.summary_buffer.timeout_s
        call = asyncio.create_task(Trying(self.summarizer).summarize(due.request, due.others))
        try:
            await asyncio.wait([call], timeout=seconds)
            if call.done():
                return call.result()
            pending = self.servers.pending(chat)
            if too_long(due.state, self.cooldown_s, pending).connection and not _is_fronted(due):
                self.servers.silent(chat, seconds)
            return pending
        except ModelError as error:
            return error
        finally:
            if call.cancel():
                await asyncio.wait([call])

    def _others(self, session: Session, state: ChatState) -> tuple[Connection, ...]:
        """The fallback; none where it cannot be used: the first connection may do."""
        name = state.settings.fallback_connection
        try:
            return (self.connections.resolve(session, name),) if name else ()
        except (NotFound, InvalidRequest) as error:
            log.warning("fallback_missing", connection=name, detail=error.detail)
            return ()

    def _pay(self, due: Due, cost: Usage) -> None:
        """Count what was paid for an answer that nobody waits for any more."""
        with self.db.write() as session:
            note_usage(chats.get(session, due.state.chat.key), None, cost)

    def _note(self, due: Due, cost: Usage, failure: Failure | None) -> None:
        """What was paid is counted on the chat, and status says why a fold failed."""
        with self.db.write() as session:
            chat = chats.get(session, due.state.chat.key)
            note_usage(chat, None, cost)
            if chat is None:
                return
            chat.last_error = failure.report() if failure else None
            chat.retry_at = failure.retry_at if failure else None


def _is_fronted(due: Due) -> bool:
    return due.request.connection.provider == "client"


def _without(query: ProjectionQuery, plan: Rewrite) -> ProjectionQuery:
    gone = {message.key for message in plan.covers}
    return replace(query, current=[message for place, message in enumerate(query.current) if place not in gone])


def _content(message: Mapping[str, Any]) -> Content:
    optional = ("name", "content", "tool_calls", "tool_call_id")
    return Content(message["role"], *(message.get(name) for name in optional))


def _read(place: int, message: Mapping[str, Any], count: Counter) -> Message:
    calls = message.get("tool_calls") or ()
    said = message.get("content") or ""
    return Message(
        key=place,
        index=place,
        role=Role(message["role"]),
        tokens=count(said) + (count(json.dumps(calls, ensure_ascii=False)) if calls else 0),
        blank=not calls and not said.strip(),
        calls=tuple(str(call.get("id")) for call in calls),
        answers=message.get("tool_call_id"),
    )
