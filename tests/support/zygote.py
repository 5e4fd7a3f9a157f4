"""A process that has imported the application once and forks: a server, or a run to be killed, begins within moments.

    with Zygote(folder) as zygote:
        child = zygote.spawn("tests.support.zygote:serve", {...}, folder / "server.log")
        child.send_signal(signal.SIGKILL)
        child.wait()  # -9

A child is a process of its own in every way; only its imports were done before it began. What a zygote started ends
with it at the latest.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

import certifi

ROOT = Path(__file__).parents[2]
_POLL_S = 0.002
_IMPORTS = ("app.cli", "app.cli.serving", "app.main", "tests.support.kill_points")


class Child:
    """A process that a zygote forked; what it can do, subprocess.Popen can too."""

    def __init__(self, zygote: "Zygote", pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._zygote = zygote

    def send_signal(self, number: int) -> None:
        """Send a signal; nothing if the process has been waited for."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status once it has ended, or minus the signal that ended it. Raises TimeoutError."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            self.returncode = self._zygote.ask("wait", self.pid)
            if self.returncode is None:
                if deadline is not None and time.monotonic() > deadline:
                    raise TimeoutError(f"process {self.pid} still runs")
                time.sleep(_POLL_S)
        return self.returncode


class Zygote:
    """See the module. `folder`: where the bytecode is kept of what the process imports."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = threading.Lock()

    def __enter__(self) -> "Zygote":
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.zygote"],
            cwd=ROOT,
            env=environment(self._folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ask("ready")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()

    def spawn(self, target: str, values: dict[str, Any], log: Path) -> Child:
        """Call a function ("module:name") with keyword arguments in a new process, whose output goes to `log`."""
        return Child(self, int(self.ask("spawn", target, values, str(log))))

    def call(self, target: str, values: dict[str, Any]) -> None:
        """Call a function in the zygote itself: what it leaves in memory, every later child begins with."""
        self.ask("call", target, values)

    def ask(self, *request: object) -> Any:
        """What the process answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._turn:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        assert answer, "the zygote ended"
        return json.loads(answer)


def _one_authority(folder: Path) -> str:
    """A file with a single certificate: to read all that there are takes longer than to start a server."""
    end = "-----END CERTIFICATE-----\n"
    file = folder / "authority.pem"
    file.write_text(Path(certifi.where()).read_text(encoding="utf-8").partition(end)[0] + end, encoding="utf-8")
    return str(file)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """The environment of a process that is started again and again: it keeps the bytecode of what it imports."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    named = {f"TURNFOLD_{name.upper()}": value for name, value in settings.items()}
    bytecode = os.environ.get("PYTHONPYCACHEPREFIX", str(folder / "bytecode"))  # scripts/test has one for all
    quick = {"PYTHONPYCACHEPREFIX": bytecode, "SSL_CERT_FILE": _one_authority(folder)}
    return {**kept, "PYTHONPATH": str(ROOT), **quick, **named}


def serve(folder: str, settings: dict[str, str], arguments: list[str]) -> None:
    """`turnfold serve`."""
    os.chdir(folder)
    os.environ.update({f"TURNFOLD_{name.upper()}": value for name, value in settings.items()})
    import_module("app.cli").app(["serve", *arguments])


def main() -> None:
    """Answer requests, a line each, until there are no more; then end what was started."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is no answer
    for name in _IMPORTS:
        import_module(name)
    children: set[int] = set()
    for line in sys.stdin:
        kind, *rest = json.loads(line)
        answer = _answer(kind, rest, children)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os._exit(0)  # to forget all that it holds takes an interpreter seconds


def _answer(kind: str, rest: list[Any], children: set[int]) -> object:
    if kind == "spawn":
        pid = _fork(*rest)
        children.add(pid)
        return pid
    if kind == "wait":
        pid, status = os.waitpid(rest[0], os.WNOHANG)
        children.discard(pid)
        return os.waitstatus_to_exitcode(status) if pid else None
    if kind == "call":
        _call(*rest)
    return kind


def _call(target: str, values: dict[str, Any]) -> None:
    module, name = target.split(":")
    getattr(import_module(module), name)(**values)


def _fork(target: str, values: dict[str, Any], log: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _redirect(log)
        _call(target, values)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  # whatever it was: it goes to the log, and never on into the zygote's own loop
        traceback.print_exc()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _redirect(log: str) -> None:
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)


if __name__ == "__main__":
    main()
