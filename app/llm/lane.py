"""One connection at work: how many calls run at once, and whether any may run."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.core.breaker import Breaker
from app.core.health import Health
from app.core.retry import CoolDown, Decision, Failure, GiveUp, Wait
from app.core.summary import Connection
from app.llm import faults
from app.llm.http import Clock
from app.llm.wire import CallFailed

T = TypeVar("T")


def identity(connection: Connection) -> tuple[object, ...]:
    """What makes it another server, or the same one under other terms: then everything known of it is forgotten."""
    return (connection.provider, connection.base_url, connection.api_key, connection.concurrency)


class Lane:
    """All calls to one connection pass here.

    Its state is lost on a restart, which costs a dead server three batches' calls.
    """

    def __init__(self, connection: Connection, cooldown_s: float, clock: Clock) -> None:
        self.identity = identity(connection)
        self.slots = asyncio.Semaphore(max(1, connection.concurrency))
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._breaker = Breaker(cooldown_s)
        self._probing = asyncio.Lock()
        self._last_error: str | None = None

    @property
    def health(self) -> Health:
        """How the connection fares now."""
        now = self._clock()
        return Health(self._breaker.state(now), self._breaker.retry_at(now), self._last_error)

    async def run(self, connection: Connection, calls: int, send: Callable[[], Awaitable[T]]) -> T:
        """`send()`, once there is room. Raises ModelUnavailable, after `calls` calls made, during a cool-down.

        After a cool-down one call goes ahead as a probe; the others wait here for what comes of it.
        """
        async with self.slots:
            if self._half_open():
                async with self._probing:
                    if self._half_open():
                        return await self._probe(connection, send)
            retry_at = self._breaker.retry_at(self._clock())
            if retry_at:
                raise faults.cooling_down(connection, retry_at, self._last_error, calls)
            return await send()

    def answered(self) -> None:
        """The server gave an answer, good or bad."""
        self._breaker = self._breaker.succeeded(self._clock())
        if self._breaker.until is None:
            self._last_error = None

    def failed(self, connection: Connection, failure: Failure, decision: Decision) -> Health:
        """A call failed, and `decision` follows; says how the connection fares then."""
        now = self._clock()
        if isinstance(decision, CoolDown):
            self._breaker = self._breaker.cooled(now, decision.seconds)
        elif isinstance(decision, GiveUp):
            self._breaker = self._breaker.failed(failure, now)
        if not isinstance(decision, Wait):
            self._last_error = faults.describe(connection, failure)
        return self.health

    def reset(self) -> None:
        """A person's own test went well: nothing holds the calls back any more."""
        self._breaker = Breaker(self._cooldown_s)
        self._last_error = None

    def _half_open(self) -> bool:
        return self._breaker.admits(self._clock()) == "probe"

    async def _probe(self, connection: Connection, send: Callable[[], Awaitable[T]]) -> T:
        try:
            result = await send()
        except CallFailed as failed:
            self.failed(connection, failed.failure, GiveUp())
            raise
        self.answered()
        return result
