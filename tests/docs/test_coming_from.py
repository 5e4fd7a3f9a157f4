"""docs/coming-from.md: no setting, key or reason of ours that came from elsewhere is forgotten there."""

from dataclasses import fields
from typing import get_args

import pytest

from app.core.rewrite import SkipReason
from app.core.settings import BufferSettings, LayeredSettings, RollingSettings
from tests.docs.pages import ROOT, code, table

PAGE = ROOT / "docs" / "coming-from.md"


def named(*heading: str) -> set[str]:
    """What stands between backticks in the tables with this heading."""
    return {name for row in table(PAGE, *heading) for cell in row for name in code(cell)}


def test_every_rolling_setting_has_its_row() -> None:
    """Parameters of the node and what is ours beside them are the fields of the settings; the rest is refused."""
    rows = table(PAGE, "parameter", "here")
    ours = {name for row in rows for name in code(row[1])}
    assert {field.name for field in fields(RollingSettings)} <= ours
    refused = {code(row[0])[0] for row in rows if row[1] == "—"}
    assert refused == {"context", "adaptation", "default_exit"}


def test_every_buffer_setting_has_its_row() -> None:
    """So are the fields of Summary Memory."""
    assert {field.name for field in fields(BufferSettings)} <= named("field", "here")


def test_every_skip_reason_is_named_once_and_in_order() -> None:
    """The closed set of reasons."""
    [row] = table(PAGE, "skip reason", "here")
    assert code(row[0]) == list(get_args(SkipReason))


@pytest.mark.parametrize(
    "name",
    ["verbatim_turns", "turns_per_batch", "snippets_per_layer", "snippets_per_promotion", "max_layers"],
)
def test_defaults_of_layers_are_those_named(name: str) -> None:
    """Where the page says that a default is the same in both, it is ours."""
    [row] = [row for row in table(PAGE, "Summaryception", "here", "") if f"layered.{name}" in code(row[1])]
    assert row[2].startswith(f"{getattr(LayeredSettings(), name)} in both")


def test_every_layered_name_is_a_setting() -> None:
    """What is called `layered.…` is a setting of layered memory."""
    ours = {
        name.removeprefix("layered.") for name in named("Summaryception", "here", "") if name.startswith("layered.")
    }
    assert ours <= {field.name for field in fields(LayeredSettings)}
