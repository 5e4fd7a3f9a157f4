"""The settings of a chat: names, defaults, ranges. Source of each: layered.md, Settings, and rolling-and-buffer.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.core.model import Strategy

Window = Literal["strict", "compat"]
DeepestLayer = Literal["merge", "keep"]
Preset = Literal["narrative", "game_state", "custom"]

RANGES: Mapping[str, tuple[int, int]] = {
    "verbatim_turns": (1, 500),
    "turns_per_batch": (1, 50),
    "snippets_per_layer": (3, 500),
    "snippets_per_promotion": (2, 20),
    "max_layers": (1, 10),
    "flush_turns": (1, 200),
    "snippet_tokens": (16, 4096),
    "passage_tokens": (100, 1_000_000),
    "context_tokens": (0, 1_000_000),
    "memory_tokens": (0, 1_000_000),
    "verbatim_tokens": (0, 1_000_000),
    "backlog_concurrency": (1, 64),
}
"""Of layered memory."""

ROLLING_RANGES: Mapping[str, tuple[int, int]] = {
    "context_size": (0, 10_000_000),
    "trigger_tokens": (0, 10_000_000),
    "trigger_turns": (0, 1_000_000),
    "keep_recent_turns": (0, 512),
    "max_summary_tokens": (16, 1_000_000),
}
BUFFER_RANGES: Mapping[str, tuple[float, float]] = {
    "max_messages_before_summary": (1, 100_000),
    "recent_messages_to_keep": (0, 100_000),
    "timeout_s": (0.1, 300),
    "max_summary_tokens": (16, 100_000),
}


@dataclass(frozen=True, slots=True)
class LayeredSettings:
    """How layered memory is made. Token counts; 0 switches context_tokens, memory_tokens and verbatim_tokens off.

    `flush_turns` None means turns_per_batch. The four texts and `strip_patterns` None mean the preset's own.
    """

    verbatim_turns: int = 10
    turns_per_batch: int = 3
    snippets_per_layer: int = 30
    snippets_per_promotion: int = 3
    max_layers: int = 5
    window: Window = "strict"
    flush_turns: int | None = None
    deepest_layer: DeepestLayer = "merge"
    snippet_tokens: int = 120
    passage_tokens: int = 12_000
    context_tokens: int = 0
    memory_tokens: int = 16_000
    verbatim_tokens: int = 0
    backlog_concurrency: int = 1
    preset: Preset = "narrative"
    system_prompt: str | None = None
    user_prompt: str | None = None
    merge_prompt: str | None = None
    injection_template: str | None = None
    strip_patterns: tuple[str, ...] = ()

    @property
    def flush(self) -> int:
        """Turns over the window at which a fold starts."""
        return max(self.turns_per_batch, self.flush_turns or 0)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the summarizer's model picks its words; None leaves that to the connection."""

    temperature: float | None = None
    top_p: float | None = None
    min_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    repeat_penalty: float | None = None


ROLLING_CONTEXT = 2048
"""Tokens of the summarizer's window where `context_size` is 0."""


@dataclass(frozen=True, slots=True)
class RollingSettings:
    """How the one rolling summary is made (rolling-and-buffer.md, `rolling`). Token counts; a trigger of 0 is off.

    Texts that are empty are our own.
    """

    model_name: str = ""
    context_size: int = 0
    system_prompt: str = ""
    template: str = ""
    trigger_tokens: int = 1024
    trigger_turns: int = 0
    keep_recent_turns: int = 3
    max_summary_tokens: int = 256
    notify_client: bool = False
    sampling: Sampling = Sampling()
    run_inline: bool = True
    oversize: Literal["stop", "clip"] = "stop"
    catch_up: bool = False

    @property
    def window(self) -> int:
        """Tokens of the summarizer's window."""
        return self.context_size or ROLLING_CONTEXT


@dataclass(frozen=True, slots=True)
class BufferSettings:
    """When a summary buffer folds, counted in messages, and whose model does it (rolling-and-buffer.md).

    `timeout_s`: seconds an answer waits for a fold; `max_summary_tokens` bounds the summary.
    """

    max_messages_before_summary: int = 20
    recent_messages_to_keep: int = 6
    compare: Literal["reach", "exceed"] = "reach"
    scope: Literal["thread", "session", "call"] = "thread"
    llm_source: Literal["from_parent", "external"] = "from_parent"
    connection: str | None = None
    timeout_s: float = 45.0
    max_summary_tokens: int = 512
    expose_messages_output: bool = False
    expose_error_output: bool = False
    memory_placement: str | None = None


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What holds for a chat whatever its strategy, and the settings of each strategy.

    `memory_placement` None: where the strategy puts it by default.
    """

    enabled: bool = True
    paused: bool = False
    ghosting: bool = True
    on_backlog: Literal["ask", "all"] = "ask"
    on_refused: Literal["extract", "wait"] = "extract"
    connection: str = "default"
    merge_connection: str | None = None
    fallback_connection: str | None = None
    memory_placement: str | None = None
    memory_share: float = 0.5
    names: Literal["auto", "none", "field", "prefix"] = "auto"
    output_language: str = "auto"
    diagnostics: bool = False
    layered: LayeredSettings = LayeredSettings()
    rolling: RollingSettings = RollingSettings()
    summary_buffer: BufferSettings = BufferSettings()

    @property
    def replays_all(self) -> bool:
        """Whether everything not hidden is sent and no memory is (never both)."""
        return not (self.enabled and self.ghosting)

    def summarizer(self, strategy: str) -> str:
        """The name of the connection that makes a strategy's summaries."""
        buffer = self.summary_buffer
        external = strategy == Strategy.SUMMARY_BUFFER and buffer.llm_source == "external"
        return (buffer.connection if external else None) or self.connection

    def placement(self, strategy: str) -> str:
        """Where the memory stands in the prompt: the strategy's own value, the chat's, or the strategy's default."""
        if strategy == Strategy.SUMMARY_BUFFER:
            return self.summary_buffer.memory_placement or self.memory_placement or "system_message"
        return self.memory_placement or "system_end"
