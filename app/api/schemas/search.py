"""What a search finds."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Page, Shown
from app.api.text import Text
from app.services.searching import MOST_QUERY_CHARS


def _check_length(text: str) -> str:
    if not text.strip() or len(text) > MOST_QUERY_CHARS:
        raise PydanticCustomError(
            "words", "Must have 1 to {most} characters, not all blank.", {"most": MOST_QUERY_CHARS}
        )
    return text


Words = Annotated[
    Text, AfterValidator(_check_length), Field(json_schema_extra={"minLength": 1, "maxLength": MOST_QUERY_CHARS})
]


class SearchHit(Shown):
    """A message or a snippet that holds what was looked for."""

    kind: Literal["message", "snippet"]
    message_id: str | None = Field(description="The message; null for a snippet.", examples=["a1"])
    snippet_id: str | None = Field(
        description="The snippet; for a message its leaf, and null where nothing covers it.",
        examples=["5d0c7a52-6f0e-4c6b-9a52-0a4f0b4a7a10"],
    )
    index: int | None = Field(
        description="Of the message, or of the first one under the snippet; null where nothing is under it.",
        examples=[41],
    )
    excerpt: str = Field(
        description="About 160 characters on one line around what was found, as plain text; … where it is cut.",
        examples=["…opens the gate with the brass key and…"],
    )
    score: float = Field(description="The higher, the better; to compare within one answer.", examples=[2.31])


class SearchPage(Page[SearchHit]):
    """Hits, best first. There is one page: `next_cursor` is always null."""
