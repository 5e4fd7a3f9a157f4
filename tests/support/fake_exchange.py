"""One call to the fake model server: what arrived, and the means to answer it, properly or not."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal

Wire = Literal["openai", "ollama"]


@dataclass(frozen=True)
class Request:
    """What arrived. Header names are in lower case; `body` is the JSON in it, if any."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def wire(self) -> Wire:
        return "ollama" if "/api/" in self.path else "openai"

    @property
    def streams(self) -> bool:
        """Whether a stream is asked for; Ollama streams unless told not to."""
        return bool(self.body.get("stream", self.wire == "ollama"))

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def system(self) -> str:
        return "\n".join(message["content"] for message in self.messages if message["role"] == "system")

    @property
    def user(self) -> str:
        return "\n".join(message["content"] for message in self.messages if message["role"] == "user")


class Exchange:
    """One call being answered: the request, the server's clock, and ways to write an answer piece by piece."""

    def __init__(self, request: Request, writer: asyncio.StreamWriter, now: Callable[[], datetime]) -> None:
        self.request = request
        self.now = now
        self._writer = writer

    async def head(self, status: int, headers: dict[str, str]) -> None:
        """The status line and headers; every answer closes its connection."""
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
        fields = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "connection": "close"}.items())
        await self.raw(f"HTTP/1.1 {status} {phrase}\r\n{fields}\r\n".encode())

    async def whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """A complete answer of known length."""
        await self.head(status, {**headers, "content-length": str(len(body))})
        await self.raw(body)

    async def begin(self, headers: dict[str, str] | None = None) -> None:
        """The head of a stream."""
        kind = "text/event-stream" if self.request.wire == "openai" else "application/x-ndjson"
        await self.head(200, {"content-type": kind, "transfer-encoding": "chunked", **(headers or {})})

    async def chunk(self, data: bytes) -> None:
        """A part of a stream."""
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def event(self, value: object) -> None:
        """A JSON value in the framing of the wire."""
        await self.chunk(self.framed(value))

    def framed(self, value: object) -> bytes:
        """A JSON value as one part of a stream."""
        text = json.dumps(value, ensure_ascii=False)
        return (f"data: {text}\n\n" if self.request.wire == "openai" else f"{text}\n").encode()

    async def end(self) -> None:
        """The proper end of a stream."""
        await self.raw(b"0\r\n\r\n")

    async def silence(self) -> None:
        """Nothing, until the client goes."""
        await asyncio.Event().wait()

    def cut(self) -> None:
        """Drop the connection where it is, without a word: the client sees a reset."""
        peer: socket.socket = self._writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


Behaviour = Callable[[Exchange], Awaitable[None]]


async def read_request(reader: asyncio.StreamReader) -> Request:
    """The next request of a connection. Raises asyncio.IncompleteReadError if none comes."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    fields = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else {})
