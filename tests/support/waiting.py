"""Waiting for what another task or process does, with an end."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], T], done: Callable[[T], bool], seconds: float = 20) -> T:
    """What `look` sees once it is `done`."""
    async with asyncio.timeout(seconds):
        while not done(seen := look()):  # noqa: ASYNC110  # what is waited for happens in the database
            await asyncio.sleep(0.005)
    return seen


def until_seen(look: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for what another thread or process does; for tests that are no coroutines."""
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
