"""`turnfold status` and `turnfold preview`."""

import json
from pathlib import Path

import pytest

from app.cli.showing import printable
from tests.cli.programs import Run


@pytest.mark.usefixtures("folded")
def test_status_is_text_for_people(run: Run) -> None:
    """Status says how many messages there are, and what covers them."""
    shown = run("status", "gates")
    assert shown.exit_code == 0
    assert "Messages: 32 (20 visible, 12 ghosted, 0 hidden)" in shown.stdout
    assert "Layer 0: 2 snippets over 6 turns" in shown.stdout


@pytest.mark.usefixtures("folded")
def test_status_is_data_for_programs(run: Run) -> None:
    """--json has the shape of the REST API's status."""
    found = json.loads(run("status", "gates", "--json").stdout)
    assert found["counts"]["ghosted"] == 12
    assert found["layers"][0]["snippets"] == 2
    assert found["connection"]["provider"] == "extractive"


@pytest.mark.usefixtures("folded")
def test_preview_is_the_memory(run: Run) -> None:
    """Preview shows the block the model gets, and --json its tokens too."""
    found = json.loads(run("preview", "gates", "--json").stdout)
    assert found["tokens"] > 0
    assert run("preview", "gates").stdout == found["text"] + "\n"


def test_a_chat_without_memory(run: Run, chat_file: Path) -> None:
    """Before the first fold there is nothing to preview, which is no failure."""
    run("import", str(chat_file), "--chat-id", "gates")
    shown = run("preview", "gates")
    assert shown.exit_code == 0
    assert shown.stdout == "(No summaries yet)\n"


@pytest.mark.usefixtures("folded")
@pytest.mark.parametrize("command", ["status", "preview"])
def test_an_unknown_chat(run: Run, command: str) -> None:
    """A chat that does not exist is said in one line, with exit status 1."""
    shown = run(command, "nobody")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "nobody" in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_no_database_is_made_by_looking(run: Run, tmp_path: Path) -> None:
    """Where there is no database, that is said, and none is made."""
    shown = run("status", "gates")
    assert shown.exit_code == 1
    assert "no database at turnfold.db" in shown.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_old_database_is_not_read(run: Run) -> None:
    """A database that was never migrated is left alone, with the command that migrates it."""
    Path("turnfold.db").touch()
    shown = run("status", "gates")
    assert shown.exit_code == 1
    assert "turnfold migrate" in shown.stderr


def test_a_chat_cannot_steer_the_terminal() -> None:
    """Escape sequences in a chat's text are shown, not obeyed; line breaks and every script stay."""
    assert printable("a\x1b[2Jb\u202e\n\tд語") == "a\ufffd[2Jb\ufffd\n\tд語"
