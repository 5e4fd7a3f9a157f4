"""Who may call, by which paths, and what browsers are told about the answers."""

import secrets
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.responses import problem_for
from app.api.wire import headers
from app.errors import InvalidRequest, Unauthorized

_OPEN = frozenset({"/", "/healthz", "/readyz", "/docs", "/docs/oauth2-redirect", "/openapi.json", "/static"})
_DOCS = frozenset({"/docs", "/redoc"})

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def docs_policy(scripts: Sequence[str]) -> str:
    """The policy of /docs: FastAPI starts Swagger UI with scripts in the page, and these hashes are theirs."""
    return PAGE_POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *scripts]))


class Keys:
    """Asks for the key, as a bearer token or in X-API-Key, wherever it is needed."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self.app = app
        self.key = key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]) or self._fits(scope):
            await self.app(scope, receive, send)
            return
        error = Unauthorized("Send the server's key as Authorization: Bearer … or as X-API-Key: ….")
        await problem_for(error)(scope, receive, send)

    def _fits(self, scope: Scope) -> bool:
        given = headers(scope, b"x-api-key")
        for value in headers(scope, b"authorization"):
            scheme, _, token = value.partition(b" ")
            if scheme.lower() == b"bearer":
                given.append(token.strip())
        return any([secrets.compare_digest(key, self.key) for key in given])


def is_open(path: str) -> bool:
    """Whether a path is answered without the key: it tells nothing about any chat."""
    return path in _OPEN or path.startswith("/static/")


class Paths:
    """Refuses paths that no id can be in.

    Frameworks route by the decoded path: an encoded slash would end one id and begin another, and bytes that are no
    UTF-8 all become the same replacement character.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fault = path_fault(scope.get("raw_path") or scope["path"].encode()) if scope["type"] == "http" else None
        if fault is None:
            await self.app(scope, receive, send)
            return
        await problem_for(InvalidRequest(fault, [{"loc": ["path"], "msg": fault}]))(scope, receive, send)


def path_fault(raw_path: bytes) -> str | None:
    """What is wrong with a percent-encoded path."""
    if b"%2f" in raw_path.lower():
        return "An id cannot hold a slash (%2F)."
    try:
        path = unquote_to_bytes(raw_path).decode()
    except UnicodeDecodeError:
        return "The path is not UTF-8."
    if any(character < " " or character == "\x7f" for character in path):
        return "A path cannot hold control characters."
    return None


class SafetyHeaders:
    """Tells browsers to take answers for what they are, and pages to load nothing from elsewhere.

    The documentation says its own policy: app.api.pages.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, path)
            await send(message)

        await self.app(scope, receive, add)


def _add_headers(message: Message, path: str) -> None:
    answer = MutableHeaders(raw=list(message.get("headers", [])))
    answer.setdefault("X-Content-Type-Options", "nosniff")
    answer.setdefault("Referrer-Policy", "no-referrer")
    is_page = answer.get("content-type", "").startswith("text/html")
    if is_page or path == "/" or path.startswith("/static/"):
        answer.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        if path not in _DOCS:
            answer.setdefault("Content-Security-Policy", PAGE_POLICY)
    message["headers"] = answer.raw
