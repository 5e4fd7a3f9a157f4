"""Settings of rolling memory and of the summary buffer. Names, ranges and defaults: rolling-and-buffer.md."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Shown
from app.api.text import Bool, Id, Int, Number, StrictModel, Text
from app.core.placement import parse_placement
from app.core.settings import BUFFER_RANGES, ROLLING_RANGES, BufferSettings, RollingSettings
from app.services.mustache import check_template

_MAX_TEXT_CHARS = 100_000
_MAX_NAME_CHARS = 500


def _valid(check: Callable[[str], object]) -> AfterValidator:
    """Passes on what a check of a text says."""

    def checked(text: str) -> str:
        try:
            check(text)
        except ValueError as error:
            raise PydanticCustomError("invalid", "{why}", {"why": str(error)}) from None
        return text

    return AfterValidator(checked)


def _elsewhere(value: object) -> None:
    if value is not None:
        raise PydanticCustomError(
            "on_the_connection",
            "Belongs on the connection: PUT it there, in extra_body, and name that connection here.",
        )


def _inline_only(value: Any) -> Any:
    if value is False:
        raise PydanticCustomError("inline_only", "Must be true: the turn that triggers a fold waits for it.")
    return value


Placement = Annotated[Text, _valid(parse_placement), Field(examples=["system_end"])]
OnTheConnection = Annotated[Any, BeforeValidator(_elsewhere)]
Prompt = Annotated[Text, Field(max_length=_MAX_TEXT_CHARS)]


class SamplingValues(StrictModel):
    """How the summarizer's model picks its words. Every value is optional; null leaves it to the connection."""

    temperature: Number | None = Field(default=None, ge=0, le=2)
    top_p: Number | None = Field(default=None, ge=0, le=1)
    min_p: Number | None = Field(default=None, ge=0, le=1)
    top_k: Int | None = Field(default=None, ge=0)
    max_tokens: Int | None = Field(default=None, ge=1, description="The smaller of it and max_summary_tokens counts.")
    repeat_penalty: Number | None = Field(default=None, ge=0)


def _whole(name: str, means: str) -> Any:
    low, high = ROLLING_RANGES[name]
    return Field(default=None, ge=low, le=high, description=means, examples=[getattr(RollingSettings(), name)])


def _count(name: str, means: str) -> Any:
    low, high = BUFFER_RANGES[name]
    return Field(default=None, ge=low, le=high, description=means, examples=[getattr(BufferSettings(), name)])


class RollingValues(StrictModel):
    """How the one rolling summary is made. Every value is optional; null follows the server again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"trigger_tokens": 1024, "keep_recent_turns": 3}]})

    model_name: Annotated[Text, Field(max_length=_MAX_NAME_CHARS)] | None = Field(
        default=None, description="The summarizer's model; empty: the connection's."
    )
    context_size: Int | None = _whole("context_size", "Tokens of the summarizer's window; 0 means 2048.")
    system_prompt: Prompt | None = Field(default=None, description="What the summarizer is told to be; empty: ours.")
    template: Annotated[Prompt, _valid(check_template)] | None = Field(
        default=None, description="The question, in Mustache; empty: ours."
    )
    trigger_tokens: Int | None = _whole("trigger_tokens", "Tokens outside the hot window that start a fold; 0: off.")
    trigger_turns: Int | None = _whole("trigger_turns", "Turns outside the hot window that start a fold; 0: off.")
    keep_recent_turns: Int | None = _whole("keep_recent_turns", "The hot window: the newest turns, never folded.")
    max_summary_tokens: Int | None = _whole("max_summary_tokens", "Tokens the summary may hold.")
    notify_client: Bool | None = Field(default=None, description="Whether each fold is an event with its text.")
    sampling: SamplingValues | None = Field(default=None, description="How the model picks its words.")
    run_inline: Annotated[Bool, BeforeValidator(_inline_only)] | None = Field(default=None, description="true only.")
    oversize: Literal["stop", "clip"] | None = Field(
        default=None, description="A turn that is too long for the summarizer holds folding up, or loses its middle."
    )
    catch_up: Bool | None = Field(default=None, description="Whether one reply may bring several folds.")
    context: OnTheConnection = Field(default=None, description="On the connection instead.")
    adaptation: OnTheConnection = Field(default=None, description="On the connection instead.")


class BufferValues(StrictModel):
    """When a summary buffer folds. Every value is optional; null follows the server again."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"max_messages_before_summary": 20, "recent_messages_to_keep": 6}]}
    )

    max_messages_before_summary: Int | None = _count("max_messages_before_summary", "Messages that start a fold.")
    recent_messages_to_keep: Int | None = _count("recent_messages_to_keep", "The newest messages, left as they are.")
    compare: Literal["reach", "exceed"] | None = Field(default=None, description="At the threshold, or over it.")
    scope: Literal["thread", "session", "call"] | None = Field(
        default=None, description="What is remembered: the chat, a session_id, or nothing beyond a request."
    )
    llm_source: Literal["from_parent", "external"] | None = Field(
        default=None, description="Whose model summarizes: the chat's connection, or the one named here."
    )
    connection: Id | None = Field(default=None, description="Summarizes where llm_source is external.")
    timeout_s: Number | None = _count("timeout_s", "Seconds an answer waits for a fold.")
    max_summary_tokens: Int | None = _count("max_summary_tokens", "Tokens the summary may hold.")
    expose_messages_output: Bool | None = Field(default=None, description="Adds stored_messages to projections.")
    expose_error_output: Bool | None = Field(default=None, description="Adds error to projections.")
    memory_placement: Placement | None = Field(default=None, description="Where the summary stands in the prompt.")


class EffectiveSampling(Shown):
    """How the summarizer's model picks its words; null: as the connection says."""

    temperature: float | None
    top_p: float | None
    min_p: float | None
    top_k: int | None
    max_tokens: int | None
    repeat_penalty: float | None


class EffectiveRolling(Shown):
    """How rolling memory is made now."""

    model_name: str
    context_size: int
    system_prompt: str
    template: str
    trigger_tokens: int
    trigger_turns: int
    keep_recent_turns: int
    max_summary_tokens: int
    notify_client: bool
    sampling: EffectiveSampling
    run_inline: bool
    oversize: Literal["stop", "clip"]
    catch_up: bool


class EffectiveBuffer(Shown):
    """How the summary buffer works now."""

    max_messages_before_summary: int
    recent_messages_to_keep: int
    compare: Literal["reach", "exceed"]
    scope: Literal["thread", "session", "call"]
    llm_source: Literal["from_parent", "external"]
    connection: str | None
    timeout_s: float
    max_summary_tokens: int
    expose_messages_output: bool
    expose_error_output: bool
    memory_placement: str
