"""app.core.settings: defaults, the server's and the chat's own, and what fits together."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.resolving import clamp, contradictions, merge_values, resolve, resolve_unclamped
from app.core.settings import RANGES, BufferSettings, ChatSettings, LayeredSettings, RollingSettings


def test_the_defaults() -> None:
    """Nothing set anywhere gives the defaults of layered.md, without a warning."""
    assert resolve({}, {}) == (ChatSettings(), [])


@pytest.mark.parametrize("name", sorted(RANGES))
def test_defaults_are_in_range(name: str) -> None:
    """Every default lies in its own range."""
    low, high = RANGES[name]
    default = getattr(LayeredSettings(), name)
    assert default is None or low <= default <= high


def test_every_number_has_a_range() -> None:
    """A number without a range could not be checked."""
    numbers = {field.name for field in fields(LayeredSettings) if field.type in (int, "int", "int | None", int | None)}
    assert numbers == set(RANGES)


def test_the_chat_overrides_the_server_value_by_value() -> None:
    """What a chat does not set is the server's, what the server does not set is the default."""
    found, _ = resolve(
        {"paused": True, "names": "field", "layered": {"verbatim_turns": 4, "turns_per_batch": 2}},
        {"names": "none", "layered": {"verbatim_turns": 6}},
    )
    assert (found.paused, found.names, found.enabled) == (True, "none", True)
    layered = found.layered
    assert (layered.verbatim_turns, layered.turns_per_batch, layered.snippets_per_layer) == (6, 2, 30)


def test_settings_of_other_strategies_are_passed_over() -> None:
    """A chat may hold settings for a strategy it does not use now."""
    assert resolve({}, {"another": {"trigger_tokens": 5}}) == (ChatSettings(), [])


def test_patterns_become_a_tuple() -> None:
    """Stored as a list, used as a value."""
    assert resolve({}, {"layered": {"strip_patterns": ["a", "b"]}})[0].layered.strip_patterns == ("a", "b")


def test_a_value_left_out_by_a_new_server_default_is_clamped_with_a_warning() -> None:
    """The chat's 5 does not fit the server's new limit of 4; 3 is used, and said."""
    server, own = {"layered": {"snippets_per_layer": 4}}, {"layered": {"snippets_per_promotion": 5}}
    found, warnings = resolve(server, own)
    assert found.layered.snippets_per_promotion == 3
    assert warnings == ["layered.snippets_per_promotion 5 does not fit the other settings; 3 is used."]
    assert resolve_unclamped(server, own).layered.snippets_per_promotion == 5


def test_flush_turns_is_never_less_than_a_batch() -> None:
    """Left alone it is a batch."""
    assert LayeredSettings(turns_per_batch=5).flush == 5
    assert LayeredSettings(turns_per_batch=5, flush_turns=12).flush == 12
    assert clamp(_layered(turns_per_batch=5, flush_turns=3)).layered.flush_turns == 5
    assert clamp(_layered(turns_per_batch=5)).layered.flush_turns is None


def test_contradictions_are_named() -> None:
    """Each names the setting to change."""
    assert contradictions(ChatSettings()) == {}
    assert contradictions(_layered(snippets_per_layer=3)) == {
        ("layered", "snippets_per_promotion"): "must be less than snippets_per_layer (3)"
    }
    assert contradictions(_layered(flush_turns=2)) == {
        ("layered", "flush_turns"): "must be at least turns_per_batch (3)"
    }
    assert contradictions(ChatSettings(rolling=RollingSettings(max_summary_tokens=1985))) == {
        ("rolling", "max_summary_tokens"): "must be at most context_size - 64 (1984)"
    }
    assert contradictions(ChatSettings(summary_buffer=BufferSettings(recent_messages_to_keep=20))) == {
        ("summary_buffer", "recent_messages_to_keep"): "must be less than max_messages_before_summary (20)"
    }


def _layered(**values: Any) -> ChatSettings:
    return ChatSettings(layered=LayeredSettings(**values))


_LAYERED = st.fixed_dictionaries(
    {
        "snippets_per_promotion": st.integers(2, 20),
        "snippets_per_layer": st.integers(3, 500),
        "turns_per_batch": st.integers(1, 50),
        "flush_turns": st.none() | st.integers(1, 200),
    }
)
_ROLLING = st.fixed_dictionaries({"context_size": st.integers(80, 9000), "max_summary_tokens": st.integers(16, 9000)})
_BUFFER = st.fixed_dictionaries(
    {"max_messages_before_summary": st.integers(1, 50), "recent_messages_to_keep": st.integers(0, 60)}
)


