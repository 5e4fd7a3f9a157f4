"""Snippets, as they are shown and as a person writes them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Page, Shown, Usage
from app.api.text import Id, StrictModel, Text
from app.core.model import Strategy

MAX_TEXT_CHARS = 65_536

SnippetKind = Literal["fold", "seed", "merge", "manual", "import", "rolling", "buffer"]
SnippetState = Literal["live", "absorbed", "superseded", "dormant", "all"]


def _strip(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise PydanticCustomError("blank", "Must hold more than spaces; DELETE the snippet to be rid of it.")
    if len(stripped) > MAX_TEXT_CHARS:
        raise PydanticCustomError("text_too_long", "Must be at most {most} characters.", {"most": MAX_TEXT_CHARS})
    return stripped


OwnText = Annotated[
    Text,
    AfterValidator(_strip),
    Field(
        description=f"At most {MAX_TEXT_CHARS:,} characters; spaces around it are taken off.",
        examples=["Mira has the brass key now; Tom thinks he lost it."],
    ),
]


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
    state: str = Field(description="live, absorbed, superseded or dormant.", examples=["live"])
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


class SnippetPatch(StrictModel):
    """The text a snippet is to have."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "Mira has the brass key now; Tom thinks he lost it."}]}
    )

    text: OwnText


class NewSnippet(StrictModel):
    """A snippet by hand, over whole turns that nothing covers yet."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"first_message_id": "u1", "last_message_id": "a3", "text": "Tom lets Mira through the gate."}]
        }
    )

    first_message_id: Id = Field(description="With this message the first turn begins.")
    last_message_id: Id = Field(description="With this message the last turn ends.")
    text: OwnText


class SnippetVersion(Shown):
    """A text that a snippet had before."""

    text: str
    tokens: int
    why: Literal["edit", "regenerate", "heal", "undo"] = Field(description="What replaced it.")
    edited: bool = Field(description="Whether a person wrote it.")
    stale: bool = Field(description="Whether what it covered had changed by then.")
    degraded: bool
    connection: str | None
    model: str | None
    replaced_at: datetime


class SnippetVersionPage(Page[SnippetVersion]):
    """Earlier texts, newest first."""


class Step(Shown):
    """A step that was taken back; `manual` is a snippet that was written by hand."""

    kind: Literal["edit", "delete", "manual", "regenerate"]
    snippet_id: str


class Undone(Shown):
    """What was taken back."""

    undone: Step
