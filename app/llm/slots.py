"""Sharing the calls of one connection out between chats."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class _Waiting:
    """A call that waits. `since` is a step of the slots' own count: its arrival, or when a call of its chat last
    began or ended, if that was later.
    """

    chat: str
    since: int
    turn: asyncio.Future[None]


class Slots:
    """So many calls at once and no more, shared out fairly. Belongs to one event loop.

    A free slot goes to the waiting chat with the fewest calls under way, among such to the one that has waited longest.
    A chat waits anew whenever one of its calls begins or ends: so the second of many calls that came together does not
    count as older than another chat's first, and while a chat waits with nothing under way, no other begins two calls.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._each = False
        self._under_way: Counter[str] = Counter()
        self._waiting: list[_Waiting] = []  # by arrival
        self._step = 0

    @property
    def limit(self) -> int:
        """How many calls may run at once. A lower one cuts none of those that run."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._share_out()

    @property
    def each(self) -> bool:
        """Whether each chat has slots of its own: where a call may wait for ever, others must not wait for it."""
        return self._each

    @each.setter
    def each(self, each: bool) -> None:
        self._each = each
        self._share_out()

    @asynccontextmanager
    async def of(self, chat: str) -> AsyncIterator[None]:
        """A slot for a call of `chat` once it is its turn, given back at the end of the block whatever happens."""
        await self._take(chat)
        try:
            yield
        finally:
            self._give_back(chat)

    async def _take(self, chat: str) -> None:
        waiting = _Waiting(chat, self._next_step(), asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._share_out()
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            else:
                self._give_back(chat)  # its turn came in the same moment
            raise

    def _give_back(self, chat: str) -> None:
        self._change(chat, -1)
        self._share_out()

    def _share_out(self) -> None:
        while waiting := [one for one in self._waiting if not one.turn.done() and self._has_room(one.chat)]:
            chosen = min(waiting, key=lambda waiting: (self._under_way[waiting.chat], waiting.since))
            self._waiting.remove(chosen)
            self._change(chosen.chat, 1)
            chosen.turn.set_result(None)

    def _has_room(self, chat: str) -> bool:
        under_way = self._under_way[chat] if self._each else self._under_way.total()
        return under_way < self._limit

    def _change(self, chat: str, calls: int) -> None:
        self._under_way[chat] += calls
        if not self._under_way[chat]:
            del self._under_way[chat]
        step = self._next_step()
        for waiting in self._waiting:
            if waiting.chat == chat:
                waiting.since = step

    def _next_step(self) -> int:
        self._step += 1
        return self._step
