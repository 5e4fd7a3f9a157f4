"""app.formats.turnfold_views: the options of a view are read as strictly as the API takes them."""

from typing import Any

import pytest

from app.formats.turnfold_fields import Unknown, Wrong
from app.formats.turnfold_views import read_options

FRAME = {"template": "Rain.", "values": {}, "position": "replace"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"names": "field", "format": "text"},
        {"context_size": 4},
        {"context_size": 9, "max_tokens": 8},
        {"frame": FRAME},
    ],
)
def test_options_are_read_as_they_are(options: dict[str, Any]) -> None:
    """What is null is no option."""
    assert read_options({**options, "tool_history": None}) == options


@pytest.mark.parametrize(
    "options",
    [
        {"context_size": 0},
        {"context_size": 3},
        {"max_tokens": 8},
        {"context_size": 8, "max_tokens": 8},
        {"memory_placement": "in_chat"},
        {"memory_placement": 4},
        {"format": "yaml"},
        {"names": "all"},
        {"tool_history": True},
        {"omit_authors": ["Tom"] * 101},
        {"omit_authors": "Tom"},
        {"frame": {"template": "Rain."}},
        {"frame": {**FRAME, "template": "x" * 100_001}},
        {"frame": {**FRAME, "position": "instead"}},
        [],
    ],
)
def test_what_the_api_would_not_take_is_wrong(options: Any) -> None:
    """Values out of range, of another kind, or that do not fit together."""
    with pytest.raises(Wrong):
        read_options(options)


@pytest.mark.parametrize("options", [{"temperature": 1}, {"frame": {**FRAME, "engine": "jinja"}}])
def test_options_of_a_later_version_are_unknown(options: dict[str, Any]) -> None:
    """So that they are not lost in silence."""
    with pytest.raises(Unknown):
        read_options(options)
