"""A scripted model server: real HTTP on loopback, in the wire formats of OpenAI and Ollama.

    with FakeModel() as model:
        model.say("Anna left Ben.")           # what the next call gets; answers queue up
        model.do(status(429, retry_after=5))  # any behaviour of tests.support.fake_replies
        with model.only(status(503)): ...     # what every call gets for a while
        ...                                   # call it at model.base_url
        assert model.requests[0].user == "…"

A call that finds the queue empty gets `model.default`, which makes an answer from the request. Requests for the list
of models get `model.models`, unless every call gets the same.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from tests.support.fake_exchange import Behaviour, Exchange, Request, read_request
from tests.support.fake_replies import answer, listing


def _now() -> datetime:
    return datetime.now(UTC)


async def _settled() -> None:
    """asyncio takes three turns of the loop to hand over a connection it accepted, and one to close a socket."""
    for _ in range(4):
        await asyncio.sleep(0)


class FakeModel:
    """See the module. Its server runs in a thread of its own, so tests may be sync or async."""

    def __init__(self, default: Callable[[Request], str] | None = None, now: Callable[[], datetime] = _now) -> None:
        self.default = default or self._small_talk
        self._now = now
        self.models = ["fake-small", "fake-large"]
        self.requests: list[Request] = []
        self.disconnects = 0
        self.most_at_once = 0
        self._at_once = 0
        self._script: deque[Behaviour] = deque()
        self._only: Behaviour | None = None
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._open.set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> "FakeModel":
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._arrive, "127.0.0.1", 0), self._loop
        ).result()
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def base_url(self) -> str:
        """For both providers: each adds its own path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def calls(self) -> list[Request]:
        """The requests for an answer, without those for the list of models."""
        return [request for request in self.requests if request.method == "POST"]

    @property
    def at_once(self) -> int:
        """How many calls are being answered, or kept waiting, now."""
        return self._at_once

    def say(self, *texts: str) -> None:
        """Queue answers that end well."""
        self.do(*(answer(text) for text in texts))

    def do(self, *behaviours: Behaviour) -> None:
        """Queue behaviours, one per call."""
        self._script.extend(behaviours)

    def forget_script(self) -> None:
        """Answer by itself again."""
        self._script.clear()

    @contextmanager
    def only(self, behaviour: Behaviour) -> Iterator[None]:
        """Behave so with every request, whatever is queued, until the block ends."""
        self._only = behaviour
        try:
            yield
        finally:
            self._only = None

    def hold(self) -> None:
        """Let calls arrive but answer none until `release`."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def release(self) -> None:
        """Answer what was held, and what comes."""
        self._loop.call_soon_threadsafe(self._open.set)

    def wait_for_calls(self, number: int, seconds: float = 5) -> None:
        """Until that many requests have arrived in all. Raises TimeoutError."""
        self._wait(lambda: len(self.requests) >= number, seconds)

    def wait_for_disconnects(self, number: int = 1, seconds: float = 5) -> None:
        """Until that many clients have gone before their answer was complete. Raises TimeoutError."""
        self._wait(lambda: self.disconnects >= number, seconds)

    async def called(self, number: int = 1) -> None:
        """`wait_for_calls` for coroutines."""
        await asyncio.to_thread(self.wait_for_calls, number)

    async def left(self, number: int = 1) -> None:
        """`wait_for_disconnects` for coroutines."""
        await asyncio.to_thread(self.wait_for_disconnects, number)

    def _wait(self, reached: Callable[[], bool], seconds: float) -> None:
        with self._changed:
            if not self._changed.wait_for(reached, seconds):
                raise TimeoutError(f"{len(self.requests)} requests and {self.disconnects} disconnects by now")

    def _small_talk(self, request: Request) -> str:
        return f"Anna and Ben talk (answer {len(self.requests)})."

    async def _close(self) -> None:
        """Also a connection that has only just come, and one whose client reads no more."""
        self._loop.remove_reader(self._server.sockets[0].fileno())
        await _settled()  # a server that is closed drops, unclosed, what it has accepted and not handed over
        self._server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await _settled()

    def _arrive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Coroutine[Any, Any, None]:
        self._writers.add(writer)
        return self._accept(reader, writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self._writers.discard(writer)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read_request(reader)
        with self._changed:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            behaviour = self._next(request)
            self._changed.notify_all()
        try:
            await self._until_gone(reader, Exchange(request, writer, self._now), behaviour)
        finally:
            self._at_once -= 1

    async def _until_gone(self, reader: asyncio.StreamReader, exchange: Exchange, behaviour: Behaviour) -> None:
        """Behaves as told until that is done or the client has gone, which a write may notice first."""
        behaving = asyncio.ensure_future(self._behave(exchange, behaviour))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([behaving, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:  # also when the server itself is closed: nothing of it is left behind
            left = not behaving.done()
            for task in (behaving, gone):
                task.cancel()
            result, _ = await asyncio.gather(behaving, gone, return_exceptions=True)
        if left or isinstance(result, ConnectionError):
            with self._changed:
                self.disconnects += 1
                self._changed.notify_all()
        elif result is not None:
            raise result

    async def _behave(self, exchange: Exchange, behaviour: Behaviour) -> None:
        await self._open.wait()
        await behaviour(exchange)

    def _next(self, request: Request) -> Behaviour:
        if self._only:
            return self._only
        if request.method == "GET":
            return listing(self.models)
        return self._script.popleft() if self._script else answer(self.default(request))
