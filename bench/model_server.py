"""A scripted model server: real HTTP on loopback in the wire format of OpenAI, with a set latency and no limit on how
many calls it answers at once.

    python -m bench.model_server --port 18600 --latency-s 1
"""

import argparse
import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from itertools import count
from typing import Any

from bench.prose import lines

_LINE_CHARS = 240


class ModelServer:
    """Answers every call after `latency_s` seconds with what `answer` makes of its last message; `away` with a 503.

    A GET tells how many calls came, how many of them were refused, and the most that were open at once.
    """

    def __init__(self, answer: Callable[[str], str], latency_s: float = 0.0) -> None:
        self.latency_s = latency_s
        self.away = False
        self.calls = 0
        self.refused = 0
        self.open = 0
        self.most_open = 0
        self._answer = answer
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, port: int = 0) -> asyncio.Server:
        """Listen on a port, or on any that is free."""
        return await asyncio.start_server(self._converse, "127.0.0.1", port)

    async def close(self, server: asyncio.Server) -> None:
        """Stop listening, and cut what is open."""
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                writer.write(await self._reply(reader))
                await writer.drain()
        writer.close()
        self._tasks.discard(task)

    async def _reply(self, reader: asyncio.StreamReader) -> bytes:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        if head.startswith("GET"):
            told = {"calls": self.calls, "refused": self.refused, "most_open": self.most_open}
            return _message(200, "application/json", json.dumps(told).encode())
        self.calls += 1
        if self.away:
            self.refused += 1
            return _message(503, "application/json", b"{}")
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            text = self._answer(json.loads(body)["messages"][-1]["content"])
            await asyncio.sleep(self.latency_s)
        finally:
            self.open -= 1
        return _message(200, "text/event-stream", _stream(text))


@contextmanager
def in_thread(model: ModelServer) -> Iterator[int]:
    """Serve in a thread of its own until the block ends; gives the port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(model.serve(), loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(model.close(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _stream(text: str) -> bytes:
    events: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def _message(status: int, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _main(port: int, latency_s: float) -> None:
    texts = [text for text, _ in zip(lines(seed=7, chars=_LINE_CHARS), range(64), strict=False)]
    number = count()
    server = await ModelServer(lambda _: texts[next(number) % len(texts)], latency_s).serve(port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.model_server", description="A scripted model server.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency-s", type=float, default=1.0)
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_main(options.port, options.latency_s))
