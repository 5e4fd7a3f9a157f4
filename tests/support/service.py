"""A whole Turnfold on a loopback port, in this process, with a database of its own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from app.assembly import Server
from app.main import create_app
from tests.support.parts import assembled

READY_S = 30.0


class Service:
    """A running server and a client for it."""

    def __init__(self, app: FastAPI, url: str, database: Path) -> None:
        self.app = app
        self.url = url
        self.database = database
        self.http = httpx.Client(base_url=url, timeout=120)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """GET under /v1."""
        return self.http.get(f"/v1{path}", **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        """POST JSON under /v1; without a body when there is none."""
        return self.http.post(f"/v1{path}", **({"json": body} if body is not None else {}), **options)

    def put(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """PUT JSON under /v1."""
        return self.http.put(f"/v1{path}", json=body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> httpx.Response:
        """PATCH JSON under /v1."""
        return self.http.patch(f"/v1{path}", json=body, **options)

    def status(self, chat: str) -> dict[str, Any]:
        """The chat's status."""
        answer = self.get(f"/chats/{chat}/status")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def settled(self, chat: str, seconds: float = 60) -> dict[str, Any]:
        """The chat's status once nothing runs on it."""
        deadline = time.monotonic() + seconds
        while (found := self.status(chat))["job"] is not None:
            assert time.monotonic() < deadline, f"still running: {found['job']}"
            time.sleep(0.02)
        return found

    def say(self, chat: str, *turns: int, fold: str = "wait") -> dict[str, Any]:
        """Append turns numbered so: a user line and a reply each."""
        lines = [line for turn in turns for line in turn_lines(turn)]
        answer = self.post(f"/chats/{chat}/messages", {"messages": lines, "fold": fold})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


def turn_lines(turn: int) -> list[dict[str, str]]:
    """A user line and a reply that name their turn."""
    return [
        {"id": f"u{turn}", "role": "user", "content": f"Mira asks about gate {turn}."},
        {"id": f"a{turn}", "role": "assistant", "content": f"Tom opens gate {turn} with the brass key."},
    ]


class _Server(uvicorn.Server):
    """Lets streams end before it waits for all answers, as `turnfold serve` does."""

    def __init__(self, config: uvicorn.Config, parts: Server) -> None:
        super().__init__(config)
        self._watching = parts.services.watching

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._watching.close()
        await super().shutdown(sockets)


@contextmanager
def running(folder: Path, *, at: Any = 0, **settings: Any) -> Iterator[Service]:
    """Serve a fresh application on a port, or on any that is free, until the block ends; stopping it is a clean
    shutdown.
    """
    database = folder / "turnfold.db"
    parts = assembled(database, **settings)
    app = create_app(server=parts)
    listener = socket.create_server(("127.0.0.1", at))
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="on", ws="none")
    server = _Server(config, parts)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    service = Service(app, f"http://127.0.0.1:{listener.getsockname()[1]}", database)
    try:
        _wait_until_started(server, thread)
        yield service
    finally:
        service.http.close()
        server.should_exit = True
        thread.join(READY_S)
        listener.close()


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + READY_S
    while not server.started:
        assert thread.is_alive(), "the server ended while it started"
        assert time.monotonic() < deadline, "the server did not start in time"
        time.sleep(0.01)
