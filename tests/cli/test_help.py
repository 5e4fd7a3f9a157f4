"""What the command line says about itself, and how fast."""

import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest

from tests.cli.programs import ROOT, Run, environment

COMMANDS = [
    "serve",
    "migrate",
    "import",
    "export",
    "status",
    "preview",
    "backlog",
    "doctor",
    "backup",
    "restore",
    "compare",
    "demo",
]


def _loaded_by(code: str) -> set[str]:
    """The modules a fresh interpreter has after `code`."""
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.splitlines()[-1].split())


def test_help_names_every_command(run: Run) -> None:
    """`turnfold --help` lists the commands."""
    shown = run("--help")
    assert shown.exit_code == 0
    assert all(f"  {command} " in shown.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example(run: Run, command: str) -> None:
    """The help of each command ends with an example of it."""
    shown = run(command, "--help")
    assert shown.exit_code == 0
    assert "turnfold " + command in shown.stdout.split("Example:")[1]


def test_version(run: Run) -> None:
    """`turnfold --version` names the installed version."""
    assert run("--version").stdout == f"turnfold {version('turnfold')}\n"


def test_a_wrong_word_is_refused(run: Run) -> None:
    """An unknown command is said on standard error and is no success."""
    shown = run("fold")
    assert shown.exit_code != 0
    assert "fold" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_help_waits_for_nothing() -> None:
    """What --help imports is neither the database, the web server, the tokenizer nor the screen."""
    assert not _loaded_by("import app.cli") & {
        "sqlalchemy",
        "alembic",
        "fastapi",
        "uvicorn",
        "httpx",
        "tiktoken",
        "rich",
    }


def test_migrate_waits_for_no_vocabulary() -> None:
    """Migrating loads neither the tokenizer nor the web server."""
    loaded = _loaded_by("import app.cli.migrating")
    assert "alembic" in loaded
    assert not loaded & {"fastapi", "uvicorn", "httpx", "tiktoken", "rich"}


def test_the_server_loads_no_screen() -> None:
    """Serving does not import what draws our bars and pictures (httpx brings rich, whoever imports it)."""
    loaded = _loaded_by("import app.cli.serving")
    assert "fastapi" in loaded
    assert not loaded & {"app.cli.demo", "app.cli.comparing", "app.cli.importing", "pygal"}


def test_the_program_is_this_one() -> None:
    """The installed program `turnfold` is app.cli:app."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] == {"turnfold": "app.cli:app"}
