"""Playing a story: each turn is appended and folded as a frontend's would be, then the next prompt is looked at."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from app.cli.demo.story import TITLE, Story
from app.cli.failing import CannotRun
from app.core.trim import MESSAGE_OVERHEAD
from app.services.bundle import Services
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Appended
from app.services.reporting import LayerView

CHAT = "the-dry-mail"
LAYERED = {"verbatim_turns": 10, "turns_per_batch": 3, "snippets_per_layer": 8, "snippets_per_promotion": 3}
"""Layers of 8 instead of 30, so that a story of 160 turns fills three."""

_WAIT_S = 900.0


@dataclass(frozen=True, slots=True)
class Memory:
    """The layers, and the newest snippet's text, "" while there is none."""

    layers: list[LayerView]
    newest: str


_NO_MEMORY = Memory([], "")


@dataclass(frozen=True, slots=True)
class Moment:
    """How things stand after a turn. Tokens of the next prompt: `raw` with the whole chat in it, `sent` as it is."""

    turn: int
    turns: int
    raw: int
    sent: int
    window_turns: int
    memory: Memory

    @property
    def share(self) -> float:
        """What is sent of the whole, 0 to 1."""
        return self.sent / self.raw


def look(services: Services, story: Story) -> ProjectionView:
    """The prompt as the model would get it next."""
    prompt = f"You are {story.character_name}. Stay in character; never speak for {story.user_name}."
    return services.projecting.project(CHAT, ProjectionQuery(system_prompt=prompt))


async def play(services: Services, story: Story) -> AsyncIterator[Moment]:
    """A moment per turn. Raises CannotRun when the summarizer fails."""
    fields: dict[str, Any] = {
        "title": TITLE,
        "user_name": story.user_name,
        "character_name": story.character_name,
        "settings": {"layered": LAYERED},
    }
    services.keeping.put(CHAT, fields)
    said, memory = 0, _NO_MEMORY
    for turn, drafts in enumerate(story.turns, 1):
        appended = await services.recording.append(CHAT, drafts, "wait", _WAIT_S)
        _check(services, appended)
        said += sum(item.tokens + MESSAGE_OVERHEAD for item in appended.items)
        prompt = look(services, story)
        if appended.job_id is not None:
            memory = _memory(services)
        raw = prompt.tokens.system + said
        yield Moment(turn, len(story.turns), raw, prompt.tokens.total, prompt.window.turns, memory)


def _check(services: Services, appended: Appended) -> None:
    if appended.job_id is not None and appended.reason is not None:
        error = services.reporting.status(CHAT).last_error
        raise CannotRun(f"The summarizer failed: {error.detail if error else appended.reason}")


def _memory(services: Services) -> Memory:
    layers = services.reporting.status(CHAT).layers
    # Layer 0 is never empty once there is memory, and its last snippet is the newest.
    last = max(0, layers[0].snippets - 1) if layers else 0
    found = services.browsing.snippets(CHAT, layer=0, state="live", stale=None, degraded=None, offset=last, limit=1)
    return Memory(layers, found[0].text if found else "")
