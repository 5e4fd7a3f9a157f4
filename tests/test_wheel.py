"""What a user gets who installs the wheel and has no checkout."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
NO_NETWORK = re.compile(r"dns error|error sending request|failed to connect|NewConnectionError|name resolution", re.I)
DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy does not know our loopback
STARTING_S = 60
STOPPING_S = 20

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def _install(*command: str | Path) -> None:
    """Run an installer: the one thing here that may use the network, and skips the test where there is none."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    if done.returncode and NO_NETWORK.search(output) and os.environ.get("CI") != "true":
        pytest.skip("No package index can be reached, and the wheel needs one for what it requires.")
    assert done.returncode == 0, output


@pytest.fixture(scope="module")
def uv() -> str | None:
    """uv, where it works (a version manager's stand-in for it may not)."""
    found = shutil.which("uv")
    works = found and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0
    return found if works else None


@pytest.fixture(scope="module")
def wheel(uv: str | None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by way of the source distribution, which therefore holds all that a build needs."""
    folder = tmp_path_factory.mktemp("dist")
    installer = ["--installer", "uv"] if uv else []
    _install(sys.executable, "-m", "build", *installer, "--outdir", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(uv: str | None, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it requires."""
    home = tmp_path_factory.mktemp("environment") / "venv"
    python = home / "bin" / "python"
    if uv:
        _install(uv, "venv", "--python", sys.executable, home)
        _install(uv, "pip", "install", "--python", python, wheel)
    else:
        _install(sys.executable, "-m", "venv", home)
        _install(python, "-m", "pip", "install", "--quiet", wheel)
    return home / "bin"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who is not in the checkout and has a database of their own."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return {**inherited, "TURNFOLD_DATABASE_URL": f"sqlite:///{tmp_path / 'chats.db'}"}


@pytest.fixture
def port() -> int:
    """A port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


@pytest.fixture
def server(programs: Path, environment: dict[str, str], port: int, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server started from the wheel, in an empty folder; its words are in server.log there."""
    with (tmp_path / "server.log").open("wb") as log:
        command = [str(programs / "turnfold"), "serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _get(address: str) -> int:
    """The status of a GET; 0 while nobody listens."""
    try:
        with DIRECTLY.open(address, timeout=5) as response:
            status: int = response.status
            return status
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def _becomes_ready(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether `address` answers 200 before the process ends or the time for starting is over."""
    end = time.monotonic() + STARTING_S
    while time.monotonic() < end and process.poll() is None:
        if _get(address) == 200:
            return True
        time.sleep(0.1)  # a process of its own: there is no clock to turn
    return False


def test_the_wheel_holds_what_is_not_python(wheel: Path) -> None:
    """Prompts, migrations and the dashboard's files are in the wheel, each one that the checkout has."""
    folders = [ROOT / "prompts", ROOT / "migrations", ROOT / "static"]
    files = [
        path for folder in folders for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    wanted = {f"app/{path.relative_to(ROOT).as_posix()}" for path in files}
    assert {name.split("/")[1] for name in wanted} == {"prompts", "migrations", "static"}
    assert wanted - set(ZipFile(wheel).namelist()) == set()


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """The wheel puts `app` and its own metadata into site-packages, nothing beside them."""
    tops = {name.split("/")[0] for name in ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"app"}


def test_the_command_is_there(programs: Path, environment: dict[str, str], tmp_path: Path) -> None:
    """`turnfold --help` works from an empty folder and names `serve`."""
    shown = subprocess.run(
        [programs / "turnfold", "--help"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    assert "serve" in shown.stdout


def test_the_server_starts_and_stops(server: subprocess.Popen[bytes], port: int, tmp_path: Path) -> None:
    """A server started from the wheel becomes ready on a new database, has the dashboard, and ends after SIGTERM."""
    address = f"http://127.0.0.1:{port}"
    said = tmp_path / "server.log"
    assert _becomes_ready(f"{address}/readyz", server), said.read_text(encoding="utf-8")
    assert _get(f"{address}/healthz") == 200
    dashboard = ("/", "/static/dashboard/main.js", "/static/demo/story.jsonl")
    assert {_get(f"{address}{path}") for path in dashboard} == {200}
    server.send_signal(signal.SIGTERM)
    assert server.wait(STOPPING_S) in {0, -signal.SIGTERM}, said.read_text(encoding="utf-8")
