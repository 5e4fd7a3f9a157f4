"""A request's body, read to its end, told apart from others and read again. What is long goes to a temporary file."""

from email.message import Message as Header
from hashlib import sha256

from anyio import SpooledTemporaryFile
from starlette.types import Message, Receive

IN_MEMORY = 1024 * 1024
_CHUNK = 64 * 1024
_CUT = b"\r\n\0"

Spool = SpooledTemporaryFile[bytes]


def open_spool() -> Spool:
    """An empty spool; use it as an asynchronous context."""
    return SpooledTemporaryFile(max_size=IN_MEMORY)


async def fill(spool: Spool, receive: Receive, content_type: bytes) -> str | None:
    """Read the whole body into `spool`; its hash, or None if the client went away before its end."""
    digest = BodyHash(boundary_of(content_type))
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunk = message.get("body", b"")
        digest.update(chunk)
        await spool.write(chunk)
        if not message.get("more_body", False):
            return digest.hexdigest()


async def replay(spool: Spool, receive: Receive) -> Receive:
    """What an application receives in place of the spooled body; then it listens to the client again."""
    size = await spool.tell()
    await spool.seek(0)
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        chunk = await spool.read(_CHUNK)
        sent = await spool.tell() >= size
        return {"type": "http.request", "body": chunk, "more_body": not sent}

    return again


def boundary_of(content_type: bytes) -> bytes:
    """The boundary of a multipart form; empty for anything else."""
    parsed = Header()
    parsed["content-type"] = content_type.decode("latin-1")
    boundary = parsed.get_param("boundary", "") if parsed.get_content_maintype() == "multipart" else ""
    return str(boundary).encode("latin-1", "replace")


class BodyHash:
    """SHA-256 of a body without the boundaries of a form: clients draw a new one for each attempt."""

    def __init__(self, boundary: bytes = b"") -> None:
        self._boundary = boundary
        self._hash = sha256()
        self._tail = b""

    def update(self, chunk: bytes) -> None:
        """Add a piece of the body; where it was cut does not matter."""
        if not self._boundary:
            self._hash.update(chunk)
            return
        *parts, rest = (self._tail + chunk).split(self._boundary)
        for part in parts:
            self._hash.update(part + _CUT)
        # The end may be the beginning of a boundary.
        keep = min(len(rest), len(self._boundary) - 1)
        self._hash.update(rest[: len(rest) - keep])
        self._tail = rest[len(rest) - keep :]

    def hexdigest(self) -> str:
        """The hash of all that was added; nothing may be added afterwards."""
        self._hash.update(self._tail)
        return self._hash.hexdigest()
