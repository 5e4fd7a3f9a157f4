"""Request ids, and one line in the log for every request: never its body, its query or its key."""

from time import perf_counter
from uuid import uuid4

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.wire import header, printable_header

log = structlog.get_logger()


class RequestIds:
    """Takes X-Request-ID if it is 1–200 printable characters, else makes one; it is returned and logged."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status: int | None = None

        async def stamp(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _set_id(message, request_id)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            began = perf_counter()
            try:
                await self.app(scope, receive, stamp)
            finally:
                _log(scope, status, began)


def _request_id(scope: Scope) -> str:
    given = header(scope, b"x-request-id")
    return (given and printable_header(given)) or uuid4().hex


def _set_id(message: Message, request_id: str) -> None:
    headers = MutableHeaders(raw=list(message.get("headers", [])))
    del headers["x-request-id"]
    message["headers"] = [*headers.raw, (b"x-request-id", request_id.encode())]


def _log(scope: Scope, status: int | None, began: float) -> None:
    """`status` is null where the connection went before an answer came."""
    milliseconds = round((perf_counter() - began) * 1000, 1)
    log.info("request", method=scope["method"], path=scope["path"], status=status, duration_ms=milliseconds)
