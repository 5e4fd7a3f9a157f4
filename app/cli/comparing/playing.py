"""Playing a chat through a strategy: before each reply its prompt is asked for, as a frontend would, and measured."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from app.cli.comparing.meter import Meter
from app.cli.comparing.source import Source, Turn
from app.cli.failing import CannotRun
from app.core.comparison import Moment
from app.core.model import Usage
from app.core.reuse import shared
from app.services.bundle import Services
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft

_WAIT_S = 3600.0
_TEXTS_COUNTED = 2048


@dataclass(frozen=True, slots=True)
class Stage:
    """Where chats are played: the use cases, the meter of the summarizer, and the sizes of the prompts (tokens)."""

    services: Services
    meter: Meter
    context_size: int
    max_tokens: int | None


async def play(stage: Stage, source: Source, strategies: Sequence[str]) -> AsyncIterator[list[Moment]]:
    """A moment per strategy, turn by turn; all play the same turn at the same time, as a stop then cuts all alike.

    Raises CannotRun when the summarizer fails.
    """
    players = [_Player(stage, strategy) for strategy in strategies]
    for player in players:
        await player.begin(source)
    for number, turn in enumerate(source.turns, 1):
        yield list(await asyncio.gather(*(player.play(number, turn) for player in players)))


class _Player:
    """A copy of the chat that has one strategy."""

    def __init__(self, stage: Stage, strategy: str) -> None:
        self._stage = stage
        self._services = stage.services
        self._strategy = self._chat = strategy
        # Most texts of a prompt were in the one before.
        self._count = lru_cache(maxsize=_TEXTS_COUNTED)(stage.services.recording.counters.ahead(strategy))
        self._before: list[str] = []
        self._spent = Usage()

    async def begin(self, source: Source) -> None:
        """Make the chat."""
        await asyncio.to_thread(self._services.keeping.put, self._chat, {**source.fields, "strategy": self._strategy})
        if source.opening:
            await self._services.recording.append(self._chat, source.opening, "none", 0)

    async def play(self, number: int, turn: Turn) -> Moment:
        """Ask for the prompt, store the turn, and wait until it is folded."""
        prompt = await self._ask(turn)
        if any(warning.code == "fold_failed" for warning in prompt.warnings):
            await asyncio.to_thread(self._check, "fold_failed")
        appended = await self._services.recording.append(self._chat, turn.drafts, "wait", _WAIT_S)
        if appended.job_id is not None and appended.reason is not None:
            await asyncio.to_thread(self._check, appended.reason)
        return await asyncio.to_thread(self._measure, number, prompt)

    async def _ask(self, turn: Turn) -> ProjectionView:
        current = [_said(draft) for draft in turn.asked if not (draft.hidden or draft.omitted or draft.blank)]
        query = ProjectionQuery(
            context_size=self._stage.context_size, max_tokens=self._stage.max_tokens, current=current
        )
        return await self._services.answering.project(self._chat, query)

    def _measure(self, number: int, prompt: ProjectionView) -> Moment:
        texts = [_text(message) for message in prompt.messages]
        same = shared(self._before, texts)
        reused = sum(map(self._count, texts[: same.texts]))
        if same.chars:
            reused += self._count(texts[same.texts][: same.chars])
        spent, before = self._stage.meter.spent[self._chat], self._spent
        self._before, self._spent = texts, spent
        return Moment(
            turn=number,
            sent=prompt.tokens.total,
            memory=prompt.tokens.memory,
            verbatim=prompt.window.turns,
            dropped=prompt.window.dropped_turns,
            counted=sum(map(self._count, texts)),
            reused=reused,
            calls=spent.calls - before.calls,
            summarizing=_tokens(spent) - _tokens(before),
        )

    def _check(self, reason: str) -> None:
        """Raises CannotRun where a fold ended with an error; other reasons not to fold are part of the play."""
        error = self._services.reporting.status(self._chat).last_error
        if error is not None:
            raise CannotRun(f"{self._strategy}: the summarizer failed: {error.detail or reason}")


def _said(draft: Draft) -> dict[str, Any]:
    """As a request says a message."""
    optional = ("name", "tool_calls", "tool_call_id")
    values = {name: getattr(draft, name) for name in optional}
    said = {name: value for name, value in values.items() if value is not None}
    return {"role": draft.role.value, "content": draft.content, **said}


def _text(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    return f"{message['role']}: {message['content'] or ''}{calls or ''}"


def _tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens
