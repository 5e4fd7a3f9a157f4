"""The settings of a chat: names, defaults, ranges, and how the server's and the chat's own come together.

Source of every name, default and range: layered.md, Settings.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

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
class ChatSettings:
    """What holds for a chat whatever its strategy, and the layered settings."""

    enabled: bool = True
    paused: bool = False
    ghosting: bool = True
    on_backlog: Literal["ask", "all"] = "ask"
    on_refused: Literal["extract", "wait"] = "extract"
    connection: str = "default"
    merge_connection: str | None = None
    fallback_connection: str | None = None
    memory_placement: str = "system_end"
    memory_share: float = 0.5
    names: Literal["auto", "none", "field", "prefix"] = "auto"
    output_language: str = "auto"
    layered: LayeredSettings = LayeredSettings()

    @property
    def replays_all(self) -> bool:
        """Whether everything not hidden is sent and no memory is (never both)."""
        return not (self.enabled and self.ghosting)


def merge_values(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `change` laid over it, one object per strategy deep; a null in `change` takes a value away.

    Changing a prompt under a named preset makes the preset `custom` (layered.md, Settings).
    """
    merged = dict(base)
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            merged[name] = _merge_strategy(merged.get(name, {}), value)
        else:
            merged[name] = value
    return merged


def _merge_strategy(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    merged = {name: value for name, value in {**base, **change}.items() if value is not None}
    prompts = {"system_prompt", "user_prompt", "merge_prompt"}
    if "preset" not in change and any(change.get(name) not in (None, base.get(name)) for name in prompts):
        merged["preset"] = "custom"
    return merged


def resolve(server: Mapping[str, Any], chat: Mapping[str, Any]) -> tuple[ChatSettings, list[str]]:
    """The settings in force: defaults, then the server's, then the chat's own; with a warning per clamped value."""
    wanted = resolve_unclamped(server, chat)
    clamped = clamp(wanted.layered)
    return replace(wanted, layered=clamped), _differences(wanted.layered, clamped)


def resolve_unclamped(server: Mapping[str, Any], chat: Mapping[str, Any]) -> ChatSettings:
    """The settings as they were set, whether they fit together or not."""
    chat_wide = {name: value for name, value in {**server, **chat}.items() if name in _CHAT_WIDE - {"layered"}}
    return ChatSettings(**chat_wide, layered=_layered({**server.get("layered", {}), **chat.get("layered", {})}))


def _layered(values: Mapping[str, Any]) -> LayeredSettings:
    patterns = tuple(values.get("strip_patterns") or ())
    return LayeredSettings(**{**values, "strip_patterns": patterns})


def clamp(settings: LayeredSettings) -> LayeredSettings:
    """The nearest settings that fit together: a change of the server's default can leave a chat's value out."""
    promotion = min(settings.snippets_per_promotion, settings.snippets_per_layer - 1)
    flush = settings.flush_turns
    if flush is not None:
        flush = max(flush, settings.turns_per_batch)
    return replace(settings, snippets_per_promotion=max(2, promotion), flush_turns=flush)


def contradictions(settings: LayeredSettings) -> dict[str, str]:
    """What does not fit together, by setting."""
    found = {}
    if settings.snippets_per_promotion >= settings.snippets_per_layer:
        found["snippets_per_promotion"] = f"must be less than snippets_per_layer ({settings.snippets_per_layer})"
    if settings.flush_turns is not None and settings.flush_turns < settings.turns_per_batch:
        found["flush_turns"] = f"must be at least turns_per_batch ({settings.turns_per_batch})"
    return found


def _differences(wanted: LayeredSettings, clamped: LayeredSettings) -> list[str]:
    return [
        f"layered.{name} {getattr(wanted, name)} does not fit the other settings; {getattr(clamped, name)} is used."
        for name in (field.name for field in fields(LayeredSettings))
        if getattr(wanted, name) != getattr(clamped, name)
    ]


_CHAT_WIDE = frozenset(field.name for field in fields(ChatSettings))
