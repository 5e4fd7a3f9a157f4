"""Exports in JSON: how other programs know a chat or its memory."""

from typing import Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Shown


class ExportedMemory(Shown):
    """`summaryception`: the export file of the Summaryception extension. Indices are those of the messages."""

    model_config = ConfigDict(extra="forbid")

    layers: list[list[dict[str, Any]]] = Field(description="Live snippets by layer, each layer oldest first.")
    summarizedUpTo: int = Field(description="The newest covered message; -1 if there is none.")
    ghostedIndices: list[int] = Field(description="All covered messages.")


class ExportedMessages(Shown):
    """`openai`: the history as chat-completions messages, without hidden and omitted ones."""

    model_config = ConfigDict(extra="forbid")

    messages: list[dict[str, Any]]
