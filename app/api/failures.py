"""What nobody foresaw, and databases that do not answer: logged with traceback, told without internals.

A database that is locked, full or away is a 503 with the code `internal`: the contract has no code of its own for it,
and Retry-After says what its status means.
"""

from dataclasses import dataclass
from traceback import format_tb
from typing import Any

import structlog
from fastapi import Response
from fastapi.exceptions import ResponseValidationError
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.responses import problem_for, problem_response
from app.errors import TurnfoldError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class StoreFault:
    """What the operator or the caller can do about a database that does not answer."""

    detail: str
    retry_after_s: int


_BUSY = StoreFault("The database is busy with another change. Nothing was changed; try again.", 5)
_FULL = StoreFault("The disk with the database is full. Nothing was changed; free some space, then try again.", 60)
_READ_ONLY = StoreFault("The database cannot be written: its file or its disk is read-only.", 60)
_AWAY = StoreFault("The database cannot be reached. Nothing was changed; try again.", 10)

# Words of SQLite's and PostgreSQL's messages.
_STORE_FAULTS = {
    "is locked": _BUSY,
    "deadlock": _BUSY,
    "disk is full": _FULL,
    "no space left": _FULL,
    "readonly database": _READ_ONLY,
    "unable to open database": _AWAY,
    "connection": _AWAY,
}


def store_fault(error: Exception) -> StoreFault | None:
    """What is known about a failure of the database; None for one that is our own mistake, or no such failure."""
    if isinstance(error, PoolTimeout):
        return _BUSY  # all connections are taken: raised before any was used
    if not isinstance(error, OperationalError):
        return None
    words = str(error.orig).lower()
    return next((fault for part, fault in _STORE_FAULTS.items() if part in words), None)


class Failures:
    """The one place that catches everything, so that every call is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:  # whatever it is, the client gets a problem and the log the whole story
            answer = _answer(error, scope)
            if started:
                raise  # half an answer is out: the server cuts the connection, so that nobody takes it for a whole one
            await answer(scope, receive, send)


def _answer(error: Exception, scope: Scope) -> Response:
    if isinstance(error, TurnfoldError):
        return problem_for(error)
    fault = store_fault(error)
    if fault is not None:
        log.error("store_unavailable", detail=fault.detail)
        headers = {"Retry-After": str(fault.retry_after_s)}
        return problem_response(503, "internal", "The database does not answer", fault.detail, headers=headers)
    log.error("request_failed", error=type(error).__name__, **_logged(error))
    request_id = scope.get("state", {}).get("request_id", "unknown")
    detail = f"Something went wrong here. The server's log tells more under the request id {request_id}."
    return problem_response(500, "internal", "Internal error", detail)


def _logged(error: Exception) -> dict[str, Any]:
    """What the log tells of an error: its traceback, but nothing of a chat's text."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, StatementError):
            link.hide_parameters = True
        link = link.__cause__ or link.__context__
    if isinstance(error, ResponseValidationError | ValidationError):  # both quote the value in their message
        wrong = [(found["type"], ".".join(map(str, found["loc"]))) for found in error.errors()]
        return {"invalid": wrong, "traceback": "".join(format_tb(error.__traceback__))}
    return {"exc_info": error}
