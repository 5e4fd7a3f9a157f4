"""How much a request may carry, over real connections."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI, Request
from httpx import AsyncClient

from app.api.bodies import MIB
from app.api.guards import install_guards
from app.api.problems import install_problems
from app.settings import Settings
from tests.support.loopback import serving

JSON = {"Content-Type": "application/json"}


def toy_app(**settings: Any) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/chats")
    def take(body: dict[str, Any]) -> int:
        return len(body)

    @app.post("/v1/import")
    async def stream(request: Request) -> int:
        return sum([len(chunk) async for chunk in request.stream()])

    install_problems(app)
    install_guards(app, Settings(max_body_mb=0.5, import_max_mb=2, **settings))
    return app


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(toy_app()) as port:
        yield port


@pytest.fixture
async def client(port: int) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
        yield client


async def pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 65536):
        yield b" " * 65536


async def test_an_announced_body_is_refused_at_once(client: AsyncClient) -> None:
    """A body whose length is over the limit is a 413 that the client can read, however much it sends."""
    answer = await client.post("/v1/chats", content=b" " * 20 * MIB, headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
    assert "0.5 MiB" in answer.json()["detail"]
    assert answer.headers["Connection"] == "close"
    assert answer.headers["X-Request-ID"]


@pytest.mark.parametrize(("path", "size"), [("/v1/chats", MIB), ("/v1/import", 4 * MIB)])
async def test_a_body_of_unknown_length_is_counted(client: AsyncClient, path: str, size: int) -> None:
    """A chunked body is refused as soon as it passes the limit of its route."""
    answer = await client.post(path, content=pieces(size), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")


async def test_the_limit_itself_is_allowed(client: AsyncClient) -> None:
    """A body of exactly the limit passes, and imports have a limit of their own."""
    exact = b"{}".ljust(MIB // 2)
    assert (await client.post("/v1/chats", content=exact, headers=JSON)).status_code == 200
    assert (await client.post("/v1/chats", content=exact + b" ", headers=JSON)).status_code == 413
    assert (await client.post("/v1/import", content=pieces(2 * MIB))).json() == 2 * MIB


async def raw(port: int, request: bytes) -> bytes:
    """What comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


HEAD = b"POST /v1/chats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n"


async def test_who_asks_first_is_answered_first() -> None:
    """A client that waits for 100 Continue gets its 413 and no invitation, and the connection ends."""
    async with serving(toy_app()) as port:
        answer = await raw(port, HEAD + b"Expect: 100-continue\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"100 Continue" not in answer


async def test_a_client_that_stops_sending_is_let_go() -> None:
    """A connection on which the rest of a refused body never comes is closed after a while."""
    app = toy_app()
    limits = next(layer for layer in app.user_middleware if getattr(layer.cls, "__name__", "") == "BodyLimits")
    limits.kwargs["linger_s"] = 0.05
    async with serving(app) as port:
        answer = await asyncio.wait_for(raw(port, HEAD + b"\r\n{"), 5)
    assert answer.startswith(b"HTTP/1.1 413")
