"""A real SillyTavern: its server, and the folder of data that belongs to it.

    with serving("1.19.0", folder) as tavern:
        tavern.configure(model=model.base_url, turnfold=turnfold.url)   # while no page is open: a page saves its own
        tavern.seed_chat("Seraphina", "old chat", [line("user", "Hello."), line("assistant", "Hello, you.")])
        ...                                                             # a browser opens tavern.url

What the model says is scripted by whoever serves `model`; nothing leaves the machine.
"""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.tavern_settings import SERVER, configured

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".sillytavern"
VERSIONS = tuple((ROOT / "scripts" / "requirements" / "sillytavern.txt").read_text(encoding="utf-8").split())
START_S = 180.0

both_versions = pytest.mark.parametrize("version", VERSIONS, scope="module")


def installed(version: str) -> bool:
    """Whether scripts/browser has got this version ready."""
    return (PLACE / version / "turnfold-ready").exists()


class SillyTavern:
    """A running server and its data, of the one user that SillyTavern has by itself."""

    def __init__(self, version: str, url: str, folder: Path) -> None:
        self.version = version
        self.url = url
        self.folder = folder
        self.home = folder / "data" / "default-user"

    @property
    def log(self) -> str:
        """What the server has printed so far."""
        return (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")

    @property
    def settings(self) -> dict[str, Any]:
        """The user's settings as they are stored."""
        found: dict[str, Any] = json.loads((self.home / "settings.json").read_text(encoding="utf-8"))
        return found

    def configure(self, *, model: str, turnfold: str | None = None, stream: bool = False, **extension: Any) -> None:
        """Write the settings anew: a model to talk to, a Turnfold for the extension, further settings of the extension.
        Only while no page is open: a page saves its own.
        """
        shipped = _package(self.version) / "default" / "content" / "settings.json"
        settings = configured(json.loads(shipped.read_text(encoding="utf-8")), model=model, stream=stream)
        if turnfold is not None:
            settings["extension_settings"]["turnfold"] = {"server": turnfold, **extension}
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def install_extension(self) -> None:
        """The extension as users get it."""
        folder = self.home / "extensions" / "turnfold"
        folder.parent.mkdir(parents=True, exist_ok=True)
        packing = subprocess.run([ROOT / "scripts" / "sillytavern-extension", folder], capture_output=True, text=True)
        assert packing.returncode == 0, packing.stderr

    def chats(self, character: str = "Seraphina") -> Path:
        """The folder of a character's chats."""
        named = self.home / "chats"
        return next(
            (one for one in (named / f"default_{character}", named / character) if one.exists()), named / character
        )

    def file(self, name: str, character: str = "Seraphina") -> list[dict[str, Any]]:
        """A chat file as it is stored: its header, then a message each."""
        path = self.chats(character) / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def group_file(self, name: str) -> list[dict[str, Any]]:
        """A group's chat file as it is stored; 1.13.5 writes no header there, which is {} here."""
        path = self.home / "group chats" / f"{name}.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return lines if "mes" not in lines[0] else [{}, *lines]

    def seed_chat(
        self, character: str, name: str, messages: Sequence[dict[str, Any]], metadata: dict[str, Any] | None = None
    ) -> str:
        """Write a chat file; `messages` as `line` makes them. Gives its name, for TavernPage.open_chat.
        It has an id of its own unless the metadata says otherwise: "" is none.
        """
        chat_metadata = {"integrity": str(uuid4()), **(metadata or {})}
        header = {"user_name": "User", "character_name": character, "chat_metadata": chat_metadata}
        lines = [json.dumps(one) for one in (header, *messages)]
        (self.chats(character) / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        return name


def line(role: str, text: str, *, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message of a chat file. `fields`: is_system for a hidden one, extra, swipes, …"""
    user = role == "user"
    spoken = {"name": name or ("User" if user else "Seraphina"), "is_user": user, "is_system": False}
    return {**spoken, "send_date": "2026-11-30T12:00:00.000Z", "mes": text, "extra": {}, **fields}


@contextmanager
def serving(version: str, folder: Path) -> Iterator[SillyTavern]:
    """A server with data of its own in `folder`, until the block ends. The first start takes 3 s where the machine is
    idle: the libraries are bundled already. Raises AssertionError with its log if it does not come up.
    """
    port = _free_port()
    tavern = SillyTavern(version, f"http://127.0.0.1:{port}", folder)
    tavern.configure(model="http://127.0.0.1:9")  # nobody's
    (folder / "config.yaml").write_text(json.dumps(SERVER), encoding="utf-8")  # JSON is YAML
    (folder / "data" / "_webpack").symlink_to(_package(version) / "dist" / "_webpack")
    with (folder / "log.txt").open("wb") as log, _process(version, folder, port, log.fileno()) as process:
        _wait_until_up(tavern, process)
        tavern.install_extension()
        yield tavern


def _package(version: str) -> Path:
    return PLACE / version / "app"


@contextmanager
def _process(version: str, folder: Path, port: int, log: int) -> Iterator[subprocess.Popen[bytes]]:
    options = {
        "--configPath": folder / "config.yaml",
        "--dataRoot": folder / "data",
        "--port": port,
        "--listen": "false",
        "--browserLaunchEnabled": "false",
    }
    words = [str(word) for option in options.items() for word in option]
    command = ["node", str(_package(version) / "server.js"), *words]
    # What it bundled is valid for the git revision that it sees; see scripts/browser.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(PLACE), "NODE_ENV": "production"}
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_until_up(tavern: SillyTavern, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while not _answers(tavern.url):
        assert process.poll() is None, f"SillyTavern ended while it started:\n{tavern.log}"
        assert time.monotonic() < deadline, f"SillyTavern did not start in time:\n{tavern.log}"
        time.sleep(0.05)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).is_success
    except httpx.TransportError:
        return False
