"""A killed server loses nothing, and the next one goes on."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.service import turn_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@contextmanager
def server(folder: Path, model: FakeModel) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client]]:
    """`turnfold serve` in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "TURNFOLD_DATABASE_URL": f"sqlite:///{folder / 'turnfold.db'}",
        "TURNFOLD_LLM_PROVIDER": "openai",
        "TURNFOLD_LLM_BASE_URL": model.base_url,
        "TURNFOLD_LLM_MODEL": "scripted",
        "TURNFOLD_LOG_LEVEL": "error",
    }
    command = [sys.executable, "-c", "from app.cli import app; app()", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            _wait_until_ready(process, client)
            yield process, client
    finally:
        process.kill()
        process.wait(10)


def _wait_until_ready(process: subprocess.Popen[bytes], client: httpx.Client) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended while it started"
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server did not become ready")


def _append(client: httpx.Client, turns: range, fold: str = "background") -> None:
    lines = [line for turn in turns for line in turn_lines(turn)]
    answer = client.post("/v1/chats/c/messages", json={"messages": lines, "fold": fold})
    assert answer.status_code == 201, answer.text


def _ghosted(client: httpx.Client) -> int:
    counts = client.get("/v1/chats/c/status").json()["counts"]
    return int(counts["ghosted"])


def test_killed_between_call_and_commit(tmp_path: Path) -> None:
    """A server killed while the model thinks has lost nothing; the next one marks its job and folds by itself."""
    with FakeModel() as model:
        with server(tmp_path, model) as (process, client):
            _append(client, range(1, 17), "wait")
            before = _ghosted(client)
            model.hold()
            _append(client, range(17, 20))
            model.wait_for_calls(len(model.calls) + 1, 20)
            process.send_signal(signal.SIGKILL)
            process.wait(10)
        model.release()
        assert_promises(tmp_path / "turnfold.db", "c")
        with server(tmp_path, model) as (_, client):
            assert client.get("/v1/chats/c/status").json()["counts"]["messages"] == 38
            deadline = time.monotonic() + 60
            while _ghosted(client) <= before:
                assert time.monotonic() < deadline, "the work did not go on by itself"
                time.sleep(0.1)
            states = [job["state"] for job in client.get("/v1/jobs?chat_id=c").json()["items"]]
            assert "interrupted" in states
        assert_promises(tmp_path / "turnfold.db", "c")


def test_sigterm_ends_within_ten_seconds(tmp_path: Path) -> None:
    """SIGTERM cuts the call to the model and ends the server in time."""
    with FakeModel() as model, server(tmp_path, model) as (process, client):
        model.hold()
        _append(client, range(1, 14))
        model.wait_for_calls(1, 20)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        model.wait_for_disconnects(1)
        assert_promises(tmp_path / "turnfold.db", "c")
