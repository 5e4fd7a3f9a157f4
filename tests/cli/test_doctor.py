"""`turnfold doctor`."""

from pathlib import Path

import pytest

from tests.cli.programs import Run
from tests.support.damage import backups, hurt, texts
from tests.support.service import running

HIDDEN = "UPDATE messages SET hidden = 1 WHERE position = 3"


@pytest.fixture
def database(folded: Path) -> Path:
    """A database with one folded chat."""
    return folded


@pytest.mark.usefixtures("database")
def test_all_is_well(run: Run) -> None:
    """Where nothing is wrong, one line says so, and the exit status is 0, with --fix too."""
    for args in ((), ("--fix",)):
        shown = run("doctor", *args)
        assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "turnfold.db: all is well.\n", "")


def test_what_is_wrong_is_told(run: Run, database: Path) -> None:
    """Each finding stands under its chat, in plain words, with what can be done; the exit status is 1."""
    hurt(database, HIDDEN)
    shown = run("doctor")
    assert shown.exit_code == 1
    database_line, row, chat_line, finding, total = shown.stdout.splitlines()
    assert (database_line, chat_line) == ("Database", "Chat gates")
    assert row.startswith("  found rows_wrong  Rows break rules of their tables: CHECK constraint failed in messages.")
    assert finding.startswith("  found covered_not_plain  1 message under a snippet although hidden, omitted or pinned")
    assert total == "turnfold.db: 2 things found, 0 fixed. turnfold doctor --fix puts right what has one right way."
    assert backups(database) == []


def test_fix(run: Run, database: Path) -> None:
    """With --fix all of it is put right, the copy from before is named, and the exit status is 0; no text changes."""
    hurt(database, HIDDEN)
    said = texts(database)
    shown = run("doctor", "--fix")
    assert shown.exit_code == 0, shown.stdout
    [copy] = backups(database)
    *_, total, kept = shown.stdout.splitlines()
    assert total == "turnfold.db: 2 things found, all fixed."
    assert copy.name in kept
    assert texts(database) == texts(copy) == said
    assert run("doctor").exit_code == 0


def test_what_stays_is_no_success(run: Run, database: Path) -> None:
    """With --fix the exit status is 1 while something is left that only a person can decide."""
    hurt(database, HIDDEN, 'UPDATE chats SET settings = \'{"layered": {"snippets_per_promotion": 20}}\'')
    hurt(database, 'INSERT INTO server_settings VALUES (1, \'{"layered": {"snippets_per_layer": 5}}\')')
    shown = run("doctor", "--fix")
    assert shown.exit_code == 1
    assert "found settings_contradict" in shown.stdout
    assert "fixed covered_not_plain" in shown.stdout
    assert "3 things found, 2 fixed." in shown.stdout


def test_beside_a_running_server(run: Run, tmp_path: Path) -> None:
    """A server on the same database goes on, and sees the repair."""
    with running(tmp_path) as service:
        service.say("gates", *range(1, 14))
        hurt(service.database, HIDDEN)
        assert run("doctor").exit_code == 1
        assert run("doctor", "--fix").exit_code == 0
        assert service.post("/chats/gates/repair").json() == {"findings": []}
        assert service.settled("gates")["counts"]["hidden"] == 1


def test_a_chats_id_cannot_steer_the_terminal(run: Run, database: Path) -> None:
    """Control characters that got into an id, and marks of the screen's own, are shown and not obeyed."""
    hurt(database, HIDDEN, "UPDATE chats SET id = '[bold]' || char(27) || '[2J'")
    assert "Chat [bold]\ufffd[2J" in run("doctor").stdout


def test_there_must_be_a_database(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no database none is made, and PostgreSQL is not examined here: one line says so."""
    shown = run("doctor")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "no database at turnfold.db" in shown.stderr
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("TURNFOLD_DATABASE_URL", "postgresql://turnfold@localhost/chats")
    assert "SQLite file" in run("doctor").stderr


def test_a_file_that_is_no_database(run: Run) -> None:
    """A damaged file is a finding like any other, with what to do."""
    Path("turnfold.db").write_text("no database " * 500, encoding="utf-8")
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "found database_damaged  The file cannot be read: file is not a database." in shown.stdout
