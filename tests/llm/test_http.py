"""HTTP to models: what can go wrong below the answer."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import respx

from app.core.retry import Failure
from app.llm.http import exchange, new_client, quiet_http_logs
from app.llm.wire import CallFailed, HttpCall
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour, Exchange
from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime

PATH = "/v1/chat/completions"


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with new_client() as opened:
        yield opened


def never(_: str) -> bool:
    return False


def call(url: str) -> HttpCall:
    return HttpCall(url, {"Authorization": "Bearer sk-secret"}, {"messages": []})


async def failure(client: httpx.AsyncClient, url: str, timeout_s: float = 5) -> Failure:
    with pytest.raises(CallFailed) as failed:
        await exchange(client, call(url), timeout_s, FakeTime().now, never)
    return failed.value.failure


async def test_the_lines_of_a_body(client: httpx.AsyncClient, respx_mock: respx.MockRouter) -> None:
    """Only line feeds part lines, and the last one needs none."""
    respx_mock.post("http://m.test/").respond(200, content='a\u2028b\r\n\n"ü"\nlast'.encode())
    lines: list[str] = []

    def take(line: str) -> bool:
        lines.append(line)
        return False

    await exchange(client, call("http://m.test/"), 5, FakeTime().now, take)
    assert lines == ["a\u2028b\r", "", '"ü"', "last"]


@pytest.mark.parametrize("status", [204, 301, 307, 400, 401, 404, 429, 500, 503, 529])
async def test_a_status_other_than_200_is_a_failure(
    client: httpx.AsyncClient, respx_mock: respx.MockRouter, status: int
) -> None:
    """It is told with its status and Retry-After, whatever the body says."""
    respx_mock.post("http://m.test/").respond(status, headers={"Retry-After": "7"}, text="sk-secret")
    assert await failure(client, "http://m.test/") == Failure("status", status, 7)


async def test_no_redirect_is_followed(client: httpx.AsyncClient, model: FakeModel) -> None:
    """Neither key nor chat goes to another address."""
    with FakeModel() as elsewhere:
        model.do(replies.redirect(elsewhere.base_url + PATH))
        assert await failure(client, model.base_url + PATH) == Failure("status", 307)
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (replies.hang(), "timeout"),
        (replies.silence_after_head("Anna"), "timeout"),
        (replies.half_stream("Anna"), "connection"),
        (replies.reset(), "connection"),
    ],
)
async def test_what_breaks_off(client: httpx.AsyncClient, model: FakeModel, behaviour: Behaviour, kind: str) -> None:
    """Silence is a time-out, a dropped connection a connection error."""
    model.do(behaviour)
    timeout_s = 0.2 if kind == "timeout" else 5
    assert (await failure(client, model.base_url + PATH, timeout_s)).kind == kind


async def test_a_slow_trickle_does_not_outlast_the_time_limit(client: httpx.AsyncClient, model: FakeModel) -> None:
    """The limit holds for the attempt as a whole, not from byte to byte."""

    async def trickle(exchange: Exchange) -> None:
        await exchange.begin()
        while True:
            await exchange.chunk(b": still thinking\n\n")
            await asyncio.sleep(0.02)

    model.do(trickle)
    assert (await failure(client, model.base_url + PATH, 0.3)).kind == "timeout"
    await model.left()


async def test_a_model_on_this_machine_is_called_without_the_proxy(
    model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP_PROXY is for other machines."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with new_client() as client:
        await exchange(client, call(model.base_url + PATH), 5, FakeTime().now, never)
    assert len(model.requests) == 1


async def test_nobody_listening_is_a_connection_error(client: httpx.AsyncClient) -> None:
    """The reason says that the server may not run."""
    with FakeModel() as gone:
        url = gone.base_url + PATH
    failed = await failure(client, url)
    assert (failed.kind, "cannot be reached" in failed.reason) == ("connection", True)


async def test_a_name_that_nobody_knows_is_told_apart(client: httpx.AsyncClient) -> None:
    """The base URL is to be checked, not the server."""
    failed = await failure(client, "http://models..invalid" + PATH)  # no resolver asks anybody for an empty part
    assert failed.kind == "connection"
    assert failed.reason == "cannot be reached, because its host name is not known; check its base URL"


async def test_a_server_without_https_is_told_apart(client: httpx.AsyncClient) -> None:
    """What answers a greeting in TLS with plain HTTP is called by the wrong address."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        failed = await failure(client, f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}{PATH}")
    assert (failed.kind, "cannot be reached over https" in failed.reason) == ("connection", True)


async def test_a_proxy_that_lets_nothing_through_is_named(model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's proxy is to blame, not the server behind it."""
    monkeypatch.setenv("HTTPS_PROXY", model.base_url)
    async with new_client() as client:
        with model.only(replies.status(407)):
            failed = await failure(client, "https://m.test" + PATH)
    assert (failed.kind, "proxy" in failed.reason) == ("connection", True)


@pytest.mark.parametrize("body", [b"x" * 3_000_000, (b"x" * 999 + b"\n") * 17_000])
async def test_a_flood_is_cut_off(client: httpx.AsyncClient, model: FakeModel, body: bytes) -> None:
    """One endless line or endless lines: neither fills the memory."""
    model.do(replies.raw(body))
    assert (await failure(client, model.base_url + PATH)).kind == "unusable"


async def test_a_broken_compression_is_a_connection_error(client: httpx.AsyncClient, model: FakeModel) -> None:
    """It may well pass."""
    model.do(replies.status(200, body="no gzip", content_encoding="gzip"))
    assert (await failure(client, model.base_url + PATH)).kind == "connection"


@pytest.mark.parametrize("url", ["http://m.test/\x00", "ftp://m.test/"])
async def test_an_address_that_httpx_refuses_is_a_wrong_setting(client: httpx.AsyncClient, url: str) -> None:
    """It is no reason to try again."""
    assert (await failure(client, url)).kind == "settings"


async def test_cancelling_closes_the_connection_at_once(client: httpx.AsyncClient, model: FakeModel) -> None:
    """The server sees its client go while it still answers."""
    model.do(replies.silence_after_head("Anna"))
    task = asyncio.create_task(exchange(client, call(model.base_url + PATH), 60, FakeTime().now, never))
    await model.called()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await model.left()


async def test_the_client_logs_no_address_and_no_key(
    client: httpx.AsyncClient, model: FakeModel, caplog: pytest.LogCaptureFixture
) -> None:
    """Even with everything logged at its finest."""
    caplog.set_level(logging.DEBUG)
    quiet_http_logs()
    await exchange(client, call(model.base_url + PATH + "?k=secret-in-address"), 5, FakeTime().now, never)
    assert "secret" not in caplog.text
