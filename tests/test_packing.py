"""scripts/sillytavern-extension: the extension as a folder, and as a branch to install it from."""

import json
import re
from pathlib import Path

import pytest

from tests.support.extension_branch import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """The extension's sources."""
    return Checkout(tmp_path / "checkout")


def test_folder(checkout: Checkout, tmp_path: Path) -> None:
    """The folder holds every file of the extension, the client and the licence; made again it is replaced."""
    out = tmp_path / "extensions" / "turnfold"
    assert checkout.pack(out).returncode == 0
    sources = {file.name for file in (checkout.folder / "static" / "sillytavern").iterdir()}
    assert {file.name for file in out.iterdir()} == sources | {"turnfold.js", "LICENSE", "README.md"}
    version = json.loads((out / "manifest.json").read_text())["version"]
    assert f"Version {version}." in (out / "README.md").read_text()
    (out / "old.js").write_text("")
    assert checkout.pack(out).returncode == 0
    assert not (out / "old.js").exists()


def test_what_is_something_else_stays(checkout: Checkout, tmp_path: Path) -> None:
    """A folder that is not the extension, or that came from git, is left alone."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "novel.txt").write_text("Once.")
    assert checkout.pack(tmp_path / "mine").returncode == 1
    assert (tmp_path / "mine" / "novel.txt").read_text() == "Once."
    assert checkout.pack(tmp_path / "out").returncode == 0
    (tmp_path / "out" / ".git").mkdir()
    refused = checkout.pack(tmp_path / "out")
    assert refused.returncode == 1
    assert "Manage extensions" in refused.stderr


@pytest.mark.parametrize("words", [(), ("--branch",), ("--branch", "a", "b"), ("a", "b"), ("--help",), ("",)])
def test_usage(checkout: Checkout, words: tuple[str, ...]) -> None:
    """Words that mean nothing are told what would."""
    done = checkout.pack(*words)
    assert (done.returncode, done.stderr.startswith("turnfold: usage:")) == (1, True)


def test_an_import_that_is_missing(checkout: Checkout, tmp_path: Path) -> None:
    """What would not load is not packed."""
    index = checkout.folder / "static" / "sillytavern" / "index.js"
    index.write_text(index.read_text() + "import { x } from './nowhere.js';\n")
    done = checkout.pack(tmp_path / "out")
    assert (done.returncode, (tmp_path / "out").exists()) == (1, False)
    assert "index.js imports nowhere.js" in done.stderr


def test_branch(checkout: Checkout) -> None:
    """The branch has a history of its own, a commit for each change; nothing else is touched."""
    before = (checkout.git("rev-parse", "HEAD"), checkout.git("status", "--porcelain"))
    assert checkout.pack("--branch", "sillytavern").returncode == 0
    assert checkout.pack("--branch", "sillytavern").returncode == 0
    assert checkout.git("rev-list", "--count", "sillytavern") == "1"
    names = checkout.git("ls-tree", "--name-only", "sillytavern").split("\n")
    assert {"manifest.json", "index.js", "turnfold.js", "LICENSE", "README.md"} <= set(names)
    assert (checkout.git("rev-parse", "HEAD"), checkout.git("status", "--porcelain")) == before
    (checkout.folder / "static" / "turnfold.js").write_text("export {};\n")
    assert checkout.pack("--branch", "sillytavern").returncode == 0
    assert checkout.git("rev-list", "--count", "sillytavern") == "2"
    assert re.search(r"Made from \w+-dirty\.", checkout.git("log", "-1", "--format=%b", "sillytavern"))


def test_other_branches_stay(checkout: Checkout) -> None:
    """A branch that holds something else is not added to."""
    before = checkout.git("rev-parse", "main")
    assert checkout.pack("--branch", "main").returncode == 1
    assert checkout.pack("--branch", "a b").returncode == 1
    assert checkout.git("rev-parse", "main") == before
