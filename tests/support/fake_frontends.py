"""Frontends with a memory: what they are asked is kept, what they say is scripted."""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime

from app.core.calling import Ending, Prompt, Reply, Trouble


class FakeFrontends:
    """Says what was scripted, in order; while nothing is, calls wait untaken, and `cut` counts those that were cut."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.looked_at: datetime | None = None
        self.cut = 0
        self._script: deque[Reply | Trouble | Ending] = deque()
        self._more = asyncio.Event()

    def script(self, *said: Reply | Trouble | Ending) -> None:
        """What the calls that wait, and those to come, are told."""
        self._script.extend(said)
        self._more.set()

    async def asked(self, calls: int) -> None:
        """Wait until so many calls were made."""
        async with asyncio.timeout(20):
            while len(self.prompts) < calls:  # noqa: ASYNC110  # the calls come from many tasks
                await asyncio.sleep(0.001)

    async def ask(self, prompt: Prompt, taken: Callable[[], None]) -> Reply | Trouble | Ending:
        self.prompts.append(prompt)
        try:
            while not self._script:
                self._more.clear()
                await self._more.wait()
        except asyncio.CancelledError:
            self.cut += 1
            raise
        taken()
        return self._script.popleft()

    async def last_look(self) -> datetime | None:
        return self.looked_at
