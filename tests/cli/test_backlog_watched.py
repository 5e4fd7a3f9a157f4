"""`turnfold backlog` while it works: on a terminal, stopped, beside a server, after a kill, twice at once."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.store.engine import Database
from tests.cli.programs import COMMAND, Run, Start, environment, use
from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, hang, status
from tests.support.service import Service, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TWO_ANSWERS = (answer("Mira meets Tom at gates 0 to 2."), answer("Mira meets Tom at gates 3 to 5."))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    """The model that commands use."""
    with FakeModel() as model:
        use(monkeypatch, model)
        yield model


class Terminal:
    """A program on a terminal."""

    def __init__(self, *args: str) -> None:
        self._ours, theirs = pty.openpty()
        command, env = [*COMMAND, *args], environment(TERM="xterm")
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
        os.close(theirs)
        self._seen = ""

    def until(self, pattern: str, seconds: float = 60) -> str:
        """What it has shown, without colours, once a pattern is in it."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self._seen):
            assert time.monotonic() < deadline, self._seen
            if select.select([self._ours], [], [], 1)[0]:
                self._seen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._read())
        return self._seen

    def _read(self) -> str:
        try:
            return os.read(self._ours, 4096).decode()
        except OSError:  # what a terminal answers whose program has ended
            raise AssertionError(self._seen) from None

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


@contextmanager
def _beside(folder: Path, model: FakeModel) -> Iterator[Service]:
    """A server on the same database, with the same model."""
    settings = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "fake-small"}
    with running(folder, **settings) as service:
        yield service


@contextmanager
def _meanwhile(call: Callable[[], object]) -> Iterator[None]:
    """While the block runs, make a call in another thread; what it raises is raised."""
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(call)
        yield
        made.result(60)


