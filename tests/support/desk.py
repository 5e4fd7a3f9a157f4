"""Calls that take slots and keep them until a test lets them go."""

import asyncio
from dataclasses import dataclass, field

from app.llm.slots import Slots


@dataclass(eq=False)
class Call:
    """A call that takes a slot and keeps it until it is let go."""

    chat: str
    begun: bool = False
    go: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None

    @property
    def over(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def holds(self) -> bool:
        return self.begun and not self.over

    async def run(self, slots: Slots) -> None:
        async with slots.of(self.chat):
            self.begun = True
            await self.go.wait()

    def cancel(self) -> None:
        assert self.task is not None
        self.task.cancel()


class Desk:
    """Slots, and the calls that came."""

    def __init__(self, limit: int) -> None:
        self.slots = Slots(limit)
        self.calls: list[Call] = []

    async def ask(self, *chats: str) -> list[Call]:
        """Calls of these chats, in this order."""
        calls = [Call(chat) for chat in chats]
        for call in calls:
            call.task = asyncio.create_task(call.run(self.slots))
        self.calls += calls
        await settle()
        return calls

    @property
    def holding(self) -> list[str]:
        return [call.chat for call in self.calls if call.holds]

    async def finish(self, chat: str) -> None:
        """Let the chat's oldest call under way end."""
        next(call for call in self.calls if call.holds and call.chat == chat).go.set()
        await settle()

    async def close(self) -> None:
        """Let everything end."""
        for call in self.calls:
            call.go.set()
        tasks = [call.task for call in self.calls if call.task]
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)


async def settle() -> None:
    for _ in range(6):
        await asyncio.sleep(0)
