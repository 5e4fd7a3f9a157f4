"""Slash commands."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Shown
from app.api.text import StrictModel, Text


class Command(StrictModel):
    """A command line as a person types it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"command": "/sc-status"}]})

    command: Annotated[Text, Field(min_length=1, max_length=10_000)]


class CommandResult(Shown):
    """`text` for a person, `data` the same for a program."""

    text: str
    data: dict[str, Any]
