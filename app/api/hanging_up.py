"""Requests that take long: clients that go away before they have their answer, and a server that ends before it is
there.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import HTTPException, Request

from app.errors import Conflict
from app.services.watching import Watching

T = TypeVar("T")

_RETRY_AFTER_S = 10


async def unless_gone(request: Request, watching: Watching, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; it is cut if the client goes away first, or the server ends. The body must have been read.

    Raises Conflict then, which nobody reads, and which is kept for no repeat (`app.api.idempotency`); a 503 at the end.
    """
    gone = asyncio.create_task(_gone(request))
    try:
        return await unless_over(watching, work, gone)
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)


async def unless_over(watching: Watching, work: Coroutine[Any, Any, T], gone: asyncio.Task[None] | None = None) -> T:
    """What the work gives; it is cut when the server ends, which is a 503, or its client is `gone`."""
    call, over = asyncio.create_task(work), asyncio.create_task(watching.over())
    try:
        await asyncio.wait([call, over, *([gone] if gone else [])], return_when=asyncio.FIRST_COMPLETED)
        if call.done():
            return call.result()
        if over.done():
            detail = "The server ends; what this request waited for was cut. Ask again."
            raise HTTPException(503, detail, {"Retry-After": str(_RETRY_AFTER_S)})
        raise Conflict("The client went away; what it waited for was cut.", retry_after_s=1)
    finally:
        call.cancel()
        over.cancel()
        await asyncio.gather(call, over, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
