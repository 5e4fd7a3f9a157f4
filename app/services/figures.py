"""Figures for who draws them: how a chat's prompt has grown, and what the summaries of all chats have cost."""

from dataclasses import dataclass

from app.core.growth import Point, Recent, grow
from app.core.model import Strategy, Usage
from app.core.resolving import resolve
from app.core.settings import ChatSettings
from app.services.reading import require_chat
from app.store import chats, growth, jobs
from app.store.engine import Database

_FINE = 4
"""So many folds for each point: then they are a fine enough measure, and the messages under them need not be read."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What the summaries of all chats there are have cost; `chats`: how many these are."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    chats: int


@dataclass(frozen=True)
class Figures:
    """Reads them."""

    db: Database

    def curve(self, chat_id: str, points: int) -> list[Point]:
        """At most so many points, oldest first; none of an empty chat. Raises NotFound."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            total, server = chats.surroundings(session, chat.key)
            settings = resolve(server, chat.settings)[0]
            lines = growth.lines(session, chat.key, chat.strategy)
            under, steps = growth.folds(session, chat.key, chat.strategy) if lines else ({}, [])
            if len(under) < _FINE * points:
                steps = growth.stretches(session, chat.key, -(-total // points) or 1)
        return grow(steps, lines, under, _recent(settings, chat.strategy), points)

    def usage(self) -> Costs:
        """Of all chats there are; what a chat's sessions and trials cost is in its own, and goes with it."""
        with self.db.read() as session:
            found = jobs.usages(session)
        whole = sum(found, Usage())
        return Costs(whole.calls, whole.prompt_tokens, whole.completion_tokens, len(found))


def _recent(settings: ChatSettings, strategy: str) -> Recent:
    if strategy == Strategy.ROLLING:
        return Recent(turns=settings.rolling.keep_recent_turns)
    if strategy == Strategy.SUMMARY_BUFFER:
        return Recent(messages=settings.summary_buffer.recent_messages_to_keep)
    return Recent(turns=settings.layered.verbatim_turns)
