"""Servers in their own processes on loopback ports, and a client that costs little."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil

_READY_S = 180.0
_STOP_S = 15.0
_ROOT = Path(__file__).parents[1]
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Remote:
    """A server process and one connection to it. httpx would take longer than what is measured."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=600)

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request and read the answer's body. Raises RuntimeError for an error."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        self._http.request(method, path, body, headers)
        answer = self._http.getresponse()
        found = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {found[:500]!r}")
        return found

    def get(self, path: str) -> Any:
        """The JSON of a GET."""
        return json.loads(self.ask("GET", path))

    def post(self, path: str, body: Any) -> Any:
        """The JSON of a POST."""
        return json.loads(self.ask("POST", path, json.dumps(body).encode()))

    def put(self, path: str, body: Any) -> Any:
        """The JSON of a PUT."""
        return json.loads(self.ask("PUT", path, json.dumps(body).encode()))

    def settle(self, chat_id: str, limit_s: float = 120) -> None:
        """Wait until nothing runs on a chat."""
        deadline = time.monotonic() + limit_s
        while self.get(f"/v1/chats/{chat_id}/status")["job"] is not None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"a job on {chat_id} still runs")
            time.sleep(0.02)

    def resident_mb(self) -> float:
        """Memory the process holds, in MB."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


@contextmanager
def turnfold(database: Path, settings: Mapping[str, str] = NO_SETTINGS) -> Iterator[Remote]:
    """`turnfold serve` on a database, with settings by their names in the environment; it ends with the block."""
    port = _free_port()
    command = [sys.executable, "-m", "app.cli", "serve", "--port", str(port)]
    own = {"TURNFOLD_DATABASE_URL": f"sqlite:///{database}", **settings}
    with _running(command, port, "/healthz", database.parent, own) as remote:
        yield remote


@contextmanager
def scripted_model(latency_s: float, folder: Path) -> Iterator[Remote]:
    """A model server that takes `latency_s` seconds for each answer."""
    port = _free_port()
    command = [sys.executable, "-m", "bench.model_server", "--port", str(port), "--latency-s", str(latency_s)]
    with _running(command, port, "/", folder, NO_SETTINGS) as remote:
        yield remote


def model_settings(port: int, concurrency: int) -> dict[str, str]:
    """Settings of a Turnfold that asks a scripted model on a port, so many calls at once."""
    return {
        "TURNFOLD_LLM_PROVIDER": "openai",
        "TURNFOLD_LLM_BASE_URL": f"http://127.0.0.1:{port}",
        "TURNFOLD_LLM_MODEL": "scripted",
        "TURNFOLD_LLM_CONCURRENCY": str(concurrency),
    }


@contextmanager
def bare(body: bytes, folder: Path) -> Iterator[Remote]:
    """The floor, answering with `body`; the same server software with the same options."""
    port, file = _free_port(), folder / "floor.json"
    file.write_bytes(body)
    options = ["--port", str(port), "--log-level", "warning", "--ws", "none"]
    command = [sys.executable, "-m", "uvicorn", "bench.floor:app", *options]
    with _running(command, port, "/", folder, {"BENCH_BODY": str(file)}) as remote:
        yield remote


@contextmanager
def _running(command: list[str], port: int, ready: str, folder: Path, extra: Mapping[str, str]) -> Iterator[Remote]:
    own = {name: value for name, value in os.environ.items() if not name.upper().startswith("TURNFOLD_")}
    log = folder / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,  # where no .env is
            env={**own, "PYTHONPATH": str(_ROOT), **extra},
            stdout=output,
            stderr=output,
        )
    remote = Remote(process, port)
    try:
        _wait(remote, ready, log)
        yield remote
    finally:
        remote.close()
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(remote: Remote, path: str, log: Path) -> None:
    """Until the server answers. Raises RuntimeError with the end of its log if it does not."""
    deadline = time.monotonic() + _READY_S
    while True:
        try:
            remote.ask("GET", path)
            return
        except OSError as error:
            remote.close()
            if remote.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The server did not start:\n{log.read_text()[-2000:]}") from error
            time.sleep(0.02)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
