"""From where requests may come: the Host they name, and the Origin a browser puts on them.

A page in a browser must not reach a chat server on the same machine just because it runs there: a foreign Origin is
refused whatever the method, and a foreign Host too, which is what DNS rebinding ends in.
"""

import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.responses import problem_for
from app.api.wire import headers
from app.errors import Forbidden

_HOST = re.compile(r"(\[[0-9a-f:.%]+\]|[^\[\]:/@?#\\\s]+)(?::\d*)?")
_DEFAULT_PORT = re.compile(r"(?<=^http:)(//.+):80$|(?<=^https:)(//.+):443$")

METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
REQUEST_HEADERS = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "X-API-Key",
    "X-Request-ID",
    "X-Turnfold-Chat",
)
RESPONSE_HEADERS = ("Content-Disposition", "ETag", "Idempotent-Replayed", "Location", "Retry-After", "X-Request-ID")


def host_name(host: str) -> str | None:
    """The name in a Host header: without its port, in lower case, IPv6 in brackets; None if it is malformed."""
    lowered = host.lower()
    if lowered.count(":") > 1 and not lowered.startswith("["):
        lowered = f"[{lowered}]"
    found = _HOST.fullmatch(lowered)
    return found[1] if found else None


def plain_origin(origin: str) -> str:
    """An origin as browsers write it: lower case, no slash at its end, no port where it is the scheme's own."""
    return _DEFAULT_PORT.sub(lambda found: found[1] or found[2], origin.lower().rstrip("/"))


class Hosts:
    """Refuses requests whose Host is none of ours; `*` among the names lets every one in."""

    def __init__(self, app: ASGIApp, names: Sequence[str]) -> None:
        self.app = app
        self.any = "*" in names
        self.names = {host_name(name) for name in names} - {None}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._knows(headers(scope, b"host")):
            await self.app(scope, receive, send)
            return
        detail = "The Host of this request is not among TURNFOLD_ALLOWED_HOSTS."
        await problem_for(Forbidden(detail))(scope, receive, send)

    def _knows(self, hosts: list[bytes]) -> bool:
        name = host_name(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
        return name is not None and (self.any or name in self.names)


class Origins(CORSMiddleware):
    """Refuses requests from foreign origins, and tells browsers what pages of the allowed ones may send and read."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=[plain_origin(origin) for origin in origins],
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            allow_private_network=True,
            expose_headers=RESPONSE_HEADERS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not all(self._allows(scope, value) for value in headers(scope, b"origin")):
            detail = "This origin is not among TURNFOLD_CORS_ORIGINS."
            await problem_for(Forbidden(detail))(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

    def is_allowed_origin(self, origin: str) -> bool:  # noqa: ARG002  # the framework's signature
        """Whether a page of that origin may read the answer: `__call__` has refused all others, but sees our own."""
        return True

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a preflight; a method or header that is not allowed is a problem like any other."""
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        told = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return problem_for(Forbidden("No route takes this method or these headers."), told)

    def _allows(self, scope: Scope, value: bytes) -> bool:
        origin = plain_origin(value.decode("latin-1"))
        own = [plain_origin(f"{scope['scheme']}://{host.decode('latin-1')}") for host in headers(scope, b"host")]
        return origin != "null" and (self.allow_all_origins or origin in self.allow_origins or origin in own)
