"""Imports: what came in."""

from pydantic import Field

from app.api.schemas.common import Notice, Shown


class Imported(Shown):
    """The chat, how much came in, and what to know about it."""

    chat_id: str
    messages: int
    snippets: int = Field(description="How many snippets of the memory were taken.")
    warnings: list[Notice] = Field(description="What could not be taken as it stood, and what was done instead.")
