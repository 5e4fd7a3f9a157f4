"""Server-sent events: how what happens goes over the wire."""

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated

from fastapi import Depends, Header, Response
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from app.api.responses import problem_response
from app.api.schemas.jobs import Job
from app.services.watching import Happening, Watch
from app.services.working import JobView

PING_S = 15
"""Proxies cut connections that say nothing for a minute."""

_STALLED_S = 60
_FAREWELL_S = 2
_RETRY_AFTER_S = 10
_LONGEST_ID = 18
_NEWLINE = "\n"


async def _last_seen(
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="The last `id` that was read: the stream goes on after it."),
    ] = None,
) -> int | None:
    given = last_event_id or ""
    is_id = given.isascii() and given.isdecimal() and len(given) <= _LONGEST_ID
    return int(given) if is_id else None


LastSeen = Annotated[int | None, Depends(_last_seen)]
"""None too for what cannot be an id of ours."""


class EventStream(EventSourceResponse):
    """What a watch gives, as long as it gives anything, the client is there and the server runs."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(
            _written(watch), ping=PING_S, sep=_NEWLINE, send_timeout=_STALLED_S, shutdown_grace_period=_FAREWELL_S
        )
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or a 503 while there are as many as the server bears."""
        if not self._watch.has_room:
            await _crowded()(scope, receive, send)
            return
        with suppress(SendTimeoutError):  # the client reads no more: the server cuts the connection
            await super().__call__(scope, receive, send)


async def _written(watch: Watch) -> AsyncIterator[ServerSentEvent]:
    # Not until something has come do some proxies, and browsers behind them, believe that there is an answer.
    yield ServerSentEvent(comment="listening", sep=_NEWLINE)
    async with aclosing(watch.happenings()) as happenings:
        async for happening in happenings:
            yield _event(happening)


def _event(happening: Happening) -> ServerSentEvent:
    data = happening.data
    text = Job.model_validate(data).model_dump_json() if isinstance(data, JobView) else to_json(data).decode()
    return ServerSentEvent(text, event=happening.kind, id=str(happening.key), sep=_NEWLINE)


def _crowded() -> Response:
    detail = "As many event streams are open as this server bears. Close some, or try again."
    headers = {"Retry-After": str(_RETRY_AFTER_S)}
    return problem_response(503, "internal", "Too many event streams", detail, headers=headers)
