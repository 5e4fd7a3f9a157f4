"""`turnfold compare`, as a person runs it."""

import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from app.cli.comparing import STRATEGIES
from app.cli.opening import opened
from app.settings import Settings
from tests.cli.programs import Run, Start, use, write_chat
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang, status

SHORT = ("--strategies", "layered,none")


def figures(run: Run, *args: str) -> dict[str, Any]:
    shown = run("compare", *args, "--json")
    assert shown.exit_code == 0, shown.stderr
    found: dict[str, Any] = json.loads(shown.stdout)
    return found


def test_a_row_a_strategy_and_a_chart(run: Run, chat_file: Path, tmp_path: Path) -> None:
    """Each strategy has a row and a curve, the chart is where it is said to be, and nothing else is left."""
    shown = run("compare", str(chat_file))
    assert shown.exit_code == 0, shown.stderr
    lines = [line.split()[0] for line in shown.stdout.splitlines() if line.startswith(STRATEGIES)]
    assert lines == [*STRATEGIES, *STRATEGIES]
    assert "16 turns, 32 messages" in shown.stdout
    assert "Chart: compare.svg" in shown.stdout
    assert (tmp_path / "compare.svg").read_text(encoding="utf-8").startswith("<svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chat.json", "compare.svg"]


def test_the_figures_of_a_chat(run: Run, chat_file: Path, tmp_path: Path) -> None:
    """Sixteen turns: layered memory folds twice and knows all of them, without memory all are sent."""
    layered, plain = figures(run, str(chat_file), *SHORT)["strategies"]
    assert (layered["calls"], layered["verbatim"], layered["in_memory"], layered["dropped"]) == (2, 12, 3, 0)
    assert (plain["calls"], plain["verbatim"], plain["in_memory"], plain["dropped"]) == (0, 15, 0, 0)
    assert layered["summarizing"] > 0
    assert plain["total_sent"] == sum(moment["sent"] for moment in plain["per_turn"])
    assert not (tmp_path / "compare.svg").exists()


def test_a_prompt_that_only_grows_is_reusable(run: Run, chat_file: Path) -> None:
    """Without memory and within the budget every prompt begins with all of the one before."""
    [plain] = figures(run, str(chat_file), "--strategies", "none")["strategies"]
    moments = plain["per_turn"]
    assert all(now["reused"] == before["counted"] for before, now in pairwise(moments))


def test_a_small_window_trims(run: Run, chat_file: Path) -> None:
    """Where the budget is small, turns without memory are dropped, and no prompt is over it."""
    shown = figures(run, str(chat_file), "--strategies", "none", "--context-size", "256", "--max-tokens", "56")
    [plain] = shown["strategies"]
    assert shown["budget"] == 200
    assert plain["peak_sent"] <= 200
    assert plain["dropped"] > 0
    assert plain["dropped"] + plain["verbatim"] == 15


def test_all_strategies_know_every_turn(run: Run, tmp_path: Path) -> None:
    """Past turns are verbatim, in memory or in neither; the strategies that fold leave none out."""
    file = write_chat(tmp_path / "long.json", 30)
    for line in figures(run, str(file))["strategies"]:
        assert line["verbatim"] + line["in_memory"] + line["dropped"] == 29
        assert line["dropped"] == 0
        assert (line["calls"] > 0) == (line["strategy"] != "none")


def test_the_first_turns_alone(run: Run, chat_file: Path) -> None:
    """--turns stops after so many."""
    assert figures(run, str(chat_file), *SHORT, "--turns", "5")["turns"] == 5


def test_a_sillytavern_chat_with_a_greeting(run: Run, tmp_path: Path) -> None:
    """The greeting of a SillyTavern chat is a turn that asks nobody; names are those of the file."""
    lines: list[dict[str, Any]] = [{"user_name": "Ann", "character_name": "Tom", "chat_metadata": {}}]
    lines.append({"name": "Tom", "is_user": False, "mes": "Welcome to the harbour."})
    lines.append({"name": "Ann", "is_user": True, "mes": "Is the ferry running?"})
    lines.append({"name": "Tom", "is_user": False, "mes": "Not since the storm."})
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    [plain] = figures(run, str(file), "--strategies", "none")["strategies"]
    assert [moment["sent"] > 0 for moment in plain["per_turn"]] == [False, True]


