"""Waking those who wait in this process; what other processes do is seen by looking now and then."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Ear:
    """Hears a bell from the moment it listens."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def forget(self) -> None:
        """What happened up to now is about to be read."""
        self._rung.clear()

    def ring(self) -> None:
        """Something has happened."""
        self._rung.set()

    async def wait(self, seconds: float) -> None:
        """Until the bell has rung since then, or so many seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._rung.wait()


class Bell:
    """Wakes all who listen. Belongs to one event loop."""

    def __init__(self) -> None:
        self._ears: set[Ear] = set()

    def ring(self) -> None:
        """Wake them."""
        for ear in self._ears:
            ear.ring()

    @contextmanager
    def listening(self) -> Iterator[Ear]:
        """An ear until the block ends."""
        ear = Ear()
        self._ears.add(ear)
        try:
            yield ear
        finally:
            self._ears.remove(ear)


class Bells:
    """`free`: a call may be taken; `moved`: something became of one that somebody waits for."""

    def __init__(self) -> None:
        self.free = Bell()
        self.moved = Bell()
