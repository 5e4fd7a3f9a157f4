"""`turnfold backup` and `turnfold restore`."""

from pathlib import Path

import pytest

from tests.cli.programs import Run
from tests.support.damage import backups
from tests.support.service import running


@pytest.fixture
def backup(run: Run, chat_file: Path) -> Path:
    """A backup of a database with one chat, which has got another one since."""
    run("import", str(chat_file), "--chat-id", "gates")
    shown = run("backup", "monday.db")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stdout.startswith("turnfold.db is copied to monday.db (")
    run("import", str(chat_file), "--chat-id", "later")
    return Path("monday.db")


def test_there_and_back(run: Run, backup: Path, tmp_path: Path) -> None:
    """After a restore the database is what it was at the backup; the one before is named and still there."""
    shown = run("restore", str(backup))
    assert shown.exit_code == 0, shown.stderr
    [kept] = backups(tmp_path / "turnfold.db", "before-restore")
    assert "turnfold.db is now what monday.db holds: 1 chat, 32 messages." in shown.stdout
    assert kept.name in shown.stdout
    assert run("status", "gates").exit_code == 0
    assert run("status", "later").exit_code == 1
    assert run("doctor").exit_code == 0


def test_beside_a_running_server(run: Run, tmp_path: Path) -> None:
    """While a server runs a backup holds what it wrote last; a restore is refused, and nothing changes."""
    with running(tmp_path) as service:
        service.say("gates", 1, 2, 3, fold="none")
        assert run("backup", "now.db").exit_code == 0
        service.say("gates", 4, fold="none")
        shown = run("restore", "now.db")
        assert (shown.exit_code, shown.stdout) == (1, "")
        assert "is in use. Stop the server" in shown.stderr
        assert shown.stderr.count("\n") == 1
        assert service.status("gates")["counts"]["messages"] == 8
    assert run("restore", "now.db").exit_code == 0
    assert "Messages: 6 " in run("status", "gates").stdout


def test_a_key_file_is_not_forgotten(run: Run, chat_file: Path) -> None:
    """That keys of connections need the key file too is said where there is one."""
    run("import", str(chat_file))
    Path("turnfold.db.key").write_text("secret", encoding="utf-8")
    shown = run("backup", "monday.db")
    assert shown.exit_code == 0
    assert "turnfold.db.key, which is not in the copy" in shown.stderr


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (["backup", "monday.db"], "is there already"),
        (["backup", "missing/monday.db"], "could not be copied"),
        (["restore", "missing.db"], "There is no file"),
        (["restore", "chat.json"], "no SQLite database"),
        (["restore", "turnfold.db"], "the database itself"),
    ],
)
@pytest.mark.usefixtures("backup")
def test_what_cannot_be_done(run: Run, args: list[str], advice: str) -> None:
    """What is in the way is said in one line, and the exit status is 1."""
    shown = run(*args)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert advice in shown.stderr
    assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_other_databases(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """PostgreSQL has its own programs for this, and they are named."""
    monkeypatch.setenv("TURNFOLD_DATABASE_URL", "postgresql://turnfold@localhost/chats")
    shown = run(command, "monday.db")
    assert shown.exit_code == 1
    assert "pg_dump" in shown.stderr


def test_nothing_to_copy(run: Run, tmp_path: Path) -> None:
    """Without a database there is no backup."""
    shown = run("backup", "monday.db")
    assert shown.exit_code == 1
    assert "There is no database" in shown.stderr
    assert list(tmp_path.iterdir()) == []
