"""What docs/rolling.md says of rolling memory is so."""

from dataclasses import fields
from typing import get_args

from app.api.schemas.diagnostics import Diagnosis, LastFold, Skipped
from app.core.rewrite import SkipReason
from app.core.settings import ROLLING_RANGES, RollingSettings, Sampling
from tests.docs.pages import ROOT, code, table

ROLLING = ROOT / "docs" / "rolling.md"


def test_settings_are_explained() -> None:
    """Names, defaults and ranges are those of the code."""
    rows = {code(row[0])[0]: row for row in table(ROLLING, "rolling setting")}
    assert rows.keys() == {field.name for field in fields(RollingSettings)}
    for name, (low, high) in ROLLING_RANGES.items():
        assert rows[name][1:3] == [str(getattr(RollingSettings(), name)), f"{low}–{high}"]
    for name, default in {"notify_client": "false", "run_inline": "true", "catch_up": "false"}.items():
        assert rows[name][1] == f"`{default}`"
    assert code(rows["sampling"][3]) == [field.name for field in fields(Sampling)]


def test_reasons_are_explained() -> None:
    """Each reason of the closed set is there, in its order."""
    assert [code(row[0])[0] for row in table(ROLLING, "skip reason")] == list(get_args(SkipReason))


def test_keys_of_diagnostics_are_explained() -> None:
    """Each key of an entry is there, and none else."""
    listed = [name for row in table(ROLLING, "key") for name in code(row[0])]
    folds = [f"last_fold.{name}" for name in LastFold.model_fields]
    skips = [f"skipped.{name}" for name in Skipped.model_fields]
    assert listed == ["parameters", "input.prompt", "output.text", *folds, *skips]
    assert {name.partition(".")[0] for name in listed} == Diagnosis.model_fields.keys() - {"turn", "created_at"}
