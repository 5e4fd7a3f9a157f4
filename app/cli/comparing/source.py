"""The chat that is compared: any file that can be imported, turn by turn, without the memory it may bring."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from app.assembly import Server
from app.cli.failing import CannotRun
from app.cli.importing import open_stream
from app.core.comparison import TurnCost
from app.core.model import Role
from app.services.recording import Draft, MessageView

_CHAT = "the-file"
_AT_ONCE = 1000
_ELSEWHERE = frozenset(
    {"connection", "merge_connection", "fallback_connection", "enabled", "paused", "ghosting", "on_backlog"}
)
"""Settings of a chat that name what is not here, or would keep it from folding."""

_BUFFER_ELSEWHERE = frozenset({"scope", "llm_source", "connection"})


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said before a reply, and the reply."""

    asked: Sequence[Draft]
    reply: Draft
    tokens: int

    @property
    def drafts(self) -> list[Draft]:
        """All its messages."""
        return [*self.asked, self.reply]

    @property
    def cost(self) -> TurnCost:
        """As far as sizes go."""
        return TurnCost(self.tokens, 1 + len(self.asked))


@dataclass(frozen=True, slots=True)
class Source:
    """A chat: what a copy of it is made with, its own system prompt, its closed turns, and their messages."""

    fields: Mapping[str, Any]
    opening: Sequence[Draft]
    turns: Sequence[Turn]

    @property
    def messages(self) -> int:
        """How many there are."""
        return len(self.opening) + sum(1 + len(turn.asked) for turn in self.turns)

    @property
    def tokens(self) -> int:
        """All that is said in the turns."""
        return sum(turn.tokens for turn in self.turns)


async def read_source(server: Server, file: str, limit: int | None) -> Source:
    """The first `limit` turns of a file. Before the server starts: what the file brings is not folded.

    Raises CannotRun when there is no reply in it, and whatever importing raises.
    """
    with open_stream(file) as (stream, _):
        server.services.importing.load(stream, chat_id=_CHAT, title=None, format=None)
    chat = server.services.keeping.get(_CHAT)
    found = _messages(server)
    opening = _opening(found)
    turns = list(islice(_turns(found[len(opening) :]), limit))
    await server.services.keeping.delete(_CHAT)
    if not turns:
        raise CannotRun(f"There is no reply in {file}, so there is no prompt to compare.")
    fields = {
        "user_name": chat.user_name,
        "character_name": chat.character_name,
        "settings": _settings(chat.settings),
    }
    return Source(fields, [_draft(message) for message in opening], turns)


def _settings(own: Mapping[str, Any]) -> dict[str, Any]:
    """The chat's own settings, as far as they hold here: one chat, one connection, and nobody who is asked."""
    kept = {name: value for name, value in own.items() if name not in _ELSEWHERE}
    buffer = {name: value for name, value in own.get("summary_buffer", {}).items() if name not in _BUFFER_ELSEWHERE}
    return {**kept, "on_backlog": "all", "summary_buffer": buffer}


def _messages(server: Server) -> list[MessageView]:
    found: list[MessageView] = []
    while some := server.services.recording.page(_CHAT, state="all", after=len(found) - 1, limit=_AT_ONCE):
        found += some
    return found


def _opening(found: Sequence[MessageView]) -> Sequence[MessageView]:
    """The chat's own system prompt: system messages before anybody speaks (layered.md, Words)."""
    spoken = (place for place, message in enumerate(found) if message.role in (Role.USER, Role.ASSISTANT))
    return [message for message in found[: next(spoken, 0)] if message.role == Role.SYSTEM]


def _turns(found: Iterable[MessageView]) -> Iterator[Turn]:
    asked: list[Draft] = []
    tokens = 0
    for message in found:
        draft = _draft(message)
        tokens += message.tokens
        if draft.closes and draft.speaks:
            yield Turn(asked, draft, tokens)
            asked, tokens = [], 0
        else:
            asked.append(draft)


def _draft(message: MessageView) -> Draft:
    return Draft(
        Role(message.role),
        message.content,
        name=message.name,
        hidden=message.hidden,
        pinned=message.pinned,
        omitted=message.history == "omit",
        created_at=message.created_at,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
    )
