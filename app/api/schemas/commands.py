"""Slash commands."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Page, Shown
from app.api.text import StrictModel, Text


class Command(StrictModel):
    """A command line as a person types it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"command": "/sc-status"}]})

    command: Annotated[Text, Field(min_length=1, max_length=10_000)]


class CommandResult(Shown):
    """`text` for a person, `data` the same for a program."""

    text: str
    data: dict[str, Any]


class KnownCommand(Shown):
    """A command of this server."""

    name: str = Field(examples=["/sc-backlog"])
    help: str = Field(description="What it does, in a line.")
    arguments: str = Field(description="What may follow its name; empty if nothing may.")


class CommandList(Page[KnownCommand]):
    """All of them, on one page."""
