"""A clock that stands still until something sleeps."""

import asyncio
from datetime import UTC, datetime, timedelta


class FakeTime:
    """`now` for a clock, `sleep` for a sleep; a minute's wait takes no time, and `sleeps` remembers it."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.pass_by(seconds)
        await asyncio.sleep(0)

    def pass_by(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)
