"""Threads for database calls, apart from those that read files and count tokens: nothing slow is before them."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar, TypeVarTuple

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from app.store.faults import UNAVAILABLE

T = TypeVar("T")
Args = TypeVarTuple("Args")

ATTEMPTS = 5


class Threads:
    """A few threads of one purpose, which end with it. Calling it makes a call in one of them."""

    def __init__(self, name: str, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)

    async def __call__(self, call: Callable[[*Args], T], *args: *Args) -> T:
        """Make the call. What it logs names what the caller's lines name."""
        context = copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: context.run(call, *args))


class Patience:
    """Makes database calls in threads, and again while the database is locked, full or away.

    `sleep` takes seconds. Besides these waits each call has SQLite's busy timeout.
    """

    def __init__(self, threads: Threads, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._threads = threads
        self._sleep = sleep

    async def __call__(self, call: Callable[[*Args], T], *args: *Args) -> T:
        """Make the call; raises what it raises, one of UNAVAILABLE only after the last attempt."""
        retrying = AsyncRetrying(
            sleep=self._sleep,
            wait=wait_exponential(0.2, max=2),
            stop=stop_after_attempt(ATTEMPTS),
            retry=retry_if_exception_type(UNAVAILABLE),
            reraise=True,
        )
        result: T = await retrying(self._threads, call, *args)
        return result
