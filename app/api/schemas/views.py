"""Views of a chat, as they are PUT and shown."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Page, Shown
from app.api.schemas.frames import Frame
from app.api.schemas.projection import Authors
from app.api.schemas.settings import Names
from app.api.schemas.strategies import Placement
from app.api.text import Content, Int, StrictModel
from app.core.projection import ToolHistory
from app.formats.prompt_formats import Format

_MAX_TOKENS = 100_000_000
_EXAMPLE: dict[str, Any] = {
    "context_size": 8192,
    "max_tokens": 512,
    "system_prompt": "Speak as Tom.",
    "omit_authors": ["Narrator"],
}


class ViewFields(StrictModel):
    """Options to merge. All may be left out; null takes one away. What a request says itself goes before them."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    system_prompt: Content | None = Field(default=None, description="Before all else, in the one system message.")
    context_size: Int | None = Field(default=None, ge=1, le=_MAX_TOKENS, description="Tokens of the model's window.")
    max_tokens: Int | None = Field(
        default=None, ge=1, le=_MAX_TOKENS, description="Of it, kept free for the answer; only with context_size."
    )
    memory_placement: Placement | None = Field(default=None, description="Where the memory stands in the prompt.")
    format: Format | None = Field(default=None, description="The shape of `messages`.")
    names: Names | None = Field(default=None, description="How the prompt says who speaks.")
    tool_history: ToolHistory | None = Field(default=None, description="Whether past tool calls are sent.")
    omit_authors: Authors | None = Field(default=None, description="Whose messages are left out, by name.")
    frame: Frame | None = Field(default=None, description="Around the current turn, where the request brings none.")

    def change(self) -> dict[str, Any]:
        """The options that were given, null ones included."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return {**given, **({"frame": self.frame.model_dump()} if self.frame else {})}


class View(Shown):
    """How one consumer sees a chat. Options are null where it has none."""

    name: str = Field(examples=["reply"])
    system_prompt: str | None
    context_size: int | None
    max_tokens: int | None
    memory_placement: str | None
    format: str | None
    names: str | None
    tool_history: str | None
    omit_authors: list[str] | None
    frame: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


class ViewPage(Page[View]):
    """Views by name."""
