"""`turnfold backlog`: the question, the choices, and what they do."""

from pathlib import Path

import pytest

from app.cli.progress import spoken, told
from app.core.progress import Progress
from app.store import jobs
from app.store.engine import Database
from tests.cli.programs import Run, use, write_chat
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, status


def test_all_folds_what_waits(run: Run, old: str) -> None:
    """--all folds everything outside the window, and says how the memory stands then."""
    shown = run("backlog", old, "--all")
    assert shown.exit_code == 0, shown.stderr
    assert "20 visible, 60 ghosted" in shown.stdout
    assert "Waiting" not in shown.stdout


def test_one_folds_a_batch(run: Run, old: str) -> None:
    """--one folds a batch now; the rest waits."""
    shown = run("backlog", old, "--one")
    assert shown.exit_code == 0, shown.stderr
    assert "74 visible, 6 ghosted" in shown.stdout
    assert "Waiting: 27 turns" in shown.stdout


def test_skip_leaves_all_as_it_is(run: Run, old: str) -> None:
    """--skip hides nothing, and says how they fold after all; --all does that."""
    shown = run("backlog", old, "--skip")
    assert (shown.exit_code, shown.stdout.split(";")[0]) == (0, "30 turns stay as they are")
    assert "`turnfold backlog gates --all`" in shown.stdout
    assert "80 visible, 0 ghosted" in run("status", old).stdout
    asked = run("backlog", old)
    assert (asked.exit_code, "Skipped: 30 turns." in asked.stdout) == (0, True)
    assert run("backlog", old, "--skip").exit_code == 1
    assert "60 ghosted" in run("backlog", old, "--all").stdout


def test_without_a_terminal_it_names_the_choices(run: Run, old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody can answer, one line says what waits, what it takes and what can be chosen; nothing is done."""
    with FakeModel() as model:
        use(monkeypatch, model)
        shown = run("backlog", old)
    assert (shown.exit_code, shown.stdout, model.calls) == (1, "", [])
    assert shown.stderr.count("\n") == 1
    assert "30 turns wait to be folded, in 10 batches. That takes about 10 calls with" in shown.stderr
    assert "to connection 'default' (fake-small)" in shown.stderr
    assert all(f"`turnfold backlog gates --{choice}`" in shown.stderr for choice in ("all", "one", "skip"))
    assert "80 visible, 0 ghosted" in run("status", old).stdout


def test_the_built_in_summarizer_costs_nothing(run: Run, old: str) -> None:
    """Without a model no calls are announced."""
    assert "it costs nothing" in run("backlog", old).stderr


def test_a_chat_without_backlog(run: Run, tmp_path: Path) -> None:
    """It says so. That all is folded is what --all wants; a batch or a backlog to skip there is not."""
    run("import", str(write_chat(tmp_path / "short.json", 3)), "--chat-id", "gates")
    assert run("backlog", "gates").stdout == "Chat gates has no backlog.\n"
    shown = [run("backlog", "gates", *choice) for choice in ([], ["--all"], ["--one"], ["--skip"])]
    assert [one.exit_code for one in shown] == [0, 0, 1, 1]
    assert all("has no backlog" in one.stdout + one.stderr for one in shown)


def test_a_few_turns_are_no_backlog(run: Run, chat_file: Path) -> None:
    """Turns that fold as the chat goes on are named; --all folds them at once."""
    run("import", str(chat_file), "--chat-id", "gates")
    shown = run("backlog", "gates")
    assert shown.exit_code == 0
    assert "no backlog. Outside its window: 6 turns" in shown.stdout
    assert "12 ghosted" in run("backlog", "gates", "--all").stdout


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    ("args", "advice"),
    [(["none", "--all"], "no chat 'none'"), (["gates", "--all", "--skip"], "choose one"), (["none"], "no chat 'none'")],
)
def test_what_cannot_be_done(run: Run, args: list[str], advice: str) -> None:
    """An unknown chat, or two choices at once, end in one line and exit status 1."""
    shown = run("backlog", *args)
    assert (shown.exit_code, shown.stdout, shown.stderr.count("\n")) == (1, "", 1)
    assert advice in shown.stderr


def test_a_chat_without_memory(run: Run, old: str) -> None:
    """Where no memory is kept nothing folds, which is no success."""
    _sql("UPDATE chats SET strategy = 'none'")
    shown = run("backlog", old, "--all")
    assert (shown.exit_code, "strategy is none" in shown.stderr) == (1, True)


def test_a_failing_model_is_a_failure(run: Run, old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the model refuses midway, finished batches stay, and one line names connection, remedy and how to go on."""
    with FakeModel() as model:
        use(monkeypatch, model)
        model.do(answer("Mira meets Tom at gates 0 to 2."), answer("Mira meets Tom at gates 3 to 5."), status(401))
        shown = run("backlog", old, "--all")
        assert (shown.exit_code, shown.stdout) == (1, "")
        assert "after 2 of 10 batches, which stay: Connection 'default' answered 401" in shown.stderr
        assert "check its API key" in shown.stderr
        assert "`turnfold backlog gates --all` goes on." in shown.stderr
        assert "60 ghosted" in run("backlog", old, "--all").stdout
    assert len(model.calls) == 3 + 8


def test_other_chats_are_left_alone(run: Run, old: str, tmp_path: Path) -> None:
    """A job that waits on another chat is a server's work, and one whose process died too."""
    for name in ("waits", "dead"):
        run("import", str(write_chat(tmp_path / "other.json", 30)), "--chat-id", name)
        _sql(f"INSERT INTO jobs (id, chat_key, kind, state, done, total, failed, usage, created_at) SELECT '{name}', "
             f"key, 'fold', 'queued', 0, 1, 0, '{{}}', 1 FROM chats WHERE id = '{name}'")  # fmt: skip
    _sql("UPDATE jobs SET state = 'running', lease_owner = 'gone', lease_until = 1 WHERE id = 'dead'")
    assert run("backlog", old, "--all").exit_code == 0
    db = Database("sqlite:///turnfold.db")
    with db.read() as session:
        left = {job_id: jobs.by_id(session, job_id) for job_id in ("waits", "dead")}
        assert [job.state for job in left.values() if job] == ["queued", "running"]
    db.dispose()


def test_what_a_bar_says_besides() -> None:
    """Failed batches once there are any, the time that is left as soon as it is known, and what is waited for."""
    assert told(Progress(0, 10, 0, 0, None), "") == ""
    assert told(Progress(2, 10, 1, 20, 40.4), "") == "1 failed, 40 s left"
    assert told(Progress(2, 10, 0, 20, 40.4), "asked again at noon") == "asked again at noon"
    assert [spoken(seconds) for seconds in (0.2, 89, 90, 600, 5400, 86_400)] == [
        "0 s", "89 s", "2 min", "10 min", "1 h 30 min", "24 h 0 min",
    ]  # fmt: skip


def _sql(statement: str) -> None:
    db = Database("sqlite:///turnfold.db")
    with db.write() as session:
        session.connection().exec_driver_sql(statement)
    db.dispose()
