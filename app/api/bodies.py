"""What a request may carry: JSON where JSON is read, and no more than is allowed."""

from email.message import Message as Header

import anyio
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.responses import problem_for
from app.api.wire import content_length, has_body, header, takes_files
from app.errors import PayloadTooLarge, UnsupportedMediaType

MIB = 1024 * 1024
LINGER_S = 5.0


class MediaTypes:
    """JSON routes take application/json alone, in UTF-8; a request without a body needs no type."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._refuses(scope):
            await self.app(scope, receive, send)
            return
        error = UnsupportedMediaType("Send the body as application/json, in UTF-8.")
        await problem_for(error, {"Accept": "application/json"})(scope, receive, send)

    def _refuses(self, scope: Scope) -> bool:
        if not has_body(scope) or takes_files(scope) or is_json(header(scope, b"content-type") or b""):
            return False
        # Where no route would read the body, the answer is 404 or 405.
        routes = scope["app"].router.routes
        return any(route.matches(scope)[0] is Match.FULL for route in routes)


def is_json(content_type: bytes) -> bool:
    """Whether a Content-Type is application/json, with no charset or with UTF-8."""
    parsed = Header()
    parsed["content-type"] = content_type.decode("latin-1")
    charset = str(parsed.get_param("charset", "utf-8")).lower()
    return parsed.get_content_type() == "application/json" and charset in {"utf-8", "utf8"}


class BodyTooLarge(HTTPException):
    """Raised where the body is read; as an HTTPException it passes FastAPI's parsing untouched."""

    def __init__(self) -> None:
        super().__init__(413, "The body is larger than allowed.")


class BodyLimits:
    """Refuses bodies over the limit: by their announced length at once, else as soon as they pass it.

    Sizes in MiB. A client that is still sending gets its answer, then `linger_s` seconds to notice it: closing at
    once would reset the connection, and the answer with it (RFC 9112, 9.6).
    """

    def __init__(self, app: ASGIApp, limit_mb: float, import_limit_mb: float, linger_s: float = LINGER_S) -> None:
        self.app = app
        self.limit_mb = limit_mb
        self.import_limit_mb = import_limit_mb
        self.linger_s = linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit_mb = self.import_limit_mb if takes_files(scope) else self.limit_mb
        meter = _Meter(receive, send, int(limit_mb * MIB))
        if (content_length(scope) or 0) > meter.limit:
            meter.exceeded = True
        else:
            await self._run(scope, meter)
        if meter.exceeded and not meter.started:
            await self._refuse(scope, receive, send, limit_mb)

    async def _run(self, scope: Scope, meter: "_Meter") -> None:
        try:
            await self.app(scope, meter.receive, meter.send)
        except BodyTooLarge:
            if meter.started:
                raise

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, limit_mb: float) -> None:
        answer = problem_for(PayloadTooLarge(f"The body may hold at most {limit_mb:g} MiB."), {"Connection": "close"})
        await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": True})
        # Who expects a 100 waits for our word before sending, and this was it.
        if header(scope, b"expect") is None:
            await _drain(receive, self.linger_s)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive, seconds: float) -> None:
    with anyio.move_on_after(seconds):
        while (await receive()).get("more_body", False):
            pass


class _Meter:
    """Counts what is read, and holds back the answer to a body that turned out to be too large."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self.limit = limit
        self.size = 0
        self.exceeded = False
        self.started = False

    async def receive(self) -> Message:
        message = await self._receive()
        self.size += len(message.get("body", b""))
        if self.size > self.limit:
            self.exceeded = True
            raise BodyTooLarge
        return message

    async def send(self, message: Message) -> None:
        if self.exceeded and not self.started:
            return
        self.started = True
        await self._send(message)