def test_a_chats_own_settings_hold(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat in our own format brings its settings, but no connection and no pause."""
    monkeypatch.setenv("TURNFOLD_DATABASE_URL", f"sqlite:///{tmp_path / 'mine.db'}")
    assert run("import", str(write_chat(tmp_path / "chat.json", 16)), "--chat-id", "mira").exit_code == 0
    with opened(Settings()) as server:
        own = {"paused": True, "connection": "far", "layered": {"verbatim_turns": 4, "turns_per_batch": 2}}
        server.services.keeping.put("mira", {"settings": {**own, "summary_buffer": {"scope": "call"}}})
    assert run("export", "mira", "--output", str(tmp_path / "mira.turnfold.jsonl")).exit_code == 0
    layered, buffer = figures(run, "mira.turnfold.jsonl", "--strategies", "layered,summary_buffer")["strategies"]
    assert (layered["calls"], layered["verbatim"], buffer["in_memory"]) == (6, 5, 7)


def test_a_model_is_asked_and_its_price_told(run: Run, chat_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--connection-from-env says how many calls it takes before it makes them."""
    with FakeModel() as model:
        use(monkeypatch, model)
        shown = run("compare", str(chat_file), *SHORT, "--connection-from-env")
    assert shown.exit_code == 0, shown.stderr
    assert "fake-small" in shown.stdout
    assert "about 2 calls: layered 2." in shown.stdout
    assert len(model.calls) == 2


def test_a_model_in_the_environment_is_not_asked_unasked(
    run: Run, chat_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the option nobody is called, and the option is named."""
    with FakeModel() as model:
        use(monkeypatch, model)
        shown = run("compare", str(chat_file), *SHORT)
    assert (shown.exit_code, len(model.calls)) == (0, 0)
    assert "--connection-from-env" in shown.stdout


@pytest.mark.parametrize("strategy", ["layered", "summary_buffer"])
def test_a_model_that_refuses(run: Run, chat_file: Path, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing model ends it in one line that names the strategy, with exit status 1."""
    with FakeModel() as model:
        use(monkeypatch, model)
        model.do(status(401))
        shown = run("compare", str(chat_file), "--strategies", strategy, "--connection-from-env")
    assert shown.exit_code == 1
    assert strategy in shown.stderr
    assert "401" in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_ctrl_c_shows_what_is_done(start: Start, chat_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends it with the figures of the turns that all strategies have played, and the status for that."""
    with FakeModel() as model:
        use(monkeypatch, model)
        model.do(hang())
        process = start("compare", str(chat_file), *SHORT, "--connection-from-env")
        model.wait_for_calls(1, 60)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "turnfold: Stopped after 12 turns.\n")
    assert "layered" in out.split("verbatim")[1]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["nowhere.json"], "There is no file nowhere.json"),
        (["chat.json", "--strategies", "layered,deep"], "'deep'"),
        (["chat.json", "--strategies", ","], "name some of"),
        (["chat.json", "--chart", "chart.png"], "should end in .svg"),
        (["chat.json", "--chart", "nowhere/chart.svg"], "does not exist"),
        (["chat.json", "--max-tokens", "9000"], "--max-tokens"),
        (["chat.json", "--connection-from-env"], "TURNFOLD_LLM_BASE_URL"),
        (["silent.json"], "no reply"),
        (["broken.json"], "no known kind"),
    ],
)
def test_what_cannot_be_compared(run: Run, chat_file: Path, args: list[str], said: str) -> None:
    """Whatever is in the way is said in one line on standard error, before anything is shown or drawn."""
    chat_file.with_name("silent.json").write_text('[{"role": "user", "content": "Anybody?"}]', encoding="utf-8")
    chat_file.with_name("broken.json").write_text("Dear diary", encoding="utf-8")
    shown = run("compare", *args)
    assert (shown.exit_code, shown.stdout) == (1, "")
    assert said in shown.stderr
    assert shown.stderr.count("\n") == 1
    assert not chat_file.with_name("compare.svg").exists()
