"""Trials of prompts, in and out."""

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Shown, Usage
from app.api.schemas.settings import SettingsValues
from app.api.text import Bool, Id, Int, StrictModel
from app.core.limits import LAST_INDEX


def _index(means: str) -> Int | None:
    found: Int | None = Field(default=None, ge=0, le=LAST_INDEX, description=means, examples=[0])
    return found


class TrialFields(StrictModel):
    """What is tried. Without a body: the chat's own prompts, rendered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"settings": {"layered": {"system_prompt": "Tell it in one line."}}, "run": True}]
        }
    )

    settings: SettingsValues | None = Field(default=None, description="Laid over the chat's own, for this call only.")
    connection: Id | None = Field(default=None, description="Asked instead of the chat's own.", examples=["default"])
    first_index: Int | None = _index("Where the passage begins; widened to whole turns.")
    last_index: Int | None = _index("Where it ends. One of the two alone names one turn.")
    run: Bool = Field(default=False, description="Whether the model is asked.")

    @model_validator(mode="after")
    def _in_order(self) -> "TrialFields":
        first, last = self.first_index, self.last_index
        if first is not None and last is not None and first > last:
            raise PydanticCustomError("reversed", "first_index must not be after last_index.")
        return self


class TrialPassage(Shown):
    """Closed turns that a fold could take: where the messages are that the model reads, and their tokens."""

    first_index: int
    last_index: int
    turns: int
    tokens: int = Field(description="Of the messages as they are stored; the prompt may hold less of a long one.")


class TrialProblem(Shown):
    """Why there is no summary."""

    code: str = Field(examples=["provider_rejected"])
    detail: str
    connection: str
    status: int | None = Field(description="The model server's HTTP status, if it answered.")
    refused_text: str | None = Field(
        description="The first 2,000 characters of an answer that was refused, as it came; null if there was none.",
        examples=[None],
    )


class Rehearsal(Shown):
    """The rendered prompt and, if the model was asked, what became of it. Nothing of it is kept but its cost."""

    passage: TrialPassage
    system: str
    user: str
    tokens: int = Field(description="Of both prompts, as the chat counts.")
    connection: str
    model: str | None
    text: str | None = Field(
        description="The summary as it would be stored; null if none was asked for, or could be had."
    )
    text_tokens: int | None
    usage: Usage | None = Field(description="What it cost; null if the model was not asked.")
    latency_ms: int | None = Field(description="With repetitions, and the wait for a free place.")
    problem: TrialProblem | None