def test_on_a_terminal(run: Run, old: str, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks after saying what it takes, shows how far it is and what it waits for; Ctrl-C stops it, and it says how
    to go on.
    """
    monkeypatch.setenv("TURNFOLD_RETRY_BASE_S", "60")
    model.do(*TWO_ANSWERS, status(503))
    terminal = Terminal("backlog", old)
    try:
        shown = terminal.until("all, one, skip\\?")
        assert "30 turns wait to be folded, in 10 batches" in shown
        terminal.type("everything\nall\n")
        shown = terminal.until(r"2/10.*20%.*'default' fails, asked again at \d\d:")
        assert "'everything' is none of all, one, skip" in shown
        terminal.process.send_signal(signal.SIGINT)
        shown = terminal.until("goes on")
        assert terminal.process.wait(30) == 130
    finally:
        terminal.close()
    assert re.search(r"Stopped after 2 of 10 batches\. What is folded stays \(12 messages\)", shown)
    assert "60 ghosted" in run("backlog", old, "--all").stdout
    assert_promises(Path("turnfold.db"), old)


def test_no_answer_changes_nothing(run: Run, old: str) -> None:
    """Ctrl-C at the question leaves the chat as it was, and the question open."""
    terminal = Terminal("backlog", old)
    try:
        terminal.until("all, one, skip\\?")
        terminal.process.send_signal(signal.SIGINT)
        terminal.until("Nothing was changed")
        assert terminal.process.wait(30) == 130
    finally:
        terminal.close()
    assert "choose /sc-backlog" in run("status", old).stdout


def test_sigterm_stops_it_as_well(old: str, start: Start, model: FakeModel) -> None:
    """SIGTERM cuts the call to the model and keeps what is folded; the status says it was asked to end."""
    model.do(*TWO_ANSWERS, hang())
    process = start("backlog", old, "--all")
    model.wait_for_calls(3, 60)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (143, "")
    assert "Stopped after 2 of 10 batches" in err
    assert "Traceback" not in err
    model.wait_for_disconnects(1)
    assert_promises(Path("turnfold.db"), old)


def test_it_follows_what_a_server_runs(run: Run, old: str, tmp_path: Path, model: FakeModel) -> None:
    """A job that a server runs is joined: the command ends when it does, and asks for nothing twice."""
    model.hold()
    with _beside(tmp_path, model) as service:
        job = service.post(f"/chats/{old}/backlog", {"choice": "one"}).json()["job"]
        model.wait_for_calls(1)
        with _meanwhile(lambda: _release_when_joined(service, job["id"], model)):
            shown = run("backlog", old, "--all")
        assert shown.exit_code == 0, shown.stderr
        assert "60 ghosted" in shown.stdout
        assert [one["id"] for one in service.get("/jobs", params={"chat_id": old}).json()["items"]] == [job["id"]]
    assert len(model.calls) == 10


def _release_when_joined(service: Service, job_id: str, model: FakeModel) -> None:
    _joined(service, job_id)
    model.release()


def _stop_at_call(number: int, service: Service, chat: str, model: FakeModel) -> None:
    model.wait_for_calls(number, 60)
    assert service.post(f"/chats/{chat}/stop").json()["stopped"]


def _joined(service: Service, job_id: str) -> None:
    deadline = time.monotonic() + 60
    while service.get(f"/jobs/{job_id}").json()["kind"] != "backlog":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_ctrl_c_stops_what_a_server_runs(old: str, start: Start, tmp_path: Path, model: FakeModel) -> None:
    """Ctrl-C beside a server cuts the server's call within a second, and nothing of it is stored."""
    model.do(*TWO_ANSWERS, hang())
    with _beside(tmp_path, model) as service:
        job = service.post(f"/chats/{old}/backlog", {"choice": "one"}).json()["job"]
        service.settled(old)
        job = service.post(f"/chats/{old}/backlog", {"choice": "one"}).json()["job"]
        service.settled(old)
        job = service.post(f"/chats/{old}/backlog", {"choice": "one"}).json()["job"]
        process = start("backlog", old, "--all")
        _joined(service, job["id"])
        process.send_signal(signal.SIGINT)
        model.wait_for_disconnects(1, 5)
        _, err = process.communicate(timeout=10)
        assert process.returncode == 130
        assert "12 messages" in err
        assert service.get(f"/jobs/{job['id']}").json()["state"] == "cancelled"
        assert service.status(old)["job"] is None


def test_what_is_stopped_elsewhere_is_no_success(run: Run, old: str, tmp_path: Path, model: FakeModel) -> None:
    """A stop through the server ends the command's own job at once; it says so, and fails."""
    model.do(*TWO_ANSWERS, hang())
    with _beside(tmp_path, model) as service:
        with _meanwhile(lambda: _stop_at_call(3, service, old, model)):
            shown = run("backlog", old, "--all")
        model.wait_for_disconnects(1, 5)
    assert shown.exit_code == 1
    assert "after 2 of 10 batches, which stay: Stopped on request." in shown.stderr


def test_after_a_kill_it_goes_on(run: Run, old: str, start: Start, model: FakeModel) -> None:
    """A killed command loses nothing that was stored; the same command finds that it died, and goes on."""
    model.do(*TWO_ANSWERS, hang())
    process = start("backlog", old, "--all")
    model.wait_for_calls(3, 60)
    process.kill()
    process.wait()
    db = Database("sqlite:///turnfold.db")
    with db.write() as session:
        session.connection().exec_driver_sql("UPDATE jobs SET lease_until = lease_until - 9000")  # nine seconds later
    db.dispose()
    shown = run("backlog", old, "--all")
    assert shown.exit_code == 0, shown.stderr
    assert "60 ghosted" in shown.stdout
    assert len(model.calls) == 3 + 8
    assert_promises(Path("turnfold.db"), old)


def test_two_at_once_do_the_work_once(old: str, start: Start, model: FakeModel) -> None:
    """Two commands on one chat share one job; one that comes when it is done finds nothing to do."""
    model.hold()
    both = [start("backlog", old, "--all") for _ in range(2)]
    model.wait_for_calls(1, 60)
    model.release()
    told = [process.communicate(timeout=60) for process in both]
    assert [(process.returncode, err) for process, (_, err) in zip(both, told, strict=True)] == [(0, "")] * 2
    assert any("60 ghosted" in out for out, _ in told)
    assert all("60 ghosted" in out or "has no backlog" in out for out, _ in told)
    assert len(model.calls) == 10
    assert_promises(Path("turnfold.db"), old)
