"""A POST that is sent again is answered again and does nothing twice."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from httpx import ASGITransport, AsyncClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlmodel import col
from starlette.middleware import Middleware

from app.api.guards import install_guards
from app.api.idempotency import Idempotency, install_idempotency
from app.api.problems import install_problems
from app.api.spooling import IN_MEMORY, BodyHash
from app.errors import Conflict, NotFound
from app.settings import Settings
from app.store import answers
from app.store.answers import KEPT_MS, LEASE_MS, Claim
from app.store.engine import Database
from app.store.tables import StoredAnswer
from tests.support.waiting import until

KEY = {"Idempotency-Key": "key 1"}


class Clock:
    """Milliseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


class Toy:
    """Counts its calls; `gate` holds them, `error` makes them fail."""

    def __init__(self, db: Database) -> None:
        self.calls = 0
        self.db = db
        self.clock = Clock()
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.app = self._app()

    def client(self) -> AsyncClient:
        return AsyncClient(transport=ASGITransport(self.app), base_url="http://127.0.0.1")

    async def _called(self) -> int:
        self.calls += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return self.calls

    def _app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chats", status_code=201)
        async def post(response: Response, body: dict[str, Any] | None = None) -> dict[str, Any]:
            response.headers["ETag"] = '"e"'
            return {"call": await self._called(), "body": body}

        @app.put("/v1/chats")
        async def put() -> int:
            return await self._called()

        @app.post("/v1/import")
        async def take(request: Request) -> list[int]:
            return [await self._called(), sum([len(chunk) async for chunk in request.stream()])]

        @app.post("/v1/stream")
        async def stream() -> StreamingResponse:
            call = await self._called()
            return StreamingResponse(iter([f"data: {call}\n\n"]), media_type="text/event-stream")

        install_problems(app)
        install_guards(app, Settings(max_body_mb=1, import_max_mb=8))
        install_idempotency(app, self.db)
        _use_clock(app.user_middleware, self.clock)
        return app


def _use_clock(layers: list[Middleware], clock: Clock) -> None:
    (layer,) = [layer for layer in layers if getattr(layer.cls, "__name__", "") == Idempotency.__name__]
    layer.kwargs.update(clock=clock, renew_s=0.01)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    db = Database(f"sqlite:///{tmp_path / 'answers.db'}")
    StoredAnswer.metadata.tables["stored_answers"].create(db.engine)
    yield db
    db.dispose()


@pytest.fixture
async def toy(db: Database) -> Toy:
    return Toy(db)


@pytest.fixture
async def client(toy: Toy) -> AsyncIterator[AsyncClient]:
    async with toy.client() as client:
        yield client


async def test_the_same_again(toy: Toy, client: AsyncClient) -> None:
    """The same key and body give the same answer, byte for byte, and the call is made once."""
    first = await client.post("/v1/chats", json={"a": 1}, headers=KEY)
    again = await client.post("/v1/chats", json={"a": 1}, headers=KEY)
    assert first.status_code == again.status_code == 201
    assert first.content == again.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    for name in ("Content-Type", "Content-Length", "ETag"):
        assert first.headers[name] == again.headers[name]
    assert first.headers["X-Request-ID"] != again.headers["X-Request-ID"]
    assert toy.calls == 1


