"""Node, what npm installs for the tests, and the extension as it is packaged."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "tests" / "client"
TOOLS = CLIENT / "node_modules" / ".bin"
OLDEST = (20, 19)  # from here on a .js file that has `import` in it is taken for a module, without a package.json


def run(*command: str | Path, cwd: Path = CLIENT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end. Whatever this process has in its environment, the command has too."""
    words = [str(word) for word in command]
    given = {**os.environ, **environment}
    return subprocess.run(words, cwd=cwd, env=given, capture_output=True, text=True, check=False, timeout=100)


def node() -> str:
    """The program; skips the test where there is none that is new enough, and fails it in CI."""
    found = shutil.which("node")
    if not found or _version(found) < OLDEST:
        _missing("Node 20.19 or newer is needed for the tests of JavaScript; get it from nodejs.org.")
    return found


def tool(name: str) -> Path:
    """A program that scripts/javascript installs: tsc or esbuild."""
    node()
    found = TOOLS / name
    if not found.exists():
        _missing(f"{name} is not installed; scripts/javascript installs it (40 MB).")
    return found


def package(folder: Path) -> Path:
    """Lay the SillyTavern extension out in `folder` as users have it: turnfold.js lies beside its own files."""
    shutil.copytree(ROOT / "static" / "sillytavern", folder)
    shutil.copy(ROOT / "static" / "turnfold.js", folder)
    return folder


@cache
def _version(program: str) -> tuple[int, ...]:
    said = run(program, "--version").stdout.strip().lstrip("v")
    return tuple(int(part) for part in said.split(".")[:2] if part.isdigit())


def _missing(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
