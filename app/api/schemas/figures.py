"""Figures of chats, as they are shown."""

from pydantic import Field

from app.api.schemas.common import Shown, Usage


class GrowthPoint(Shown):
    """Tokens at a message: of all that is not hidden, of the memory, and of the memory with what it did not cover."""

    index: int
    turns: int
    raw_tokens: int
    memory_tokens: int
    sent_tokens: int


class Growth(Shown):
    """The course of a chat, oldest first; the last point is the chat as it stands."""

    items: list[GrowthPoint]


class Costs(Usage):
    """What the summaries of all chats have cost."""

    chats: int = Field(description="How many chats there are.", examples=[12])
