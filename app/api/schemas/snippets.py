"""Snippets, as they are shown."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.api.schemas.common import Page, Shown, Usage
from app.core.model import Strategy

SnippetKind = Literal["fold", "seed", "merge", "manual", "import", "rolling", "buffer"]
SnippetState = Literal["live", "absorbed", "superseded", "dormant", "all"]


class Covers(Shown):
    """The messages under a snippet, through whatever layers."""

    first_index: int
    last_index: int
    turns: int
    messages: int


class Snippet(Shown):
    """One line of memory."""

    id: str
    strategy: Strategy
    layer: int = Field(description="0 covers turns, n+1 covers snippets of layer n.")
    position: int = Field(description="Its place within its layer.")
    text: str = Field(examples=["Mira asks Tom about the gate; he opens it with the brass key."])
    tokens: int
    source_tokens: int = Field(description="Tokens of what it was made from.")
    kind: SnippetKind
    state: str = Field(description="live, absorbed, superseded, dormant or deleted.", examples=["live"])
    parent_id: str | None = Field(description="The merged snippet that stands for it now.")
    children: list[str] = Field(description="The snippets it was merged from, oldest first.")
    covers: Covers | None = Field(description="Null where nothing is left under it.")
    stale: bool = Field(description="What it covers has changed since.")
    degraded: bool = Field(description="Cut, from a clipped passage, or not by the model that was meant to.")
    connection: str | None
    model: str | None
    usage: Usage
    created_at: datetime
    edited_at: datetime | None


class SnippetPage(Page[Snippet]):
    """Snippets in reading order: deepest layer first, oldest first."""
