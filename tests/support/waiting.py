"""Waiting for what another task or process does, with an end."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], T], done: Callable[[T], bool], seconds: float = 20) -> T:
    """What `look` sees once it is `done`."""
    async with asyncio.timeout(seconds):
        while not done(seen := look()):  # noqa: ASYNC110  # what is waited for happens in the database
            await asyncio.sleep(0.005)
    return seen
