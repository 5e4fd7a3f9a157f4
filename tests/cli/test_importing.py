"""`turnfold import`."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.programs import Run, Start, use, write_chat
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, hang, status
from tests.support.service import running


def test_a_file_comes_in(run: Run, chat_file: Path) -> None:
    """The id and the number of messages are said, and the chat is there."""
    shown = run("import", str(chat_file), "--chat-id", "gates", "--title", "The gates")
    assert shown.exit_code == 0
    assert shown.stdout == "Imported chat gates: 32 messages.\n"
    assert "Messages: 32 (32 visible" in run("status", "gates").stdout


def test_a_memory_beside_the_chat(run: Run, chat_file: Path, tmp_path: Path) -> None:
    """The extension's memory, in a file of its own, covers what it says; how many snippets that are is said."""
    store = {"layers": [[{"text": "The gates are asked about.", "turnRange": [0, 5]}]], "summarizedUpTo": 5}
    (tmp_path / "memory.json").write_text(json.dumps(store), encoding="utf-8")
    shown = run("import", str(chat_file), "--chat-id", "gates", "--memory", "memory.json")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith("Imported chat gates: 32 messages, 1 snippet.\n")
    assert "The gates are asked about." in run("preview", "gates").stdout
    assert run("import", str(chat_file), "--memory", "nowhere.json").exit_code == 1


def test_standard_input(run: Run, chat_file: Path) -> None:
    """The file - is standard input."""
    shown = run("import", "-", "--chat-id", "gates", feed=chat_file.read_bytes())
    assert shown.exit_code == 0
    assert "32 messages" in shown.stdout


def test_fold_folds_all_outside_the_window(run: Run, tmp_path: Path) -> None:
    """With --fold the backlog is answered with all, and only the window stays verbatim."""
    shown = run("import", str(write_chat(tmp_path / "long.json", 40)), "--chat-id", "gates", "--fold")
    assert shown.exit_code == 0
    assert "20 visible, 60 ghosted" in shown.stdout
    assert "Waiting" not in shown.stdout


def test_a_short_chat_needs_no_fold(run: Run, tmp_path: Path) -> None:
    """--fold on a chat that fits its window is a success that folds nothing."""
    shown = run("import", str(write_chat(tmp_path / "short.json", 3)), "--chat-id", "gates", "--fold")
    assert shown.exit_code == 0
    assert "0 ghosted" in shown.stdout


def test_a_backlog_is_announced(run: Run, tmp_path: Path) -> None:
    """Without --fold a long chat's turns wait, and that is said."""
    shown = run("import", str(write_chat(tmp_path / "long.json", 40)))
    assert shown.exit_code == 0
    assert "30 turns wait" in shown.stdout


def test_warnings_are_told(run: Run, tmp_path: Path) -> None:
    """What was wrong with a file is said on standard error, and the rest comes in."""
    (tmp_path / "torn.jsonl").write_text('{"name":"A","is_user":true,"mes":"Hello"}\n{"name":\n', encoding="utf-8")
    shown = run("import", "torn.jsonl")
    assert shown.exit_code == 0
    assert "1 message." in shown.stdout
    assert "turnfold: warning: " in shown.stderr


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (["missing.jsonl"], "There is no file missing.jsonl"),
        (["."], "There is no file ."),
        (["note.txt"], "no known kind"),
        (["chat.json", "--format", "word"], "Unknown format"),
        (["chat.json", "--chat-id", "taken"], "already"),
    ],
)
def test_what_cannot_come_in(run: Run, chat_file: Path, args: list[str], advice: str) -> None:
    """A file or an id that cannot be taken ends in one line on standard error and exit status 1."""
    Path("note.txt").write_text("Dear diary", encoding="utf-8")
    run("import", str(chat_file), "--chat-id", "taken")
    shown = run("import", *args)
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert advice in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_beside_a_running_server(run: Run, tmp_path: Path, chat_file: Path) -> None:
    """A chat that is imported while a server runs on the same file is there at once, and folds."""
    with running(tmp_path) as service:
        shown = run("import", str(chat_file), "--chat-id", "gates", "--fold")
        assert shown.exit_code == 0, shown.stderr
        assert service.settled("gates")["counts"]["ghosted"] == 12


def test_a_failing_model_is_a_failure(run: Run, chat_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the model refuses, the chat is in, the exit status is 1 and the line says what to look at."""
    with FakeModel() as model:
        use(monkeypatch, model)
        model.do(status(401))
        shown = run("import", str(chat_file), "--chat-id", "gates", "--fold")
    assert shown.exit_code == 1
    assert "Imported chat gates" in shown.stdout
    assert "401" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_ctrl_c_keeps_finished_batches(run: Run, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C cuts the call to the model; what was folded stays, the rest is verbatim, no job is left."""
    file = write_chat(tmp_path / "long.json", 40)
    with FakeModel() as model:
        use(monkeypatch, model)
        model.do(answer("Mira meets Tom at gates 0 to 2."), answer("Mira meets Tom at gates 3 to 5."), hang())
        process = start("import", str(file), "--chat-id", "gates", "--fold")
        model.wait_for_calls(3, 60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Imported chat gates" in out
    assert "What is folded stays (12 messages)" in err
    assert "Traceback" not in err
    shown = run("status", "gates")
    assert "Layer 0: 2 snippets over 6 turns" in shown.stdout
