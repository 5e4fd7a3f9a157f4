"""How a chat's memory stands: status, and the memory block alone."""

from collections import Counter as Tally
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from app.core.folding import full_batches, is_backlog
from app.core.model import Strategy, Usage
from app.core.rewrite import Rewrite, calls_for
from app.core.turns import outline
from app.errors import NotFound
from app.services.blocks import Blocks
from app.services.connections import Connections
from app.services.estimating import Estimating
from app.services.ports import ModelServers
from app.services.reading import ChatState, Place, read_head, read_history, read_state, require_chat, through
from app.services.retelling import WINDOW
from app.services.rewriting import check
from app.services.working import ErrorView, JobView, show_error, show_job
from app.store import client_calls, counting, jobs, messages, snippets
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.pacing import seconds_for
from app.store.tables import Chat

_RECENT_JOBS = 5
_PER_TURN, _SCAFFOLDING = 12, 230
"""Tokens that a prompt which writes one summary anew adds to each turn, and to all of them, about."""
_LAST_TURN = 64
"""Messages that surely hold the last turn's tool calls and results."""


@dataclass(frozen=True, slots=True)
class CountsView:
    """Messages by state, but `turns` (closed) and `skipped` are turns; visible + ghosted + hidden + omitted = all."""

    messages: int
    turns: int
    visible: int
    ghosted: int
    hidden: int
    omitted: int
    pinned: int
    skipped: int


@dataclass(frozen=True, slots=True)
class LayerView:
    """A layer: its snippets, their limit, tokens, and the turns they cover."""

    layer: int
    snippets: int
    limit: int
    tokens: int
    turns: int


@dataclass(frozen=True, slots=True)
class BacklogView:
    """Turns over the window without skipped ones, and what folding them would take.

    `estimated_s`: seconds, at the pace of the chat's newest batches; None before there are any.
    """

    turns: int = 0
    batches: int = 0
    estimated_calls: int = 0
    estimated_input_tokens: int = 0
    estimated_s: float | None = None
    choice_needed: bool = False


@dataclass(frozen=True, slots=True)
class WaitingView:
    """The prompts of a chat that wait for a frontend: of which connection, how many, since when, and how many of them
    one is answering.
    """

    connection: str
    calls: int
    since: datetime
    leased: int


@dataclass(frozen=True, slots=True)
class ConnectionStatus:
    """The connection that makes a chat's summaries. `waiting`: None where nothing waits for a frontend."""

    name: str
    provider: str
    model: str | None
    state: str
    retry_at: datetime | None
    waiting: WaitingView | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """All a frontend shows about a chat's memory; shapes as in http-api.md, Memory."""

    strategy: str
    memory_version: int
    enabled: bool
    paused: bool
    counts: CountsView
    summarized_through: Place | None
    layers: list[LayerView]
    memory_tokens: int
    raw_tokens: int
    compression: float | None
    backlog: BacklogView
    summarizer_usage: Usage
    job: JobView | None
    last_error: ErrorView | None
    stale_snippets: int
    degraded_snippets: int
    connection: ConnectionStatus
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Preview:
    """The memory block alone, as injected."""

    text: str
    tokens: int
    version: int


