"""What is let through to the routes, and what the answers carry."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, StreamingResponse
from httpx import ASGITransport, AsyncClient, Response
from pydantic import SecretStr

from app.api.access import PAGE_POLICY, path_fault
from app.api.bodies import is_json
from app.api.guards import install_guards
from app.api.origins import host_name, plain_origin
from app.api.problems import install_problems
from app.api.text import Id
from app.settings import Settings
from tests.support.logs import captured_logs

TAVERN = "http://localhost:8000"
KEY = "k3y"

Connect = Callable[..., AbstractAsyncContextManager[AsyncClient]]


def toy_app(**settings: Any) -> FastAPI:
    app = FastAPI()

    @app.get("/")
    @app.get("/docs")
    def page() -> HTMLResponse:
        return HTMLResponse("<h1>Hi</h1>")

    @app.get("/healthz")
    @app.get("/metrics")
    def health() -> str:
        return "ok"

    @app.get("/v1/chats/{chat_id}")
    def chat(chat_id: Id) -> str:
        return chat_id

    @app.post("/v1/chats")
    @app.post("/v1/import")
    @app.post("/v1/chats/{chat_id}/import")
    async def take(request: Request) -> int:
        return len(await request.body())

    @app.get("/endless")
    async def endless() -> StreamingResponse:
        async def pieces() -> AsyncIterator[str]:
            while True:
                yield "more"
                await asyncio.sleep(0)

        return StreamingResponse(pieces())

    @app.get("/boom")
    def boom() -> None:
        raise RuntimeError("secret")

    install_guards(app, Settings(**settings))
    install_problems(app)  # the order of installing does not matter
    return app


@pytest.fixture
def connect() -> Connect:
    @asynccontextmanager
    async def connected(base_url: str = "http://127.0.0.1:8787", **settings: Any) -> AsyncIterator[AsyncClient]:
        async with AsyncClient(transport=ASGITransport(toy_app(**settings)), base_url=base_url) as client:
            yield client

    return connected


def told(answer: Response) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


async def test_request_ids(connect: Connect) -> None:
    """A printable X-Request-ID is returned, another is replaced, and refusals and failures carry one too."""
    async with connect() as client:
        given = await client.get("/", headers={"X-Request-ID": "abc 1"})
        assert given.headers["X-Request-ID"] == "abc 1"
        for bad in (b"x" * 201, b"a\x80", b""):
            made = (await client.get("/", headers={b"X-Request-ID": bad})).headers["X-Request-ID"]
            assert len(made) == 32
        assert (await client.get("/", headers={"Host": "evil.example"})).headers["X-Request-ID"]
        failed = await client.get("/boom", headers={"X-Request-ID": "r1", "Origin": TAVERN})
        assert told(failed) == (500, "internal")
        assert "r1" in failed.json()["detail"]
        assert failed.headers["X-Request-ID"] == "r1"
        assert failed.headers["Access-Control-Allow-Origin"] == TAVERN


async def test_one_line_for_every_request(connect: Connect) -> None:
    """The log tells method, path, status and duration; no query, no key, no body."""
    with captured_logs() as logs:
        async with connect(api_key=SecretStr(KEY)) as client:
            headers = {"X-API-Key": KEY}
            await client.post("/v1/chats?q=secret", json={"secret": 1}, headers=headers)
    (line,) = logs
    assert line.pop("duration_ms") >= 0
    assert line == {"event": "request", "log_level": "info", "method": "POST", "path": "/v1/chats", "status": 200}


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8787", 200),
        ("LOCALHOST", 200),
        ("[::1]:1", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("127.0.0.1@evil.example", 403),
        ("evil.example/127.0.0.1", 403),
        ("", 403),
    ],
)
async def test_hosts(connect: Connect, host: str, status: int) -> None:
    """Only the names of this server are answered, with whatever port and case."""
    async with connect() as client:
        assert (await client.get("/healthz", headers={"Host": host})).status_code == status


async def test_hosts_of_the_operator(connect: Connect) -> None:
    """ALLOWED_HOSTS replaces the names; a star lets everyone in but not a request without Host."""
    async with connect(allowed_hosts=["Chat.Example:443", "::1"]) as client:
        assert (await client.get("/", headers={"Host": "chat.example"})).status_code == 200
        assert (await client.get("/", headers={"Host": "[::1]:5"})).status_code == 200
        assert told(await client.get("/", headers={"Host": "localhost"})) == (403, "forbidden")
    async with connect(allowed_hosts=["*"]) as client:
        assert (await client.get("/", headers={"Host": "any.example"})).status_code == 200
        assert (await client.get("/", headers={"Host": ""})).status_code == 403


def test_names_and_origins_are_compared_plainly() -> None:
    """Ports, case and slashes make no difference where they mean none."""
    assert host_name("[::1]:80") == host_name("::1") == "[::1]"
    assert host_name("a b") is None
    assert plain_origin("HTTP://Chat.Example:80/") == "http://chat.example"
    assert plain_origin("https://chat.example:443") == "https://chat.example"
    assert plain_origin("http://chat.example:443") == "http://chat.example:443"


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:8787", ""])
async def test_foreign_origins(connect: Connect, method: str, origin: str) -> None:
    """A foreign page is refused whatever it asks, and may not read why."""
    async with connect() as client:
        headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        answer = await client.request(method, "/v1/chats", headers=headers)
    assert told(answer) == (403, "forbidden")
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_our_own_origin(connect: Connect) -> None:
    """Pages of this server may call it, by whatever name they were loaded, default port or not."""
    for base in ("http://127.0.0.1:8787", "http://localhost", "http://[::1]:8787"):
        async with connect(base) as client:
            assert (await client.get("/v1/chats/a", headers={"Origin": base})).status_code == 200


async def test_cors(connect: Connect) -> None:
    """SillyTavern's page may send the contract's headers and read those of the answers, errors included."""
    async with connect(cors_origins=["HTTP://LOCALHOST:8000/"], api_key=SecretStr(KEY)) as client:
        preflight = {"Origin": TAVERN, "Access-Control-Request-Method": "PUT"}
        wanted = "authorization, x-api-key, content-type, if-match, idempotency-key, last-event-id, x-turnfold-chat"
        answer = await client.options("/v1/chats", headers={**preflight, "Access-Control-Request-Headers": wanted})
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == TAVERN
        refused = await client.options("/v1/chats", headers={**preflight, "Access-Control-Request-Headers": "x-evil"})
        assert told(refused) == (403, "forbidden")
        unauthorized = await client.get("/v1/chats/a", headers={"Origin": TAVERN})
        assert told(unauthorized) == (401, "unauthorized")
        assert unauthorized.headers["Access-Control-Allow-Origin"] == TAVERN
        exposed = unauthorized.headers["Access-Control-Expose-Headers"]
        assert {"ETag", "X-Request-ID", "Retry-After"} <= set(exposed.split(", "))


async def test_the_key(connect: Connect) -> None:
    """With a key set, everything but the open paths needs it, in one header or the other."""
    async with connect(api_key=SecretStr(KEY)) as client:
        for path in ("/", "/healthz", "/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 200
        for path in ("/v1/chats/a", "/metrics", "/nope", "/healthz/", "/statics", "/redoc"):
            assert told(await client.get(path)) == (401, "unauthorized")
        assert (await client.get("/metrics")).headers["WWW-Authenticate"] == "Bearer"
        good = [{"Authorization": f"Bearer {KEY}"}, {"authorization": f"bearer  {KEY}"}, {"X-API-Key": KEY}]
        for headers in good:
            assert (await client.get("/metrics", headers=headers)).status_code == 200
        for wrong in ("", "k3", "k3yy", "schlüssel"):
            headers_list = [{b"X-API-Key": wrong.encode()}, {b"Authorization": b"Bearer " + wrong.encode()}]
            for raw in headers_list:
                assert (await client.get("/metrics", headers=raw)).status_code == 401
        assert (await client.get("/metrics", headers={"Authorization": f"Basic {KEY}"})).status_code == 401


@pytest.mark.parametrize("key", [None, SecretStr("")])
async def test_no_key(connect: Connect, key: SecretStr | None) -> None:
    """Without a key, or with an empty one, none is asked for."""
    async with connect(api_key=key) as client:
        assert (await client.get("/metrics")).status_code == 200


@pytest.mark.parametrize(
    ("content_type", "accepted"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=UTF-8", True),
        (b'application/json;charset="utf-8"', True),
        (b"application/json; charset=utf-16", False),
        (b"application/problem+json", False),
        (b"text/plain", False),
        (b"multipart/form-data; boundary=x", False),
        (b"", False),
        (b"\xff", False),
    ],
)
async def test_media_types(connect: Connect, content_type: bytes, accepted: bool) -> None:
    """JSON routes take JSON in UTF-8 alone; imports take anything."""
    assert is_json(content_type) is accepted
    async with connect() as client:
        headers = {b"Content-Type": content_type}
        answer = await client.post("/v1/chats", content=b"{}", headers=headers)
        assert answer.status_code == (200 if accepted else 415)
        for path in ("/v1/import", "/v1/chats/a/import"):
            assert (await client.post(path, content=b"{}", headers=headers)).status_code == 200


async def test_where_no_type_matters(connect: Connect) -> None:
    """No body needs no type, and a route that is not there is a 404 or 405, not a 415."""
    async with connect() as client:
        assert (await client.post("/v1/chats")).status_code == 200
        assert (await client.post("/v1/chats", headers={"Content-Type": "text/plain"})).status_code == 200
        assert told(await client.post("/v1/nope", content=b"x")) == (404, "not_found")
        assert told(await client.post("/v1/chats/a", content=b"x")) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["a%2Fb", "a%2fb", "%00", "a%0A", "%7F", "%FF", "%ED%A0%80"])
async def test_paths_that_are_no_ids(connect: Connect, path: str) -> None:
    """An encoded slash, control characters and bytes that are no UTF-8 are refused before routing."""
    async with connect() as client:
        answer = await client.get(f"/v1/chats/{path}")
        assert told(answer) == (422, "invalid_request")


async def test_ids_come_through_whole(connect: Connect) -> None:
    """Spaces, signs, percent signs and any script arrive as they were sent."""
    assert path_fault(b"/v1/chats/%F0%9F%91%A9%20%40%3A%25") is None
    async with connect() as client:
        assert (await client.get("/v1/chats/%F0%9F%91%A9%20%40%3A%252F")).json() == "👩 @:%2F"


async def test_headers_of_safety(connect: Connect) -> None:
    """Every answer forbids sniffing; pages load nothing from elsewhere; JSON has no policy, and /docs says its own."""
    async with connect() as client:
        page, data, docs = [await client.get(path) for path in ("/", "/healthz", "/docs")]
    for answer in (page, data, docs):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Content-Security-Policy"] == PAGE_POLICY
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Content-Security-Policy" not in data.headers
    assert "Content-Security-Policy" not in docs.headers


async def test_head_is_get_without_content(connect: Connect) -> None:
    """HEAD has the status and headers of GET and no content, also where GET would go on for ever."""
    async with connect() as client:
        for path in ("/healthz", "/v1/chats/a", "/nope", "/endless"):
            head = await client.head(path)
            assert head.content == b""
            assert head.status_code == (404 if path == "/nope" else 200)
        got = await client.get("/healthz")
        assert (await client.head("/healthz")).headers["Content-Length"] == got.headers["Content-Length"]
