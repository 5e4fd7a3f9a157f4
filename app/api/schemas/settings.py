"""Settings: those a chat or the server sets, and those in force. Names, ranges and defaults: layered.md, Settings."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Shown
from app.api.schemas.strategies import BufferValues, EffectiveBuffer, EffectiveRolling, Placement, RollingValues
from app.api.text import Bool, Id, Int, Name, Number, StrictModel, Text
from app.core.settings import RANGES, ChatSettings, DeepestLayer, LayeredSettings, Preset, Window
from app.core.template import fill

Names = Literal["auto", "none", "field", "prefix"]
OnBacklog = Literal["ask", "all"]
OnRefused = Literal["extract", "wait"]

_MAX_PROMPT_CHARS = 100_000
_DEFAULTS, _CHAT_DEFAULTS = LayeredSettings(), ChatSettings()


def _needs_summary(template: str) -> str:
    if fill(template, {"summary": ""}) == template:
        raise PydanticCustomError(
            "no_summary", "Must hold {summary}, where the memory goes.", {"summary": "{{summary}}"}
        )
    return template


Prompt = Annotated[Text, Field(max_length=_MAX_PROMPT_CHARS)]
Template = Annotated[Prompt, AfterValidator(_needs_summary)]
Pattern = Annotated[Text, Field(min_length=1, max_length=1000)]


def _number(name: str, means: str) -> Any:
    """An optional whole number in the range of the setting `name`; null follows the server again."""
    low, high = RANGES[name]
    default = getattr(_DEFAULTS, name)
    return Field(default=None, ge=low, le=high, description=means, examples=[default or low])


def _switch(name: str, means: str) -> Any:
    return Field(default=None, description=means, examples=[getattr(_CHAT_DEFAULTS, name)])


class LayeredValues(StrictModel):
    """How layered memory is made. Every value is optional; null follows the server again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"verbatim_turns": 10, "turns_per_batch": 3}]})

    verbatim_turns: Int | None = _number("verbatim_turns", "The newest turns that are never folded.")
    turns_per_batch: Int | None = _number("turns_per_batch", "Turns in one snippet.")
    snippets_per_layer: Int | None = _number("snippets_per_layer", "Snippets a layer holds before it promotes.")
    snippets_per_promotion: Int | None = _number("snippets_per_promotion", "Snippets merged at once.")
    max_layers: Int | None = _number("max_layers", "Layers there may be.")
    window: Window | None = Field(
        default=None, description="`strict` keeps the whole window; `compat` as the original."
    )
    flush_turns: Int | None = _number("flush_turns", "Turns over the window at which a fold starts.")
    deepest_layer: DeepestLayer | None = Field(default=None, description="What a full deepest layer does.")
    snippet_tokens: Int | None = _number("snippet_tokens", "Tokens a snippet may hold.")
    passage_tokens: Int | None = _number("passage_tokens", "Tokens of chat summarized at once.")
    context_tokens: Int | None = _number("context_tokens", "Tokens of memory the summarizer sees; 0: all.")
    memory_tokens: Int | None = _number("memory_tokens", "Tokens the memory may hold; 0: no limit.")
    verbatim_tokens: Int | None = _number("verbatim_tokens", "Tokens that may wait outside the window; 0: no limit.")
    backlog_concurrency: Int | None = _number("backlog_concurrency", "Calls at once while a backlog is folded.")
    preset: Preset | None = Field(default=None, description="Which prompts; changing one under a preset is `custom`.")
    system_prompt: Prompt | None = Field(default=None, description="What the summarizer is told to be.")
    user_prompt: Prompt | None = Field(default=None, description="The question; holds `{{story_txt}}`.")
    merge_prompt: Prompt | None = Field(default=None, description="The question when snippets are merged.")
    injection_template: Template | None = Field(default=None, description="Around the memory; holds `{{summary}}`.")
    strip_patterns: list[Pattern] | None = Field(
        default=None, max_length=100, description="Literal texts taken out of every answer."
    )


class SettingsValues(StrictModel):
    """Settings to merge: those for every strategy at the top, one object per strategy beside them."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"on_backlog": "all", "layered": {"verbatim_turns": 10}}]},
    )

    enabled: Bool | None = _switch("enabled", "Whether there is memory at all.")
    paused: Bool | None = _switch("paused", "Whether folding waits; what is remembered is still sent.")
    ghosting: Bool | None = _switch("ghosting", "Whether covered messages give way to their summaries.")
    on_backlog: OnBacklog | None = Field(default=None, description="Whether an old chat asks before it folds.")
    on_refused: OnRefused | None = Field(
        default=None,
        description="Turns a model refuses again and again: the built-in summarizer takes them, or they wait.",
    )
    connection: Id | None = Field(default=None, description="Makes the summaries.", examples=["default"])
    merge_connection: Id | None = Field(default=None, description="Makes the merges, if another one should.")
    fallback_connection: Id | None = Field(default=None, description="Asked when the first one fails.")
    memory_placement: Placement | None = Field(default=None, description="Where the memory stands in the prompt.")
    memory_share: Number | None = Field(default=None, ge=0, le=1, description="Of the budget, for memory.")
    names: Names | None = Field(default=None, description="How the prompt says who speaks.")
    output_language: Name | None = Field(default=None, description="Of summaries; `auto`: the conversation's own.")
    layered: LayeredValues | None = Field(default=None, description="Layered memory; null follows the server again.")
    diagnostics: Bool | None = _switch("diagnostics", "Whether checks after replies are kept, for 50 turns.")
    rolling: RollingValues | None = Field(default=None, description="Rolling memory; null follows the server again.")
    summary_buffer: BufferValues | None = Field(default=None, description="The summary buffer; null: the server's.")


class EffectiveLayered(Shown):
    """How layered memory is made now. Prompts that are null are the preset's own."""

    verbatim_turns: int
    turns_per_batch: int
    snippets_per_layer: int
    snippets_per_promotion: int
    max_layers: int
    window: Window
    flush_turns: int
    deepest_layer: DeepestLayer
    snippet_tokens: int
    passage_tokens: int
    context_tokens: int
    memory_tokens: int
    verbatim_tokens: int
    backlog_concurrency: int
    preset: Preset
    system_prompt: str | None
    user_prompt: str | None
    merge_prompt: str | None
    injection_template: str | None
    strip_patterns: list[str]


class EffectiveSettings(Shown):
    """The settings in force."""

    enabled: bool
    paused: bool
    ghosting: bool
    on_backlog: OnBacklog
    on_refused: OnRefused
    connection: str
    merge_connection: str | None
    fallback_connection: str | None
    memory_placement: str
    memory_share: float
    names: Names
    output_language: str
    diagnostics: bool
    layered: EffectiveLayered
    rolling: EffectiveRolling
    summary_buffer: EffectiveBuffer


class ServerSettings(EffectiveSettings):
    """What chats follow that set nothing themselves; `settings` are the values that were set here."""

    settings: dict[str, Any] = Field(examples=[{"layered": {"verbatim_turns": 10}}])
