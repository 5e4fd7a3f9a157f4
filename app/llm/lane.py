"""One connection at work: how many calls run at once, and whether any may run."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TypeVar

from app.core.breaker import Breaker
from app.core.health import Health, Trial
from app.core.model import Usage
from app.core.retry import CoolDown, Decision, Failure, GiveUp, Wait
from app.core.summary import Connection, SummaryRequest
from app.llm import faults, journal
from app.llm.http import Clock
from app.llm.slots import Slots
from app.llm.wire import CallFailed

T = TypeVar("T")


def identity(connection: Connection) -> tuple[object, ...]:
    """What makes it another server, or the same one with another key: then everything known of it is forgotten."""
    return (connection.provider, connection.base_url, connection.api_key)


class Lane:
    """All calls to one connection pass here, whatever becomes of its key or its address meanwhile.

    Its state is lost on a restart, which costs a dead server three batches' calls. Calls belong to one event loop;
    `health` and `forget` may come from any thread.
    """

    def __init__(self, name: str, cooldown_s: float, clock: Clock) -> None:
        self.slots = Slots(1)
        self._name = name
        self._known: set[tuple[object, ...]] = set()
        self._changing = threading.Lock()  # of the breaker, the last error and what is known; never held for long
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._breaker = Breaker(cooldown_s)
        self._probing = asyncio.Lock()
        self._last_error: str | None = None
        self._next_attempt: datetime | None = None
        self._tried_in_vain = False

    @property
    def health(self) -> Health:
        """How the connection fares now."""
        with self._changing:
            return self._health()

    def admit(self, connection: Connection) -> None:
        """Before a call: terms that were never seen before count from now on, and nothing held against older ones.

        Jobs that began under older terms may go on beside; theirs are known already and change nothing.
        """
        with self._change():
            terms = identity(connection)
            if terms not in self._known:
                self._known.add(terms)
                self._clear()
        self.slots.limit = max(1, connection.concurrency)  # every time, so that what was planned before cannot stay
        self.slots.each = connection.provider == "client"

    @property
    def known(self) -> bool:
        """Whether it was called since a person last changed it."""
        with self._changing:
            return bool(self._known)

    def forget(self) -> None:
        """A person changed the connection: what was known of it counts no more."""
        with self._change():
            self._known.clear()
            self._clear()

    async def run(self, request: SummaryRequest, used: Usage, send: Callable[[], Awaitable[T]]) -> T:
        """`send()`, once it is the chat's turn. Raises ModelUnavailable, with what was `used`, during a cool-down.

        After a cool-down one call goes ahead as a probe; the others wait here for what comes of it, but not for a
        frontend, which may take for ever. Between attempts a request is not here, and holds nothing.
        """
        connection = request.connection
        async with self.slots.of(request.chat):
            if self._half_open() and connection.provider != "client":
                async with self._probing:
                    if self._half_open():
                        return await self._probe(connection, send)
            retry_at = self._breaker.retry_at(self._clock())
            if retry_at:
                raise faults.cooling_down(connection, retry_at, self._last_error, used)
            return await send()

    def answered(self) -> None:
        """The server gave an answer, good or bad."""
        with self._change():
            self._breaker = self._breaker.succeeded(self._clock())
            self._next_attempt = None
            self._tried_in_vain = False
            if self._breaker.until is None:
                self._last_error = None

    def failed(self, connection: Connection, failure: Failure, decision: Decision) -> Health:
        """A call failed, and `decision` follows; says how the connection fares then."""
        now = self._clock()
        with self._change():
            if isinstance(decision, CoolDown):
                self._breaker = self._breaker.cooled(now, decision.seconds)
            elif isinstance(decision, GiveUp):
                self._breaker = self._breaker.failed(failure, now)
            self._next_attempt = None
            if not isinstance(decision, Wait):
                self._last_error = faults.describe(connection, failure)
            elif failure.kind != "unusable":
                self._next_attempt = now + timedelta(seconds=decision.seconds)
            return self._health()

    def tested(self, trial: Trial) -> None:
        """A person's own test went well: nothing holds the calls back any more. Or it did not: that is told until an
        answer comes, and holds no call back.
        """
        with self._change():
            if trial.ok:
                self._clear()
            else:
                self._tried_in_vain, self._last_error = True, trial.detail

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Nobody else looks or changes anything meanwhile; what became of the breaker is logged."""
        with self._changing:
            before = self._breaker.until
            yield
            until, reason = self._breaker.until, self._last_error
        if until is not None and until != before:
            journal.opened(self._name, until, reason)
        elif until is None and before is not None:
            journal.closed(self._name)

    def _health(self) -> Health:
        now = self._clock()
        if self._next_attempt is not None and self._breaker.state(now) == "ok":
            soon = self._next_attempt if self._next_attempt > now else None
            return Health("failing", soon, self._last_error)  # seen from the first failed attempt on
        state = self._breaker.state(now)
        if state == "ok" and self._tried_in_vain:
            state = "failing"
        return Health(state, self._breaker.retry_at(now), self._last_error)

    def _clear(self) -> None:
        self._breaker = Breaker(self._cooldown_s)
        self._last_error = None
        self._next_attempt = None
        self._tried_in_vain = False

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
