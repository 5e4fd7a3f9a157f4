"""app.formats.turnfold_settings: a file can set what the API can set, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.api.schemas.settings import SettingsValues
from app.core.resolving import merge_values, resolve
from app.core.settings import BufferSettings, ChatSettings, LayeredSettings, RollingSettings, Sampling
from app.formats.turnfold_fields import Unknown, Wrong
from app.formats.turnfold_settings import read_settings

OBJECTS: dict[str, list[str]] = {
    "layered": sorted(LayeredSettings.__dataclass_fields__),
    "rolling": sorted(RollingSettings.__dataclass_fields__),
    "summary_buffer": sorted(BufferSettings.__dataclass_fields__),
}
NAMES = sorted(ChatSettings.__dataclass_fields__.keys() - OBJECTS.keys())
values = st.one_of(
    st.booleans(),
    st.integers(-1, 600),
    st.sampled_from([10**6, 10**7, 10**20, 0.5, 1.5, -0.1]),
    st.sampled_from(["ask", "all", "auto", "none", "field", "strict", "keep", "merge", "narrative", "custom"]),
    st.sampled_from(["system_end", "in_chat:4", "default", "a/b", "", "{{summary}}", "{{ summary }}!", "{{other}}"]),
    st.sampled_from(["in_chat:x", "stop", "clip", "reach", "exceed", "thread", "call", "external", 301, 0.1, 2.5]),
    st.sampled_from(["x" * 500, "x" * 501, "x" * 100_001, [], ["a"], [""], [1], ["x" * 1001], ["a"] * 101, {}]),
)
settings = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(NAMES, values),
        **{name: st.dictionaries(st.sampled_from(own), values, max_size=3) | values for name, own in OBJECTS.items()},
        "mood": values,
    },
)


def taken_by_the_api(given: dict[str, Any]) -> bool:
    try:
        SettingsValues.model_validate(given)
    except ValidationError:
        return False
    return True


def taken_from_a_file(given: dict[str, Any]) -> bool:
    try:
        read_settings(given)
    except (Wrong, Unknown):
        return False
    return True


@given(settings)
def test_a_file_sets_what_the_api_sets(given: dict[str, Any]) -> None:
    """Whatever the API takes a file may say, and the other way round; what is taken can be resolved."""
    assert taken_from_a_file(given) == taken_by_the_api(given), given
    if taken_from_a_file(given):
        resolve({}, given)


@pytest.mark.parametrize("name", NAMES)
def test_each_setting_alone(name: str) -> None:
    """Each setting of the chat takes its default."""
    default = getattr(ChatSettings(), name)
    assert taken_from_a_file(merge_values({}, {name: default}))


@given(st.sampled_from([(strategy, name) for strategy, names in OBJECTS.items() for name in names]), values)
def test_each_setting_of_a_strategy_alone(place: tuple[str, str], value: Any) -> None:
    """Each setting of a strategy takes the same values in a file as over the API."""
    given = {place[0]: {place[1]: value}}
    assert taken_from_a_file(given) == taken_by_the_api(given), given


@given(st.sampled_from(sorted(Sampling.__dataclass_fields__)), values)
def test_each_way_to_pick_words_alone(name: str, value: Any) -> None:
    """How the model picks its words is as free in a file as over the API."""
    given = {"rolling": {"sampling": {name: value}}}
    assert taken_from_a_file(given) == taken_by_the_api(given), given
