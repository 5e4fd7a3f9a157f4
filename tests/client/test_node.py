"""The tests that are written in JavaScript: every *.test.mjs in this folder, run by Node's own test runner.

Such a test imports `../../static/…` as it lies there; what imports './turnfold.js' it finds whole in the folder that
the environment's EXTENSION names.
"""

from pathlib import Path

import pytest

from tests.support.javascript import CLIENT, run


@pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in sorted(CLIENT.glob("*.test.mjs"))])
def test_javascript(file: Path, node: str, packaged: Path) -> None:
    """Every test of the file passes."""
    quiet = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    done = run(node, quiet, "--test", "--test-reporter=spec", file, EXTENSION=str(packaged))
    assert done.returncode == 0, done.stdout + done.stderr
