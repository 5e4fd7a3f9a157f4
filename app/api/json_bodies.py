"""How a JSON body becomes the model a route takes: read, checked and validated once, long ones in a thread.

FastAPI itself parses and validates on the event loop, where a long body holds up every other call.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from fastapi import Request, Response
from fastapi.routing import APIRoute

from app.api.json_values import Unstorable, read_json
from app.api.validation import invalid_request, unstorable_request

INLINE_BYTES = 64 * 1024
"""Bodies up to this long take about a millisecond: a thread would cost more."""


class Field(Protocol):
    """What FastAPI makes of a parameter."""

    def validate(self, value: Any, values: dict[str, Any], *, loc: tuple[int | str, ...]) -> tuple[Any, list[Any]]: ...


class JsonRoute(APIRoute):
    """A route whose body, if it takes one, is one parameter."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """As APIRoute does it, with a request that gives the body as the model."""
        handle, field = super().get_route_handler(), self.body_field
        if field is None:
            return handle

        async def handle_json(request: Request) -> Response:
            return await handle(_JsonRequest(request, field))

        return handle_json


class _JsonRequest(Request):
    def __init__(self, request: Request, field: Field) -> None:
        super().__init__(request.scope, request.receive)
        self._field = field

    async def json(self) -> Any:
        """The body as its field's type, which FastAPI's own validation then takes as it is. Raises InvalidRequest."""
        body = await self.body()
        return self._validated(body) if len(body) <= INLINE_BYTES else await asyncio.to_thread(self._validated, body)

    def _validated(self, body: bytes) -> Any:
        try:
            value, errors = self._field.validate(read_json(body), {}, loc=("body",))
        except Unstorable as found:
            raise unstorable_request(found.fault.at, found.fault.msg) from None
        if errors:
            raise invalid_request(errors)
        return value
