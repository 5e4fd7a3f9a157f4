"""Trying prompts on a real passage of a chat: rendered, and asked if that is wanted. Nothing of it is kept but
its cost.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session

from app.core.model import Span, Strategy, Usage
from app.core.resolving import merge_values, resolve
from app.core.summary import Connection, Spending, Summarizer, Summary, SummaryRequest, spent_on
from app.errors import Conflict, InvalidRequest, ModelError, ModelUnusable, NotFound
from app.services.basis import note_usage
from app.services.connections import Connections
from app.services.counters import ChatCounters
from app.services.fitting import check_values, check_window
from app.services.noting import note_chat
from app.services.picking import Picking, Question
from app.services.ports import ModelServers
from app.services.reading import require_chat
from app.store import chats
from app.store.engine import Database
from app.store.faults import cause
from app.store.tables import Chat

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class TrialQuery:
    """What is tried: settings to lay over those of the chat, another connection, a passage. `run`: ask the model."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    connection: str | None = None
    span: Span | None = None
    run: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """Closed turns: 0-based indices of the first and the last message that the model reads, and all their tokens."""

    first_index: int
    last_index: int
    turns: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no summary. `status`: the HTTP status that the model's server gave; `refused_text`: how the answer
    began that could not be used.
    """

    code: str
    detail: str
    connection: str
    status: int | None = None
    refused_text: str | None = None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The rendered prompt, its tokens as the chat counts them, and what came of asking; `latency_ms` with retries."""

    passage: Passage
    system: str
    user: str
    tokens: int
    connection: str
    model: str | None
    text: str | None = None
    text_tokens: int | None = None
    usage: Usage | None = None
    latency_ms: int | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    chat_key: int
    request: SummaryRequest
    shown: Rehearsal


@dataclass(frozen=True)
class Rehearsing:
    """Tries prompts."""

    db: Database
    picking: Picking
    connections: Connections
    counters: ChatCounters
    summarizer: Summarizer
    servers: ModelServers

    async def rehearse(self, chat_id: str, trial: TrialQuery) -> Rehearsal:
        """The prompt, and with `run` what the model makes of it, accepted or refused as a fold's answer is.

        One connection is asked, whatever stands in for it when folding, and what it answers is not asked for again.
        Cancelling it cuts the call, and counts it. Raises NotFound, InvalidRequest and Conflict.
        """
        found = await asyncio.to_thread(self._prepare, chat_id, trial)
        if not trial.run or found.shown.problem is not None:
            return found.shown
        return await self._ask(found)

    def _prepare(self, chat_id: str, trial: TrialQuery) -> _Prepared:
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            if chat.strategy == Strategy.NONE:
                raise Conflict("This chat keeps no memory, so there is no prompt to try: PATCH it with a strategy.")
            _lay_over(session, self.connections, chat, trial)
            settings = resolve(chats.server_settings(session), chat.settings)[0]
            name = trial.connection or settings.summarizer(chat.strategy)
            connection, problem = self._connection(session, name, trial)
            question = self.picking.question(session, chat, trial.span, connection)
            count = self.counters.counter_for(session, settings)
        request = replace(question.request, batch="trial", trial=True, count=count)
        if question.obstacle is not None:
            problem = Problem("invalid_request", question.obstacle, name)
        shown = _shown(question, count(request.system) + count(request.user), problem)
        return _Prepared(chat.key, request, shown)

    def _connection(self, session: Session, name: str, trial: TrialQuery) -> tuple[Connection, Problem | None]:
        """The connection, with its key only if it is to be asked."""
        try:
            found = self.connections.describe(session, name)
        except NotFound as error:
            if trial.connection is None:
                raise Conflict(error.detail) from error
            raise InvalidRequest(error.detail, [{"loc": ["body", "connection"], "msg": error.detail}]) from error
        try:
            return (self.connections.resolve(session, name) if trial.run else found), None
        except InvalidRequest as error:  # its key cannot be read any more
            return found, Problem("provider_rejected", error.detail, name)

    async def _ask(self, found: _Prepared) -> Rehearsal:
        begun = monotonic()
        answer = await self._answer_or_pay(found)
        latency_ms = round((monotonic() - begun) * 1000)
        if isinstance(answer, Problem):
            return replace(found.shown, usage=Usage(), latency_ms=latency_ms, problem=answer)
        usage = answer.usage if isinstance(answer, Summary) else spent_on(answer)
        await asyncio.to_thread(self._note, found.chat_key, usage)
        shown = replace(found.shown, usage=usage, latency_ms=latency_ms)
        if isinstance(answer, ModelError):
            return replace(shown, problem=_problem(answer))
        return replace(shown, text=answer.text, text_tokens=answer.tokens, model=answer.model)

    async def _answer_or_pay(self, found: _Prepared) -> Summary | ModelError | Problem:
        """What comes of asking; if that is cut, what it has cost until then is noted first."""
        spending = Spending()
        try:
            return await self._answer(replace(found.request, paid=spending.add))
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self._note, found.chat_key, spending.usage))
            raise

    async def _answer(self, request: SummaryRequest) -> Summary | ModelError | Problem:
        """What comes of asking. A frontend is only waited for if one is there."""
        if request.connection.provider == "client":
            there = await self.servers.test(request.connection)
            if not there.ok:
                return Problem("provider_unavailable", there.detail, request.connection.name)
        try:
            return await self.summarizer.summarize(request)
        except ModelError as error:
            return error

    def _note(self, chat_key: int, cost: Usage) -> None:
        """What was paid is counted on the chat; an answer that was paid for is shown even if that cannot be written."""
        try:
            with self.db.write() as session:
                chat = chats.get(session, chat_key)
                note_usage(chat, None, cost)
                if chat is not None and cost != Usage():
                    note_chat(session, chat)
        except SQLAlchemyError as error:
            log.warning("cost_not_noted", calls=cost.calls, detail=cause(error))


def _problem(error: ModelError) -> Problem:
    said = error.said if isinstance(error, ModelUnusable) else ""
    return Problem(error.code, error.detail, error.connection, error.status, said or None)


def _lay_over(session: Session, connections: Connections, chat: Chat, trial: TrialQuery) -> None:
    """Let the chat have the settings that are tried, in this transaction alone: it is taken out of the session."""
    session.expunge(chat)
    change = dict(trial.settings) | ({"connection": trial.connection} if trial.connection else {})
    chat.settings = merge_values(chat.settings, change)
    check_values(chats.server_settings(session), chat.settings, ["body", "settings"])
    check_window(session, connections, chat.settings, trial.settings)


def _shown(question: Question, tokens: int, problem: Problem | None) -> Rehearsal:
    passage, request = question.passage, question.request
    span = Passage(passage[0].index, passage[-1].index, question.turns, request.source_tokens)
    connection = request.connection
    return Rehearsal(span, request.system, request.user, tokens, connection.name, connection.model, problem=problem)
