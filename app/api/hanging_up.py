"""Clients that go away before they have their answer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

from app.errors import Conflict

T = TypeVar("T")


async def unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; it is cut if the client goes away first. The body must have been read.

    Raises Conflict then, which nobody reads, and which is kept for no repeat (`app.api.idempotency`).
    """
    call = asyncio.create_task(work)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait([call, gone], return_when=asyncio.FIRST_COMPLETED)
        if call.done():
            return call.result()
        raise Conflict("The client went away; what it waited for was cut.", retry_after_s=1)
    finally:
        call.cancel()
        gone.cancel()
        await asyncio.gather(call, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