@dataclass(frozen=True)
class Reporting:
    """Reads how a chat's memory stands."""

    db: Database
    blocks: Blocks
    connections: Connections
    servers: ModelServers
    estimating: Estimating

    def status(self, chat_id: str) -> Status:
        """Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            state = read_head(session, chat)
            count = counting.counts(session, chat.key, chat.strategy)
            reopened = _reopened(session, chat, count.messages)
            tokens = sum(snippet.core.tokens for snippet in state.live)
            turns = snippets.layer_turns(session, chat.key, chat.strategy) if state.live else {}
            active = jobs.active(session, chat.key)
            stale, degraded = snippets.count_marks(session, chat.key, chat.strategy)
            return Status(
                strategy=chat.strategy,
                memory_version=chat.memory_version,
                enabled=state.settings.enabled,
                paused=state.settings.paused,
                counts=_counts(count, reopened),
                summarized_through=through(session, state),
                layers=_layers(state, turns),
                memory_tokens=tokens,
                raw_tokens=count.raw_tokens,
                compression=round(count.ghosted_tokens / tokens, 1) if tokens else None,
                backlog=self._backlog(session, state, count, reopened),
                summarizer_usage=jobs.read_usage(chat.usage),
                job=show_job(active, chat.id) if active else None,
                last_error=_last_error(chat),
                stale_snippets=stale,
                degraded_snippets=degraded,
                connection=self._connection(session, state),
                warnings=state.warnings,
            )

    def waiting(self, chat_id: str) -> WaitingView | None:
        """What of a chat waits for a frontend. Raises NotFound."""
        with self.db.read() as session:
            return _waiting(session, require_chat(session, chat_id))

    def preview(self, chat_id: str) -> Preview:
        """Raises NotFound."""
        with self.db.read() as session:
            state = read_history(session, require_chat(session, chat_id))
            block = self.blocks.of(session, state)
            return Preview(block.text, block.tokens, state.chat.memory_version)

    def _backlog(self, session: Session, state: ChatState, count: counting.Counts, reopened: int) -> BacklogView:
        if not state.layered:
            return _rewrite_backlog(state, self._window(session, state))
        layered = state.settings.layered
        turns, needed = self.estimating.backlog(session, state, count, reopened)
        if not turns:
            return BacklogView()
        # The oldest turns alone may be too few to tell.
        whole = state if state.has_backlog == is_backlog(turns, layered) else read_state(session, state.chat)
        return BacklogView(
            turns=turns,
            batches=full_batches(turns, layered),
            estimated_calls=needed.calls,
            estimated_input_tokens=needed.input_tokens,
            estimated_s=_seconds_for(session, state.chat, needed.calls),
            choice_needed=whole.choice_needed and whole.settings.enabled,
        )

    def _window(self, session: Session, state: ChatState) -> int | None:
        try:
            return self.connections.describe(session, state.settings.summarizer(state.chat.strategy)).context_size
        except NotFound:
            return None

    def _connection(self, session: Session, state: ChatState) -> ConnectionStatus:
        name = state.settings.summarizer(state.chat.strategy)
        health = self.servers.health(name)
        try:
            connection = self.connections.describe(session, name)
        except NotFound:
            return ConnectionStatus(name, "missing", None, "failing", None)
        waiting = _waiting(session, state.chat)
        return ConnectionStatus(name, connection.provider, connection.model, health.state, health.retry_at, waiting)


def _waiting(session: Session, chat: Chat) -> WaitingView | None:
    queue = client_calls.queue(session, chat.key, now_ms())
    return WaitingView(queue.connection, queue.calls, from_ms(queue.since), queue.leased) if queue else None


def _rewrite_backlog(state: ChatState, known: int | None) -> BacklogView:
    """Where one summary is written anew: the turns that would fold on request, in about so many calls.

    `known`: the window of the connection, None where it is not known.
    """
    settings = state.settings
    rolling = min(settings.rolling.window, known or settings.rolling.window)
    window = rolling if state.chat.strategy == Strategy.ROLLING else known or WINDOW
    summary = settings.rolling.max_summary_tokens
    if state.chat.strategy == Strategy.SUMMARY_BUFFER:
        summary = settings.summary_buffer.max_summary_tokens
    overhead = 2 * summary + _SCAFFOLDING
    found = check(state, forced=True) if state.rewrites else None
    if not isinstance(found, Rewrite):
        return BacklogView()
    rolls = state.chat.strategy == Strategy.ROLLING
    turns = state.dialog.outside(state.settings.rolling.keep_recent_turns) if rolls else len(found.turns)
    costs = [turn.tokens + _PER_TURN for turn in found.turns]
    costs += [sum(costs) // len(costs)] * (turns - len(costs))  # those that were not read are like those that were
    calls = calls_for(costs, max(1, window - overhead))
    return BacklogView(
        turns=turns, batches=calls, estimated_calls=calls, estimated_input_tokens=sum(costs) + calls * overhead
    )


def _seconds_for(session: Session, chat: Chat, calls: int) -> float | None:
    """At the pace of the newest job that folded; older ones than a few had another model, or another day."""
    recent = jobs.matching(session, [jobs.of_chat(chat.key)], None, _RECENT_JOBS) if calls else []
    job = next((job for job in recent if job.done and job.started_at is not None), None)
    return None if job is None else seconds_for(session, chat, job, calls, now_ms())


def _last_error(chat: Chat) -> ErrorView | None:
    """What failed last; when it is tried again is the chat's own fact, which a stop or a pause takes away."""
    error = show_error(chat.last_error)
    return replace(error, retry_at=from_ms(chat.retry_at) if chat.retry_at else None) if error else None


def count_messages(session: Session, chat: Chat) -> CountsView:
    """The chat's messages by state, counted without reading them."""
    count = counting.counts(session, chat.key, chat.strategy)
    return _counts(count, _reopened(session, chat, count.messages))


def _reopened(session: Session, chat: Chat, total: int) -> int:
    """1 if the last reply ends no turn after all, because a tool call before it is unanswered (layered.md, Words)."""
    newest = messages.newest_uncovered(session, chat.key, chat.strategy, _LAST_TURN)
    return sum(1 for message in outline(newest, total).open if message.closes)


def _counts(count: counting.Counts, reopened: int) -> CountsView:
    return CountsView(
        messages=count.messages,
        turns=count.closing - reopened,
        visible=count.messages - count.ghosted - count.hidden - count.omitted,
        ghosted=count.ghosted,
        hidden=count.hidden,
        omitted=count.omitted,
        pinned=count.pinned,
        skipped=count.skipped,
    )


def _layers(state: ChatState, turns: dict[int, int]) -> list[LayerView]:
    sizes = Tally(snippet.core.layer for snippet in state.live)
    tokens: Tally[int] = Tally()
    for snippet in state.live:
        tokens[snippet.core.layer] += snippet.core.tokens
    limit = state.settings.layered.snippets_per_layer if state.layered else 1
    highest = max(sizes, default=-1)
    return [LayerView(n, sizes[n], limit, tokens[n], turns.get(n, 0)) for n in range(highest + 1)]
