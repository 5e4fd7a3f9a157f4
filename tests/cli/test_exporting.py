"""`turnfold export`."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.programs import Run, Start


@pytest.mark.usefixtures("folded")
def test_it_goes_to_standard_output(run: Run) -> None:
    """Without a file the chat is printed in our own format, and nothing beside it."""
    shown = run("export", "gates")
    assert shown.exit_code == 0
    first, *_, last = shown.stdout.splitlines()
    assert json.loads(first)["chat"]["id"] == "gates"
    assert json.loads(last) == {"end": {"message": 32, "snippet": 2}}


@pytest.mark.usefixtures("folded")
def test_it_goes_to_a_file_and_comes_back(run: Run, tmp_path: Path) -> None:
    """What was exported can be imported, and is then the same but for its id."""
    shown = run("export", "gates", "--output", "gates.jsonl")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "Exported to gates.jsonl" in shown.stderr
    imported = run("import", "gates.jsonl", "--chat-id", "again")
    assert imported.stdout == "Imported chat again: 32 messages, 2 snippets.\n"
    again = run("export", "again").stdout.replace('"id":"again"', '"id":"gates"', 1)
    assert again == (tmp_path / "gates.jsonl").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folded")
@pytest.mark.parametrize(
    ("format", "key"), [("sillytavern", "chat_metadata"), ("summaryception", "layers"), ("openai", "messages")]
)
def test_each_format(run: Run, format: str, key: str) -> None:
    """Each format of the contract is written; its first value is what other programs look for."""
    shown = run("export", "gates", "--format", format)
    assert shown.exit_code == 0
    assert key in json.JSONDecoder().raw_decode(shown.stdout)[0]


@pytest.mark.usefixtures("folded")
def test_a_file_is_there_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    """A file that was there is replaced when all is written, through a link too, and stays as it was if not."""
    (tmp_path / "old.jsonl").write_text("old", encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to("old.jsonl")
    assert run("export", "nobody", "-o", "link.jsonl").exit_code == 1
    assert (tmp_path / "old.jsonl").read_text(encoding="utf-8") == "old"
    assert run("export", "gates", "-o", "link.jsonl").exit_code == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert json.loads((tmp_path / "old.jsonl").read_text(encoding="utf-8").splitlines()[0])["turnfold"]["version"] == 1
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.usefixtures("folded")
def test_a_device_is_written_to_and_stays(run: Run) -> None:
    """/dev/null is not replaced by a file."""
    assert run("export", "gates", "-o", os.devnull).exit_code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.usefixtures("folded")
@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (["nobody"], "nobody"),
        (["gates", "--format", "word"], "Known are: turnfold, sillytavern, summaryception, openai"),
        (["gates", "-o", "."], "is a folder"),
        (["gates", "-o", "missing/gates.jsonl"], "No such file"),
    ],
)
def test_what_cannot_be_exported(run: Run, args: list[str], advice: str) -> None:
    """It ends in one line on standard error and exit status 1."""
    shown = run("export", *args)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert advice in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_a_newer_file_is_not_taken(run: Run, tmp_path: Path) -> None:
    """A file of a version that is not known yet is refused, and no chat is made."""
    (tmp_path / "new.jsonl").write_text('{"turnfold":{"version":2,"parts":[]},"chat":{}}\n', encoding="utf-8")
    shown = run("import", "new.jsonl", "--chat-id", "new")
    assert shown.exit_code == 1
    assert "Update Turnfold" in shown.stderr
    assert run("status", "new").exit_code == 1


@pytest.mark.usefixtures("folded")
def test_a_reader_that_has_seen_enough_is_no_error(start: Start) -> None:
    """When standard output closes early, nothing is complained of."""
    process = start("export", "gates")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