async def test_another_body(toy: Toy, client: AsyncClient) -> None:
    """The same key with another body is refused."""
    await client.post("/v1/chats", json={"a": 1}, headers=KEY)
    answer = await client.post("/v1/chats", json={"a": 2}, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")
    assert toy.calls == 1


async def test_keys_belong_to_a_path(toy: Toy, client: AsyncClient) -> None:
    """Another path, query or key is another call; other methods know no keys, and no key means no memory."""
    await client.post("/v1/chats", headers=KEY)
    await client.post("/v1/chats?a=1", headers=KEY)
    await client.post("/v1/import", headers=KEY)
    await client.post("/v1/chats", headers={"Idempotency-Key": "key 2"})
    assert toy.calls == 4
    for _ in range(2):
        await client.put("/v1/chats", headers=KEY)
        await client.post("/v1/chats")
    assert toy.calls == 8


async def test_while_the_first_runs(toy: Toy, client: AsyncClient) -> None:
    """A second call during the first is told when to come back, however long that takes; then it gets the answer."""
    toy.gate.clear()
    first = asyncio.create_task(client.post("/v1/chats", headers=KEY))
    await until(lambda: toy.calls, bool)
    toy.clock.now += LEASE_MS + 1
    await until(lambda: _age(toy), lambda age: age == 0)
    second = await client.post("/v1/chats", headers=KEY)
    assert (second.status_code, second.json()["code"]) == (409, "conflict")
    assert int(second.headers["Retry-After"]) > 0
    toy.gate.set()
    assert (await client.post("/v1/chats", headers=KEY)).status_code in {201, 409}
    assert (await first).json()["call"] == 1
    assert (await client.post("/v1/chats", headers=KEY)).json()["call"] == 1
    assert toy.calls == 1


def _age(toy: Toy) -> int:
    with toy.db.read() as session:
        renewed: int = session.execute(select(col(StoredAnswer.created_at))).scalar_one()
        return toy.clock.now - renewed


async def test_many_at_once(toy: Toy, client: AsyncClient) -> None:
    """Of many calls at the same moment exactly one is made."""
    answers_ = await asyncio.gather(*(client.post("/v1/chats", headers=KEY) for _ in range(10)))
    assert toy.calls == 1
    assert {answer.status_code for answer in answers_} <= {201, 409}
    assert sum(answer.status_code == 201 for answer in answers_) >= 1


@pytest.mark.parametrize(
    ("error", "status", "kept"),
    [
        (NotFound("d"), 404, True),
        (Conflict("d"), 409, True),
        (Conflict("d", retry_after_s=1), 409, False),
        (RuntimeError("d"), 500, False),
    ],
)
async def test_which_errors_are_final(toy: Toy, client: AsyncClient, error: Exception, status: int, kept: bool) -> None:
    """Answers under 500 are kept, but for those that say when to try again; after the others the key is free."""
    toy.error = error
    assert (await client.post("/v1/chats", headers=KEY)).status_code == status
    toy.error = None
    assert (await client.post("/v1/chats", headers=KEY)).status_code == (status if kept else 201)


async def test_streams_are_not_kept(client: AsyncClient) -> None:
    """An event stream comes anew each time."""
    texts = [(await client.post("/v1/stream", headers=KEY)).text for _ in range(2)]
    assert texts == ["data: 1\n\n", "data: 2\n\n"]


async def test_a_call_that_dies(toy: Toy, client: AsyncClient) -> None:
    """A cancelled call may still be stored by its thread: its key is free only after the lease, as a dead process's."""
    toy.gate.clear()
    call = asyncio.create_task(client.post("/v1/chats", headers=KEY))
    await until(lambda: toy.calls, bool)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    toy.gate.set()
    refused = await client.post("/v1/chats", headers=KEY)
    assert (refused.status_code, toy.calls) == (409, 1)
    toy.clock.now += LEASE_MS
    assert (await client.post("/v1/chats", headers=KEY)).json()["call"] == 2


def test_the_claim_of_a_dead_process(db: Database) -> None:
    """A claim nobody renews is free after two minutes, and its first owner can neither finish nor release it."""
    with db.write() as session:
        dead = answers.claim(session, "s", "h", 0)
        assert isinstance(dead, Claim)
        assert answers.claim(session, "s", "h", LEASE_MS - 1) is answers.Refusal.RUNNING
        assert answers.claim(session, "s", "other", LEASE_MS - 1) is answers.Refusal.OTHER_BODY
        living = answers.claim(session, "s", "other", LEASE_MS)
        assert isinstance(living, Claim)
        answers.release(session, dead)
        answers.finish(session, dead, answers.Answer(200, {}, b"dead"), LEASE_MS)
        answers.finish(session, living, answers.Answer(200, {}, b"living"), LEASE_MS)
    with db.write() as session:
        assert answers.claim(session, "s", "other", LEASE_MS) == answers.Answer(200, {}, b"living")


async def test_kept_for_a_day(toy: Toy, client: AsyncClient) -> None:
    """After 24 hours an answer is forgotten."""
    await client.post("/v1/chats", headers=KEY)
    toy.clock.now += KEPT_MS
    assert (await client.post("/v1/chats", headers=KEY)).json()["call"] == 1
    toy.clock.now += 1
    assert (await client.post("/v1/chats", headers=KEY)).json()["call"] == 2


@pytest.mark.parametrize("key", [b"", b"x" * 201, b"a\x00", b"\xff", b"a\tb"])
async def test_keys_that_are_none(toy: Toy, client: AsyncClient, key: bytes) -> None:
    """A key is 1 to 200 printable characters."""
    answer = await client.post("/v1/chats", headers={b"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert toy.calls == 0


async def test_long_bodies(client: AsyncClient) -> None:
    """A long import is called once like anything else, and arrives whole; limits hold with a key too."""
    body = b"x" * (3 * IN_MEMORY + 1)
    first = await client.post("/v1/import", content=body, headers=KEY)
    assert first.json() == [1, len(body)]
    assert (await client.post("/v1/import", content=body, headers=KEY)).json() == [1, len(body)]
    assert (await client.post("/v1/import", content=body + b"y", headers=KEY)).status_code == 422

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * IN_MEMORY

    headers = {"Idempotency-Key": "key 2"}
    assert (await client.post("/v1/import", content=pieces(), headers=headers)).status_code == 413
    assert (await client.post("/v1/import", content=b"", headers=headers)).status_code == 200


async def test_forms_are_compared_without_their_boundary(toy: Toy, client: AsyncClient) -> None:
    """The same file in another attempt's form is the same body."""
    for content in (b"one", b"one", b"two"):
        answer = await client.post("/v1/import", files={"file": ("a.jsonl", content)}, headers=KEY)
        assert answer.status_code == (422 if content == b"two" else 200)
    assert toy.calls == 1


async def test_answers_that_cannot_be_kept_are_given(toy: Toy, client: AsyncClient) -> None:
    """A call that has done its work is answered even if the database refuses to keep the answer."""
    toy.gate.clear()
    call = asyncio.create_task(client.post("/v1/chats", headers=KEY))
    await until(lambda: toy.calls, bool)
    StoredAnswer.metadata.tables["stored_answers"].drop(toy.db.engine)
    toy.gate.set()
    assert (await call).status_code == 201


@given(st.binary(max_size=60), st.binary(min_size=1, max_size=4), st.lists(st.integers(0, 60)))
def test_where_a_body_is_cut_does_not_matter(body: bytes, boundary: bytes, cuts: list[int]) -> None:
    """A body has one hash, however the network cut it."""
    whole, pieces = BodyHash(boundary), BodyHash(boundary)
    whole.update(body)
    edges = [0, *sorted(cut for cut in cuts if cut <= len(body)), len(body)]
    for start, end in pairwise(edges):
        pieces.update(body[start:end])
    assert whole.hexdigest() == pieces.hexdigest()
