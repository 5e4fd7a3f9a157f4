"""Node for the tests of JavaScript, and the packaged extension."""

from pathlib import Path

import pytest

from tests.support import javascript


@pytest.fixture(scope="session")
def node() -> str:
    """The program node."""
    return javascript.node()


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the extension as users have it."""
    return javascript.package(tmp_path_factory.mktemp("packaged") / "turnfold")
