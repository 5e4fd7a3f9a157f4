"""What middleware reads of a request before any framework does."""

import re

from starlette.types import Scope

from app.core.limits import is_printable

_IMPORT = re.compile(r"/v1/(chats/[^/]+/)?import")


def headers(scope: Scope, name: bytes) -> list[bytes]:
    """All values of a header; `name` in lower case."""
    return [value for key, value in scope["headers"] if key.lower() == name]


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first value of a header."""
    return next(iter(headers(scope, name)), None)


def printable_header(value: bytes) -> str | None:
    """A header's value as text, if that is 1–200 printable characters."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if is_printable(text) else None


def takes_files(scope: Scope) -> bool:
    """Whether this is an import: a raw body or a form instead of JSON, and a limit of its own."""
    return scope["method"] == "POST" and _IMPORT.fullmatch(scope["path"]) is not None


def content_length(scope: Scope) -> int | None:
    """The announced length of the body in bytes."""
    value = header(scope, b"content-length")
    return int(value) if value is not None and value.isdigit() and len(value) < 20 else None


def has_body(scope: Scope) -> bool:
    """Whether a body is announced, of whatever length."""
    return bool(content_length(scope)) or header(scope, b"transfer-encoding") is not None
