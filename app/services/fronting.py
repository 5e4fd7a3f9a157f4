"""Asking frontends: calls are rows that wait until a frontend takes and answers them (decision 29)."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.core.calling import ALIVE_MS, Ending, Prompt, Reply, Standing, Trouble, course, quiet_ms
from app.services.bells import Bells, Ear
from app.services.ports import InThread
from app.store import client_calls
from app.store.clock import from_ms, now_ms
from app.store.engine import Database
from app.store.faults import cause

log = structlog.get_logger()

LOOK_S = 1.0
"""How often calls are looked after while any waits: what another process does is as old as that at most."""

_BEAT_MS = ALIVE_MS // 4
_LEAST_REST_S = 0.02

Outcome = Reply | Trouble | Ending


@dataclass(eq=False)
class _Asked:
    """A call that somebody here waits for. `ended`: how, once that is known."""

    prompt: Prompt
    taken: Callable[[], None]
    outcome: asyncio.Future[Outcome]
    ended: Ending = "cut"
    id: str = field(default_factory=lambda: str(uuid4()))
    is_taken: bool = False

    def take(self) -> None:
        """Somebody answers it now."""
        if not self.is_taken:
            self.is_taken = True
            self.taken()

    def end(self, how: Ending, outcome: Outcome) -> None:
        """Nothing more becomes of it."""
        self.ended = how
        if not self.outcome.done():
            self.outcome.set_result(outcome)


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look found: how the calls stand, and the answers to those that have one."""

    standings: Mapping[str, Standing]
    replies: Mapping[str, Reply | Trouble]
    now: int


class Fronting:
    """Lets calls wait for frontends. Belongs to one event loop.

    One task looks after all calls of this process: it puts those that have no row yet, sees what became of the others,
    and keeps the rows alive. All it needs is in the rows, so a look that fails is made good by the next.
    """

    def __init__(self, db: Database, in_thread: InThread, bells: Bells, now: Callable[[], int] = now_ms) -> None:
        """`now` gives epoch milliseconds."""
        self._db = db
        self._in_thread = in_thread
        self._bells = bells
        self._now = now
        self._asked: dict[str, _Asked] = {}
        self._changing = asyncio.Lock()  # a call that is cut must not be put by a look that began before
        self._keeper: asyncio.Task[None] | None = None
        self._next_beat = 0

    async def ask(self, prompt: Prompt, taken: Callable[[], None]) -> Outcome:
        """What a frontend says, however long nobody does; `taken` is called when one begins.

        `timed_out`: it took longer than it may. `withdrawn`: it is to be asked anew. Cancelling it takes the call away.
        """
        call = _Asked(prompt, taken, asyncio.get_running_loop().create_future())
        with self._looked_after(call):
            try:
                return await call.outcome
            finally:
                await self._over(call)

    async def last_look(self) -> datetime | None:
        """When a frontend last asked for calls, of whatever process."""
        found = await self._in_thread(self._last_look)
        return from_ms(found) if found is not None else None

    @contextmanager
    def _looked_after(self, call: _Asked) -> Iterator[None]:
        self._asked[call.id] = call
        self._bells.moved.ring()
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep(), name="client calls")
            self._keeper.add_done_callback(self._failed)
        try:
            yield
        finally:
            self._asked.pop(call.id, None)
            self._bells.moved.ring()

    async def _over(self, call: _Asked) -> None:
        """The row says so too; if that cannot be written now, it dies for want of signs of life."""
        self._asked.pop(call.id, None)
        async with self._changing:
            try:
                await self._in_thread(self._end, call.id, call.ended)
            except SQLAlchemyError as error:
                log.warning("client_call_not_ended", call=call.id, detail=cause(error))

    async def _keep(self) -> None:
        """Until nobody waits."""
        with self._bells.moved.listening() as ear:
            while self._asked:
                await self._rest(ear, await self._step(ear))

    def _failed(self, keeper: asyncio.Task[None]) -> None:
        """What nobody foresaw ends all waiting: no job hangs for want of that task."""
        error = None if keeper.cancelled() else keeper.exception()
        for call in self._asked.values():
            if error is not None and not call.outcome.done():
                call.outcome.set_exception(error)

    async def _rest(self, ear: Ear, quiet: int | None) -> None:
        seconds = LOOK_S if quiet is None else min(LOOK_S, quiet / 1000)
        await ear.wait(max(seconds, _LEAST_REST_S))

    async def _step(self, ear: Ear) -> int | None:
        """Look once, do what is due; for how many milliseconds nothing will be, None if for long."""
        async with self._changing:
            ear.forget()
            ids = list(self._asked)
            try:
                look = await self._in_thread(self._look, ids)
                unseen = [self._asked[one] for one in ids if one in self._asked and one not in look.standings]
                if unseen and any([await self._in_thread(self._put, call) for call in unseen]):
                    self._bells.free.ring()
                return await self._carry_on(look)
            except SQLAlchemyError as error:
                log.warning("client_calls_not_seen", detail=cause(error))
                return None

    async def _carry_on(self, look: _Look) -> int | None:
        quiet: list[int] = []
        for call_id, standing in look.standings.items():
            call = self._asked.get(call_id)
            if call is not None:
                quiet += await self._move(call, standing, look)
        if look.now >= self._next_beat:
            self._next_beat = look.now + _BEAT_MS
            await self._in_thread(self._beat, list(self._asked))
        return min(quiet, default=None)

    async def _move(self, call: _Asked, standing: Standing, look: _Look) -> list[int]:
        """Do what is due about one call; for how long nothing will be, if that is known."""
        if standing.leased_at is not None or standing.state == "answered":
            call.take()
        what = course(standing, look.now)
        if what == "timed_out":
            call.end("timed_out", "timed_out")
        elif what == "ended":
            how: Ending = "answered" if call.id in look.replies else "withdrawn"
            call.end(how, look.replies.get(call.id, "withdrawn"))
        elif what == "free" and await self._in_thread(self._release, call.id, standing):
            self._bells.free.ring()
        quiet = quiet_ms(standing, look.now)
        return [quiet] if quiet is not None and what == "wait" else []

    def _look(self, ids: list[str]) -> _Look:
        with self._db.read() as session:
            found = client_calls.standings(session, ids)
            answered = [one for one, standing in found.items() if standing.state == "answered"]
            replies = {one: client_calls.reply_to(session, one) for one in answered}
        return _Look(found, {one: _read(reply) for one, reply in replies.items() if reply}, self._now())

    def _put(self, call: _Asked) -> bool:
        prompt, now = call.prompt, self._now()
        with self._db.write() as session:
            timeout_ms = round(prompt.timeout_s * 1000)
            return client_calls.put(session, call.id, prompt.chat, prompt.connection, asdict(prompt), timeout_ms, now)

    def _beat(self, ids: list[str]) -> None:
        with self._db.write() as session:
            client_calls.keep_alive(session, ids, self._now())

    def _release(self, call_id: str, standing: Standing) -> bool:
        with self._db.write() as session:
            return client_calls.release(session, call_id, standing)

    def _end(self, call_id: str, how: Ending) -> None:
        with self._db.write() as session:
            client_calls.end(session, call_id, how)

    def _last_look(self) -> int | None:
        with self._db.read() as session:
            return client_calls.last_look(session)


def _read(stored: Mapping[str, Any]) -> Reply | Trouble:
    return Trouble(**stored) if "message" in stored else Reply(**stored)
