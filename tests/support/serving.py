"""`turnfold serve` in processes of their own, on loopback ports that the system chooses."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from app.store.engine import Database
from tests.support.passing import let_time_pass
from tests.support.zygote import Zygote, environment

READY_S = 60.0
END_S = 15.0
_ADDRESS = re.compile(r"Turnfold on (http://\S+?)/ ")


class Process(Protocol):
    """What both subprocess.Popen and a zygote's child are."""

    @property
    def pid(self) -> int: ...

    def send_signal(self, number: int, /) -> None: ...

    def wait(self, timeout: float | None = None) -> int: ...


Launch = Callable[[Path, Mapping[str, str], Path], Process]
"""Starts `turnfold serve --port 0` in a folder, with settings, its output added to a log."""


def forked(zygote: Zygote) -> Launch:
    """Servers that a zygote forks: their imports are done already."""

    def launch(folder: Path, settings: Mapping[str, str], log: Path) -> Process:
        values = {"folder": str(folder), "settings": dict(settings), "arguments": ["--port", "0"]}
        return zygote.spawn("tests.support.zygote:serve", values, log)

    return launch


def launch_cold(folder: Path, settings: Mapping[str, str], log: Path) -> Process:
    """A server as anybody starts it."""
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0"]
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, **settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


class Serving:
    """A server process and a client for it. `ready_s`: how long it took until it was ready."""

    def __init__(self, process: Process, url: str, log: Path, ready_s: float) -> None:
        self.process, self.url, self.log, self.ready_s = process, url, log, ready_s
        self.http = httpx.Client(base_url=url, timeout=60, verify=False)

    def kill(self) -> None:
        """End it without a warning, and wait until it is gone."""
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(END_S) == -signal.SIGKILL, self.log.read_text(encoding="utf-8")[-2000:]

    def terminate(self) -> int:
        """Ask it to end, as a service manager would; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(END_S)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of an answer that must be a good one."""
        answer = self.http.request(method, f"/v1{path}", **({} if body is None else {"json": body}))
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()


@contextmanager
def served(launch: Launch, folder: Path, name: str = "server", **settings: str) -> Iterator[Serving]:
    """A server on the database of a folder; it is killed when the block ends, if it still runs."""
    serving = start(launch, folder, name, **settings)
    try:
        yield serving
    finally:
        end(serving)


def start(launch: Launch, folder: Path, name: str = "server", **settings: str) -> Serving:
    """Start a server and wait until it is ready."""
    begun = time.monotonic()
    log = folder / f"{name}.log"
    log.touch()
    seen = log.stat().st_size
    values = {"database_url": f"sqlite:///{folder / 'turnfold.db'}", "log_level": "error", **settings}
    process = launch(folder, values, log)
    try:
        url = _address(log, seen, begun + READY_S)
        _wait_until_ready(url, begun + READY_S)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        process.wait(END_S)
        raise
    return Serving(process, url, log, time.monotonic() - begun)


def end(serving: Serving) -> None:
    """Kill it, if it still runs."""
    serving.http.close()
    serving.process.send_signal(signal.SIGKILL)
    serving.process.wait(END_S)


def age_leases(folder: Path) -> None:
    """Let the leases run out that a killed server held."""
    db = Database(f"sqlite:///{folder / 'turnfold.db'}")
    let_time_pass(db)
    db.dispose()


def _address(log: Path, seen: int, deadline: float) -> str:
    while True:
        with log.open("rb") as file:
            file.seek(seen)
            said = file.read().decode(errors="replace")
        if found := _ADDRESS.search(said):
            return found[1]
        assert time.monotonic() < deadline, f"the server did not start: {said[-2000:]}"
        time.sleep(0.01)


def _wait_until_ready(url: str, deadline: float) -> None:
    with closing(httpx.Client(base_url=url, timeout=10, verify=False)) as client:
        while client.get("/readyz").status_code != 200:
            assert time.monotonic() < deadline, "the server did not become ready"
            time.sleep(0.01)
