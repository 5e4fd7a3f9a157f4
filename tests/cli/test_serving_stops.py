"""How `turnfold serve` ends while chats are being folded."""

import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.programs import Start, use
from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang, status
from tests.support.service import turn_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    """The model that servers use."""
    with FakeModel() as model:
        use(monkeypatch, model)
        yield model


@contextmanager
def _serving(start: Start) -> Iterator[tuple["subprocess.Popen[str]", httpx.Client]]:
    process = start("serve", "--port", "0")
    assert process.stdout is not None
    found = re.search(r"http://\S+/", process.stdout.readline())
    assert found, process.communicate(timeout=10)
    with httpx.Client(base_url=f"{found[0]}v1", timeout=60) as client:
        yield process, client


def _append(client: httpx.Client, fold: str) -> httpx.Response:
    """Thirteen turns: the first three are due."""
    lines = [line for turn in range(1, 14) for line in turn_lines(turn)]
    return client.post("/chats/c/messages", json={"messages": lines, "fold": fold})


def _end(process: "subprocess.Popen[str]", number: signal.Signals) -> float:
    """Seconds that the end took; it was a good one."""
    began = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    return time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_calls_are_cut_at_once(start: Start, model: FakeModel, number: signal.Signals) -> None:
    """An append that waits for its fold does not keep the model's call open, and is answered before the server ends;
    the next start goes on by itself.
    """
    model.do(hang())
    with _serving(start) as (process, client), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_append, client, "wait")
        model.wait_for_calls(1, 60)
        process.send_signal(number)
        model.wait_for_disconnects(1, 5)
        appended = waiting.result(10)
        process.communicate(timeout=10)
    assert (process.returncode, appended.status_code) == (0, 201)
    assert appended.json()["reason"] == "The server was shut down."
    assert_promises(Path("turnfold.db"), "c")
    with _serving(start) as (process, client):
        model.wait_for_calls(2, 30)
        assert client.get("/jobs", params={"chat_id": "c", "state": "interrupted"}).json()["items"]
        _end(process, signal.SIGTERM)


def test_waits_are_cut_too(start: Start, model: FakeModel) -> None:
    """A server that waits to call a model again ends at once."""
    model.do(status(503))
    with _serving(start) as (process, client):
        _append(client, "background")
        model.wait_for_calls(1, 60)
        assert _end(process, signal.SIGTERM) < 5
    assert len(model.calls) == 1


def test_who_watches_is_let_go(start: Start, model: FakeModel) -> None:
    """An event stream that somebody watches ends with the server, and holds nothing up."""
    model.do(hang())
    with _serving(start) as (process, client):
        _append(client, "background")
        with client.stream("GET", "/chats/c/events") as events:
            lines = events.iter_lines()
            next(lines)
            model.wait_for_calls(1, 60)
            assert _end(process, signal.SIGTERM) < 5
            list(lines)
    model.wait_for_disconnects(1)


def test_what_waits_for_a_model_is_told_of_the_end(start: Start, model: FakeModel) -> None:
    """A trial and a connection's test that wait for an answer are cut, and told to ask again."""
    model.do(hang(), hang())
    with _serving(start) as (process, client), ThreadPoolExecutor(2) as pool:
        client.put("/connections/default", json={**client.get("/connections/default").json(), "concurrency": 2})
        client.post("/chats/c/messages", json={"messages": turn_lines(1)})
        waiting = [pool.submit(client.post, "/chats/c/trial", json={"run": True})]
        waiting.append(pool.submit(client.post, "/connections/default/test"))
        model.wait_for_calls(2, 60)
        assert _end(process, signal.SIGTERM) < 5
        for answer in [told.result(10) for told in waiting]:
            assert (answer.status_code, answer.json()["code"]) == (503, "internal")
            assert answer.headers["retry-after"] == "10"
    model.wait_for_disconnects(2)


def test_a_locked_database_holds_up_no_end(start: Start, model: FakeModel) -> None:
    """Though another program has the database locked for long, the call is cut at once and the server ends in ten
    seconds; that it could not note what it left is no loss.
    """
    model.do(hang())
    with _serving(start) as (process, client):
        _append(client, "background")
        model.wait_for_calls(1, 60)
        other = sqlite3.connect("turnfold.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        process.send_signal(signal.SIGTERM)
        model.wait_for_disconnects(1, 5)
        _, err = process.communicate(timeout=10)
        other.close()
    assert (process.returncode, "locked by another program" in err) == (1, True)
    assert_promises(Path("turnfold.db"), "c")
