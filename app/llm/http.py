"""The one place that speaks HTTP to models."""

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import Callable
from datetime import datetime

import httpx

from app.core.retry import Failure, parse_retry_after
from app.llm.wire import CallFailed, HttpCall, disconnected, endless, wrong_settings

# A stream wraps every token in some 300 bytes of JSON, so the body may be far larger than the answer in it.
_MAX_BODY_BYTES = 16_000_000
_MAX_LINE_BYTES = 2_000_000

_SLOW = "look at its server, or raise timeout_s"

Clock = Callable[[], datetime]


def new_client() -> httpx.AsyncClient:
    """A client for model servers. How many calls run at once is each connection's own setting, not the client's.

    A proxy from the environment serves for other machines only: this one's models are called directly.
    """
    return httpx.AsyncClient(
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        mounts=dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]")),
    )


def quiet_http_logs() -> None:
    """httpx logs every address it calls, user names and passwords in it included, and its parts log headers."""
    for name in ("httpx", "httpcore", "hpack"):
        logging.getLogger(name).setLevel(logging.WARNING)


async def exchange(
    client: httpx.AsyncClient, call: HttpCall, timeout_s: float, clock: Clock, take: Callable[[str], bool]
) -> None:
    """Makes the call and hands its answer over line by line, until `take` returns True or the body ends.

    All of it takes at most `timeout_s` seconds. Redirects are not followed: they would carry chat and key elsewhere.
    Raises CallFailed; leaving it early, by cancellation too, closes the HTTP connection at once.
    """
    try:
        async with asyncio.timeout(timeout_s):
            await _read(client, call, timeout_s, clock, take)
    except (TimeoutError, httpx.TimeoutException):
        raise CallFailed(Failure("timeout", reason=f"gave no answer within {timeout_s:g} s; {_SLOW}")) from None
    except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL):
        raise wrong_settings("has a base_url or an API key that cannot be used; check both") from None
    except httpx.ConnectError as error:
        raise disconnected(_unreachable(error)) from None
    except httpx.ProxyError:
        raise disconnected("is not let through by a proxy; check HTTPS_PROXY and NO_PROXY") from None
    except httpx.RequestError:
        raise disconnected("was cut off in the middle of a call; see its server's log") from None


def _unreachable(error: httpx.ConnectError) -> str:
    origin: BaseException = error
    while deeper := origin.__cause__ or origin.__context__:  # httpx's, httpcore's, then the system's own
        origin = deeper
    if isinstance(origin, socket.gaierror):
        return "cannot be reached, because its host name is not known; check its base URL"
    if isinstance(origin, ssl.SSLError):
        return "cannot be reached over https; check its base URL and its server's certificate"
    return "cannot be reached; check that its server runs"


async def _read(
    client: httpx.AsyncClient, call: HttpCall, timeout_s: float, clock: Clock, take: Callable[[str], bool]
) -> None:
    method, content = ("GET", None) if call.body is None else ("POST", json.dumps(call.body))
    headers = {"Content-Type": "application/json", **call.headers}
    async with client.stream(
        method, call.url, headers=headers, content=content, timeout=timeout_s, follow_redirects=False
    ) as response:
        if response.status_code != httpx.codes.OK:
            asked = parse_retry_after(response.headers, clock())
            raise CallFailed(Failure("status", status=response.status_code, retry_after=asked))
        lines = _Lines()
        async for chunk in response.aiter_bytes():
            if any(take(line) for line in lines.feed(chunk)):
                return
        take(lines.rest())


class _Lines:
    """The lines of a body, the last one with or without its end.

    Not httpx's own: that one also splits at U+2028 and its like, which stand unescaped in JSON strings.
    """

    def __init__(self) -> None:
        self._size = 0
        self._rest = b""

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that end in this chunk. Raises CallFailed once it is too much."""
        self._size += len(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if self._size > _MAX_BODY_BYTES or len(self._rest) > _MAX_LINE_BYTES:
            raise endless()
        return [line.decode("utf-8", "replace") for line in lines]

    def rest(self) -> str:
        """What comes after the last line end."""
        return self._rest.decode("utf-8", "replace")
