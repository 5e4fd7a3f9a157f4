"""What is installed by the scripts is what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WANTED = {
    "run": PROJECT["project"]["dependencies"],
    "dev": PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"],
    "model": PROJECT["dependency-groups"]["model"],
    "browser": PROJECT["dependency-groups"]["browser"],
}


def _text(name: str) -> str:
    return (ROOT / "scripts" / "requirements" / f"{name}.txt").read_text(encoding="utf-8")


def _pins(name: str) -> dict[str, list[str]]:
    """The versions a file pins, by package; several where platforms differ."""
    pins: dict[str, list[str]] = {}
    for package, version in re.findall(r"^([\w.-]+)==([^\s;]+)", _text(name), re.MULTILINE):
        pins.setdefault(canonicalize_name(package), []).append(version)
    return pins


@pytest.mark.parametrize("name", WANTED)
def test_pins_meet_the_project(name: str) -> None:
    """Whatever pyproject.toml requires is pinned at a version it allows; if not, run scripts/lock."""
    pins = _pins(name)
    for requirement in map(Requirement, WANTED[name]):
        versions = pins.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement} is not pinned"
        assert all(requirement.specifier.contains(version) for version in versions), f"{requirement}: {versions}"


def test_tests_run_on_what_users_run() -> None:
    """The tests' environment holds the very versions a user gets."""
    assert {name: _pins("dev").get(name) for name in _pins("run")} == _pins("run")


@pytest.mark.parametrize("name", WANTED)
def test_pins_name_no_index(name: str) -> None:
    """The pins say what to install and its hashes, not where from: that is the machine's own affair."""
    assert "://" not in _text(name)
