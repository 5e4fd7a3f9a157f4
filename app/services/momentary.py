"""Memory of one call: what a request brings itself is summarized for it, and nothing is kept (scope `call`)."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.core.buffer import buffered, plan_buffer
from app.core.model import Message, Role, Usage
from app.core.rewrite import Rewrite
from app.core.summary import Summarizer, SummaryRequest
from app.core.turns import outline
from app.errors import InvalidRequest, ModelError, NotFound
from app.services.basis import note_usage
from app.services.beforehand import failed, rests, skipped, too_long
from app.services.connections import Connections
from app.services.counters import ChatCounters
from app.services.failure import Failure, skip_of
from app.services.ports import Counter
from app.services.projection_query import NOTHING_BEFORE, Beforehand, ProjectionQuery
from app.services.reading import ChatState, read_state, require_chat
from app.services.retelling import Retelling
from app.store import chats
from app.store.engine import Database
from app.store.messages import Content


@dataclass(frozen=True, slots=True)
class Due:
    """A fold of what a request brought: the chat as it was read, the plan, and what is asked for it."""

    state: ChatState
    plan: Rewrite
    request: SummaryRequest


@dataclass(frozen=True)
class Momentary:
    """Folds what requests bring. `cooldown_s`: how long none is folded on a chat after a fold that took too long."""

    db: Database
    retelling: Retelling
    connections: Connections
    summarizer: Summarizer
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
            name = state.settings.summarizer(state.chat.strategy)
            try:
                connection = self.connections.resolve(session, name)
            except (NotFound, InvalidRequest) as error:
                return failed(state, plan, Failure("provider_rejected", error.detail, name).report())
        plan = plan_buffer(chat, settings, self.retelling.room(state, "", connection), self.retelling.told) or plan
        contents = {place: _content(message) for place, message in enumerate(query.current)}
        return Due(state, plan, self.retelling.request_unstored(state, plan, contents, connection))

    async def fold(self, query: ProjectionQuery, due: Due) -> tuple[ProjectionQuery, Beforehand]:
        """The request without what is summarized now, and the summary; if that fails, the request as it is."""
        try:
            async with asyncio.timeout(due.state.settings.summary_buffer.timeout_s):
                summary = await self.summarizer.summarize(due.request)
        except TimeoutError:
            failure, calls = too_long(due.state, self.cooldown_s, rest=True), 1
        except ModelError as error:
            failure, calls = Failure.of(error, None, None, skip_of(error)), error.calls
        else:
            await asyncio.to_thread(self._note, due, summary.usage, None)
            return _without(query, due.plan), Beforehand(summary=summary.text)
        await asyncio.to_thread(self._note, due, Usage(calls=calls), failure)
        return query, failed(due.state, due.plan, failure.report())

    def _note(self, due: Due, cost: Usage, failure: Failure | None) -> None:
        """What was paid is counted on the chat, and status says why a fold failed."""
        with self.db.write() as session:
            chat = chats.get(session, due.state.chat.key)
            note_usage(chat, None, cost)
            if chat is None:
                return
            chat.last_error = failure.report() if failure else None
            chat.retry_at = failure.retry_at if failure else None


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
