"""Settings are where people look for them, with the defaults that hold."""

from pathlib import Path

import pytest

from app.settings import Settings

ROOT = Path(__file__).parents[1]
NAMES = {f"TURNFOLD_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("page", [".env.example", "README.md"])
def test_every_setting_is_documented(page: str) -> None:
    """Every setting stands in .env.example and in the README, under its full name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {name for name in NAMES if name not in text} == set()


def test_the_example_names_settings_only() -> None:
    """Every line of .env.example that sets something sets a setting that exists."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    assert {line.removeprefix("# ").split("=")[0] for line in lines if line.startswith("# TURNFOLD_")} == NAMES


def test_the_example_shows_the_defaults(tmp_path: Path) -> None:
    """A .env made of all the values .env.example shows changes nothing."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    shown = [line.removeprefix("# ") for line in lines if line.startswith("# TURNFOLD_") and not line.endswith("=")]
    (tmp_path / ".env").write_text("\n".join(shown), encoding="utf-8")
    assert len(shown) > 10
    assert Settings() == Settings(_env_file=None)
