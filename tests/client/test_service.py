"""turnfold.js with a real Turnfold, in Node: as it lies there, and bundled."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.javascript import CLIENT, ROOT, run, tool
from tests.support.service import Service, running

KEY = "sesame"
# The oldest engines that the client is for.
BUNDLED = ("--bundle", "--minify", "--format=esm", "--target=node18,safari16,chrome100,firefox100")


def bundle(entry: Path, to: Path) -> Path:
    """Bundle a module with all that it imports into one file."""
    done = run(tool("esbuild"), entry, *BUNDLED, f"--outfile={to}")
    assert done.returncode == 0, done.stderr
    return to


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("turnfold"), api_key=KEY) as service:
        yield service


def play(node: str, script: Path, service: Service) -> Any:
    """What comes of the play."""
    done = run(node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", script, SERVER=service.url, KEY=KEY)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_frontend_in_node(node: str, service: Service, played: dict[str, Any]) -> None:
    """Everything that a frontend does with a server works, and fails as the API says."""
    assert play(node, CLIENT / "play-run.mjs", service) == played


def test_a_frontend_in_a_bundle(node: str, service: Service, tmp_path: Path, played: dict[str, Any]) -> None:
    """The same goes well when a bundler has put all into one file for old engines."""
    assert play(node, bundle(CLIENT / "play-run.mjs", tmp_path / "bundle.mjs"), service) == played


def test_a_bundle_holds_what_is_used(node: str, tmp_path: Path) -> None:
    """Whoever imports one function gets neither the classes nor anything that runs on import."""
    entry = tmp_path / "entry.mjs"
    client = json.dumps(str(ROOT / "static" / "turnfold.js"))
    entry.write_text(f"import {{ part }} from {client};\nconsole.log(part('a b'));\n", encoding="utf-8")
    made = bundle(entry, tmp_path / "bundle.mjs")
    assert "/projection" not in made.read_text(encoding="utf-8")
    assert run(node, made).stdout == "a%20b\n"


def test_it_is_small() -> None:
    """Under 200 lines of code, and no import."""
    text = (ROOT / "static" / "turnfold.js").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    assert sum(bool(line) and not line.startswith(("/*", "*", "//")) for line in lines) < 200
    assert "\nimport " not in text
