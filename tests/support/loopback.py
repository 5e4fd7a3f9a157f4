"""An application on a real loopback port, for what only a real connection shows."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from tests.support.waiting import until


@asynccontextmanager
async def serving(app: Callable[..., Any]) -> AsyncIterator[int]:
    """Serves `app` in this event loop; gives the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await until(lambda: server.started, bool)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listener.close()
