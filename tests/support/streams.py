"""Reading server-sent events as a client does, and a model that answers one call at a time."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Semaphore
from typing import Any

import httpx

from tests.support.fake_exchange import Behaviour, Exchange
from tests.support.fake_replies import answer

NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Event:
    """One event of a stream."""

    id: int
    kind: str
    data: dict[str, Any]


class Stream:
    """An open stream: its answer, and what comes one after another."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.iter_lines()
        self._events = self._parsed()
        self.comments: list[str] = []

    def next(self) -> Event:
        """The next event. Raises StopIteration where the stream has ended, ReadTimeout where nothing comes."""
        return next(self._events)

    def take(self, count: int) -> list[Event]:
        """So many events."""
        return [self.next() for _ in range(count)]

    def rest(self) -> list[Event]:
        """All that come until the server closes the stream."""
        return list(self._events)

    def _parsed(self) -> Iterator[Event]:
        fields: dict[str, str] = {}
        for line in self._lines:
            name, _, value = line.partition(": ")
            if not name and value:
                self.comments.append(value)
            elif line:
                fields[name] = value
            elif fields:
                yield Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
                fields = {}


@contextmanager
def listening(
    url: str, seen: int | None = None, *, wait_s: float = 20, headers: Mapping[str, str] = NONE
) -> Iterator[Stream]:
    """A stream that was opened well, on a connection of its own, until the block ends: then the client goes away."""
    sent = {**headers, "Last-Event-ID": str(seen)} if seen is not None else headers
    with httpx.Client(timeout=wait_s) as client, client.stream("GET", url, headers=sent) as answer:
        assert answer.status_code == 200, answer.read()
        yield Stream(answer)


def paced(permits: Semaphore) -> Behaviour:
    """A model that answers a call for each permit."""

    async def behave(exchange: Exchange) -> None:
        await asyncio.to_thread(permits.acquire, timeout=20)
        await answer("Anna and Ben talk.")(exchange)

    return behave
