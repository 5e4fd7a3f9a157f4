"""Idempotency-Key: a POST that is sent again is answered again and does nothing twice.

An answer is kept for 24 hours under its method, path, query and key. Not kept are answers from 500 up, streams, and
answers that say when to try again; after those the key is free. A claim is renewed while its call runs and free two
minutes after its process died or the call was cut off. An answer that is complete is kept even if the client has left:
it will ask again. A body with a key is read to its end before the call begins, whatever its length; long ones are
spooled to disk.

The work and its answer are not stored in one transaction. If the process ends between the two, or while a call is cut
off, a repeat after those two minutes does the work again. For appended messages that is harmless: those without an id
get one that follows from the call, so that the repeat finds them stored. A POST that makes a chat with an id of ours,
or imports one, may then make a second one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from hashlib import sha256
from uuid import NAMESPACE_OID, uuid5

import structlog
from fastapi import FastAPI, Request, Response
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.responses import problem_for
from app.api.spooling import fill, open_spool, replay
from app.api.stack import add_layer
from app.api.wire import header, printable_header
from app.errors import Conflict, IdempotencyMismatch, InvalidRequest
from app.store import answers
from app.store.answers import Answer, Claim, Refusal
from app.store.clock import now_ms
from app.store.engine import Database

RENEW_S = 30.0
RETRY_AFTER_S = 2
_CALL = "idempotent_call"  # where a request keeps what it shares with its repeats, and with no other call

log = structlog.get_logger()


def install_idempotency(app: FastAPI, db: Database) -> None:
    """Honour Idempotency-Key on every POST of `app`."""
    add_layer(app, Idempotency, db=db)


def repeatable_id(request: Request, place: int) -> str | None:
    """An id for the thing at `place` in a body that a repeat with the same key and body gets again; None without a key.

    The body counts too: a key that is used again after its answer was forgotten must not name other things alike.
    """
    call = request.scope.get("state", {}).get(_CALL)
    return str(uuid5(NAMESPACE_OID, f"{call}:{place}")) if call else None


class Idempotency:
    """The middleware. `clock` gives milliseconds since 1970."""

    def __init__(self, app: ASGIApp, db: Database, clock: Callable[[], int] = now_ms, renew_s: float = RENEW_S) -> None:
        self.app = app
        self.db = db
        self.clock = clock
        self.renew_s = renew_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        given = header(scope, b"idempotency-key") if is_post else None
        if given is None:
            await self.app(scope, receive, send)
            return
        key = printable_header(given)
        if key is None:
            error = InvalidRequest("Idempotency-Key must be 1 to 200 printable characters.")
            await problem_for(error)(scope, receive, send)
            return
        async with open_spool() as spool:
            body_hash = await fill(spool, receive, header(scope, b"content-type") or b"")
            if body_hash is not None:
                name = _name(scope, key)
                scope.setdefault("state", {})[_CALL] = name + body_hash
                await self._once(name, body_hash, scope, await replay(spool, receive), send)

    async def _once(self, name: str, body_hash: str, scope: Scope, receive: Receive, send: Send) -> None:
        found = await asyncio.to_thread(self._claim, name, body_hash)
        if isinstance(found, Claim):
            await self._run(found, scope, receive, send)
        else:
            await _respond(found)(scope, receive, send)

    async def _run(self, claim: Claim, scope: Scope, receive: Receive, send: Send) -> None:
        async def release() -> None:
            await asyncio.to_thread(self._release, claim)

        async def keep(answer: Answer) -> None:
            await asyncio.to_thread(self._finish, claim, answer)

        heartbeat = asyncio.create_task(self._renew(claim))
        recorder = Recorder(send, keep, release)
        try:
            await self.app(scope, receive, recorder.send)
        except asyncio.CancelledError:
            recorder.settled = True  # a thread may still store what it did: the claim is left to run out
            raise
        finally:
            heartbeat.cancel()
            if not recorder.settled:
                await release()

    async def _renew(self, claim: Claim) -> None:
        while True:
            await asyncio.sleep(self.renew_s)
            await asyncio.to_thread(self._renew_once, claim)

    def _claim(self, name: str, body_hash: str) -> Claim | Answer | Refusal:
        try:
            with self.db.write() as session:
                return answers.claim(session, name, body_hash, self.clock())
        except IntegrityError:
            return Refusal.RUNNING

    def _finish(self, claim: Claim, answer: Answer) -> None:
        # The call has done its work: that its answer could not be kept must not turn it into an error.
        try:
            with self.db.write() as session:
                answers.finish(session, claim, answer, self.clock())
        except SQLAlchemyError as error:
            log.warning("answer_not_kept", error=type(error).__name__)

    def _release(self, claim: Claim) -> None:
        try:
            with self.db.write() as session:
                answers.release(session, claim)
        except SQLAlchemyError as error:
            log.warning("claim_not_released", error=type(error).__name__)  # it runs out by itself

    def _renew_once(self, claim: Claim) -> None:
        try:
            with self.db.write() as session:
                answers.renew(session, claim, self.clock())
        except SQLAlchemyError as error:
            log.warning("claim_not_renewed", error=type(error).__name__)


class Recorder:
    """Holds an answer back until it is complete and kept; what is not to be kept goes through as it comes."""

    def __init__(
        self, send: Send, keep: Callable[[Answer], Awaitable[None]], release: Callable[[], Awaitable[None]]
    ) -> None:
        self._send = send
        self._keep = keep
        self._release = release
        self._start: Message = {}
        self._body = bytearray()
        self.settled = False

    async def send(self, message: Message) -> None:
        """What the application sends."""
        if message["type"] == "http.response.start":
            self._start = message
            if not is_kept(message):
                self.settled = True
                await self._release()
        if self.settled:
            await self._send(message)
        elif message["type"] == "http.response.body":
            await self._record(message)

    async def _record(self, message: Message) -> None:
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        body = bytes(self._body)
        headers = dict(Headers(raw=self._start.get("headers", [])).items())
        await self._keep(Answer(self._start["status"], headers, body))
        self.settled = True
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


def is_kept(start: Message) -> bool:
    """Whether the answer that starts so is a final one, and no stream."""
    headers = Headers(raw=start.get("headers", []))
    is_stream = headers.get("content-type", "").startswith("text/event-stream")
    return start["status"] < 500 and not is_stream and "retry-after" not in headers


def _name(scope: Scope, key: str) -> str:
    parts = (scope["method"], scope["path"], scope.get("query_string", b"").decode("latin-1"), key)
    return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _respond(found: Answer | Refusal) -> Response:
    if isinstance(found, Answer):
        return Response(found.body, found.status, {**found.headers, "Idempotent-Replayed": "true"})
    if found is Refusal.OTHER_BODY:
        return problem_for(
            IdempotencyMismatch("This Idempotency-Key came with another body before. Use a new key for a new request.")
        )
    return problem_for(
        Conflict("The first request with this Idempotency-Key still runs. Try again soon.", RETRY_AFTER_S)
    )
