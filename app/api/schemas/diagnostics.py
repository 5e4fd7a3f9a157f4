"""What rolling memory decided after a reply, as it is shown."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.api.schemas.common import Page, Shown
from app.core.rewrite import SkipReason


class PromptMessage(Shown):
    """A message that the summarizer's model got."""

    role: str = Field(examples=["system"])
    content: str


class FoldInput(Shown):
    """What the model was asked."""

    prompt: list[PromptMessage]


class FoldOutput(Shown):
    """What it became."""

    text: str


class LastFold(Shown):
    """A fold in numbers. `covered_through` is the index of a turn."""

    covered_through: int = Field(examples=[5])
    folded_turns: int = Field(examples=[6])
    summary_tokens: int = Field(examples=[96])
    summarizer_prompt_tokens: int = Field(
        description="Of all calls it took, as the server counted them.", examples=[1420]
    )
    folded_input_tokens: int = Field(description="Of what the folded turns say.", examples=[1200])


class Skipped(Shown):
    """Why nothing was folded, and what waits outside the newest turns; tokens only where they were counted."""

    reason: SkipReason
    pending_turns: int = Field(examples=[5])
    pending_tokens: int = Field(examples=[1000])


class Diagnosis(Shown):
    """What was decided after a turn. With a fold `input`, `output` and `last_fold` are there, else `skipped`."""

    turn: int = Field(description="0-based index of the turn.", examples=[8])
    created_at: datetime
    parameters: dict[str, Any] = Field(description="The settings of rolling memory that held.")
    input: FoldInput | None = None
    output: FoldOutput | None = None
    last_fold: LastFold | None = None
    skipped: Skipped | None = None


class DiagnosisPage(Page[Diagnosis]):
    """What is kept of a chat, oldest first."""
