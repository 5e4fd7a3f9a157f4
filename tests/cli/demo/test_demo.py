"""`turnfold demo`, watched as a person would."""

import re
import signal
import subprocess
from pathlib import Path

import pytest

from app.cli.demo.charts import bar, clip, curve
from app.cli.demo.ending import check_nothing_lost
from app.cli.demo.story import read_story
from app.cli.failing import CannotRun
from tests.cli.programs import COMMAND, Run, Start, environment
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang, status


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> "subprocess.CompletedProcess[str]":
    """The whole story, played by the program."""
    folder = tmp_path_factory.mktemp("demo")
    return subprocess.run(
        [*COMMAND, "demo", "--keep", "demo.db"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )


def test_it_succeeds(played: "subprocess.CompletedProcess[str]") -> None:
    """The demo ends with status 0 and says nothing on standard error."""
    assert (played.returncode, played.stderr) == (0, "")


def test_its_settings_are_on_screen(played: "subprocess.CompletedProcess[str]") -> None:
    """The settings that differ from the usual ones are named with these."""
    assert "snippets_per_layer 8 (usually 30)" in played.stdout.replace("\n", " ")


def test_three_layers_fill(played: "subprocess.CompletedProcess[str]") -> None:
    """At the end three layers hold snippets, and their turns and the window's are all there are."""
    ranges = re.findall(r"layer (\d) .*turns (\d+)–(\d+)", played.stdout)
    assert [layer for layer, _, _ in ranges] == ["2", "1", "0"]
    window = int(re.findall(r"verbatim .* (\d+) turns, word for word", played.stdout)[0])
    assert int(ranges[-1][2]) + window == len(read_story(None).turns)


def test_the_share_that_is_sent_falls(played: "subprocess.CompletedProcess[str]") -> None:
    """The whole chat grows without end, what is sent of it hardly, and its share falls to less than a fifth."""
    found = re.findall(r"whole chat +([\d,]+) tokens, sent +([\d,]+) \( *(\d+)%\)", played.stdout)
    whole, sent, share = ([int(row[place].replace(",", "")) for row in found] for place in range(3))
    assert whole == sorted(whole)
    assert share[0] > share[3] > share[-1]
    assert share[-1] < 20
    assert max(sent) < whole[-1] / 5


def test_the_prompt_adds_up(played: "subprocess.CompletedProcess[str]") -> None:
    """The final prompt's parts are its total, which the last turn's line named too."""
    shape = played.stdout.split("What the model gets next")[1]
    parts = [int(re.findall(rf"{name} +([\d,]+)", shape)[0].replace(",", "")) for name in _PARTS]
    assert sum(parts[:3]) == parts[3]
    assert f"sent {parts[3]:>6,}" in played.stdout


_PARTS = ("system prompt", "memory", "verbatim", "total")


def test_a_snippet_is_opened(played: "subprocess.CompletedProcess[str]") -> None:
    """Below a snippet of the deepest layer stand original messages, and all of them were compared."""
    assert re.search(r"One snippet of layer 2, \d+ tokens", played.stdout)
    assert re.search(r"down to the 54 original messages of 27 turns", played.stdout)
    assert f"All {len(read_story(None).messages)} messages were read back" in played.stdout


def test_the_database_is_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--keep leaves a database that the other commands read, and the screen says how to go on with it."""
    kept = tmp_path / "kept.db"
    shown = run("demo", "--turns", "14", "--keep", str(kept))
    assert shown.exit_code == 0
    assert f"sqlite:///{kept} turnfold serve" in shown.stdout
    monkeypatch.setenv("TURNFOLD_DATABASE_URL", f"sqlite:///{kept}")
    assert "Layer 0: 1 snippet over 3 turns" in run("status", "the-dry-mail").stdout


def test_nothing_is_left_behind(run: Run, tmp_path: Path) -> None:
    """Without --keep no file is left where the demo ran, not even for a story that is too short to fold."""
    shown = run("demo", "--turns", "2")
    assert shown.exit_code == 0
    assert "compared with the story: identical" in shown.stdout
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_overwritten(run: Run, tmp_path: Path) -> None:
    """--keep refuses a path that exists."""
    (tmp_path / "mine.db").touch()
    shown = run("demo", "--keep", "mine.db")
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert "exists already" in shown.stderr


def test_a_model_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --model the connection of the environment summarizes."""
    with FakeModel() as model:
        _use(monkeypatch, model)
        shown = run("demo", "--turns", "14", "--model")
    assert shown.exit_code == 0, shown.stderr
    assert "fake-small" in shown.stdout
    assert len(model.calls) == 1


def test_a_model_that_refuses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing model ends the demo in one line, with exit status 1."""
    with FakeModel() as model:
        _use(monkeypatch, model)
        model.do(status(401))
        shown = run("demo", "--turns", "14", "--model")
    assert shown.exit_code == 1
    assert "401" in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_ctrl_c_ends_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the demo at once, with one line and the status of an interrupted command."""
    with FakeModel() as model:
        _use(monkeypatch, model)
        model.do(hang())
        process = start("demo", "--model")
        model.wait_for_calls(1, 60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "turnfold: Stopped.\n")


def test_a_model_that_is_not_set(run: Run) -> None:
    """--model without a connection says which settings it needs."""
    shown = run("demo", "--model")
    assert shown.exit_code == 1
    assert "TURNFOLD_LLM_BASE_URL" in shown.stderr


def test_a_lost_message_would_be_noticed() -> None:
    """The proof fails when the stored messages are not the story's."""
    with pytest.raises(CannotRun):
        check_nothing_lost(read_story(2), [], [])


def test_curves_share_a_scale() -> None:
    """A curve of half the height is half as high, and no curve is wider than asked."""
    assert curve([8, 16], 16, 10) == "▅█"
    assert curve([4, 8], 16, 10) == "▃▅"
    assert curve(range(100), 99, 10)[-1] == "█"
    assert len(curve(range(100), 99, 10)) == 10


def test_bars_are_as_full_as_what_they_show() -> None:
    """A bar is filled by its share, never over its width."""
    assert bar(1, 2, 4, "").plain == "██░░"
    assert bar(9, 2, 4, "").plain == "████"


def test_clipping_keeps_one_line() -> None:
    """A text of several lines becomes one of at most the width."""
    assert clip("a\nb", 9) == "a b"
    assert clip("abcdefgh", 5) == "abcd…"


def _use(monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> None:
    monkeypatch.setenv("TURNFOLD_LLM_PROVIDER", "openai")
    monkeypatch.setenv("TURNFOLD_LLM_BASE_URL", model.base_url)
    monkeypatch.setenv("TURNFOLD_LLM_MODEL", "fake-small")