@given(layered=_LAYERED, rolling=_ROLLING, buffer=_BUFFER)
def test_what_is_clamped_fits(layered: dict[str, Any], rolling: dict[str, Any], buffer: dict[str, Any]) -> None:
    """Clamping leaves no contradiction, changes nothing that has none, and a second time nothing at all."""
    wanted = ChatSettings(
        layered=LayeredSettings(**layered), rolling=RollingSettings(**rolling), summary_buffer=BufferSettings(**buffer)
    )
    clamped = clamp(wanted)
    assert contradictions(clamped) == {}
    assert clamp(clamped) == clamped
    assert (clamped == wanted) == (contradictions(wanted) == {})


def test_null_takes_a_value_away() -> None:
    """At the top, in a strategy, and a whole strategy."""
    base: dict[str, Any] = {"paused": True, "layered": {"verbatim_turns": 4, "turns_per_batch": 2}}
    assert merge_values(base, {"paused": None}) == {"layered": {"verbatim_turns": 4, "turns_per_batch": 2}}
    assert merge_values(base, {"layered": {"verbatim_turns": None}})["layered"] == {"turns_per_batch": 2}
    assert merge_values(base, {"layered": None}) == {"paused": True}
    assert merge_values(base, {"names": None}) == base


def test_a_change_leaves_the_rest_and_the_original_alone() -> None:
    """Only what is named changes, in a new value."""
    base: dict[str, Any] = {"layered": {"verbatim_turns": 4}}
    assert merge_values(base, {"layered": {"turns_per_batch": 2}, "paused": True}) == {
        "layered": {"verbatim_turns": 4, "turns_per_batch": 2},
        "paused": True,
    }
    assert base == {"layered": {"verbatim_turns": 4}}


@pytest.mark.parametrize("prompt", ["system_prompt", "user_prompt", "merge_prompt"])
def test_changing_a_prompt_makes_the_preset_custom(prompt: str) -> None:
    """Under a named preset and under the default one."""
    changed = {"layered": {prompt: "Mine."}}
    assert merge_values({}, changed)["layered"] == {prompt: "Mine.", "preset": "custom"}
    assert merge_values({"layered": {"preset": "game_state"}}, changed)["layered"]["preset"] == "custom"


def test_a_custom_text_is_kept_when_one_goes_back() -> None:
    """Choosing a preset again leaves the text for the next time."""
    base = merge_values({}, {"layered": {"user_prompt": "Mine."}})
    back = merge_values(base, {"layered": {"preset": "narrative"}})
    assert back["layered"] == {"user_prompt": "Mine.", "preset": "narrative"}


def test_the_same_prompt_again_is_no_change() -> None:
    """A form that sends back what it got changes no preset."""
    base = {"layered": {"user_prompt": "Mine.", "preset": "narrative"}}
    assert merge_values(base, {"layered": {"user_prompt": "Mine."}}) == base


def test_the_wrapper_is_no_prompt() -> None:
    """injection_template frames the memory and leaves the preset alone."""
    assert merge_values({}, {"layered": {"injection_template": "<{{summary}}>"}})["layered"] == {
        "injection_template": "<{{summary}}>"
    }


def test_everything_is_replayed_when_memory_is_not_sent() -> None:
    """With `enabled` or `ghosting` off."""
    assert not ChatSettings().replays_all
    assert ChatSettings(enabled=False).replays_all
    assert ChatSettings(ghosting=False).replays_all
    assert not ChatSettings(paused=True).replays_all


def test_warnings_that_are_given_out_are_the_callers() -> None:
    """Who adds to the warnings of some settings changes none of what the next one is told."""
    values = {"layered": {"snippets_per_layer": 3, "snippets_per_promotion": 3}}
    settings, warnings = resolve({}, values)
    told = [*warnings]
    warnings.append("More.")
    assert (settings, told) == resolve({}, {**values})


def test_settings_follow_values_that_were_changed_in_place() -> None:
    """The same mapping with other values gives other settings."""
    values: dict[str, Any] = {"enabled": True}
    assert resolve({}, values)[0].enabled
    values["enabled"] = False
    assert not resolve({}, values)[0].enabled
