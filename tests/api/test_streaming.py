"""The wire of event streams: how many there may be, that they show life, and what becomes of clients that stall."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import FastAPI

from app.api import streaming
from app.api.routes.events import router
from app.services.lookout import Lookout
from app.services.watching import Watching
from app.store import events
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.loopback import serving
from tests.support.rows import add_chat
from tests.support.waiting import until


@dataclass(frozen=True)
class Toy:
    """A server of nothing but streams, with room for two; and a chat to watch."""

    db: Database
    lookout: Lookout
    chat_key: int
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/chats/c/events"

    def happen(self, count: int, size: int) -> None:
        with self.db.write() as session:
            for _ in range(count):
                events.add(session, self.chat_key, "summarized", {"padding": "x" * size})


@pytest.fixture
async def toy(tmp_path: Path) -> AsyncIterator[Toy]:
    db = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    migrate(db.engine)
    with db.write() as session:
        chat_key = add_chat(session).key
    lookout = Lookout(db, asyncio.to_thread, look_s=0.01, most=2)
    app = FastAPI()
    app.include_router(router)
    app.state.services = SimpleNamespace(watching=Watching(db, lookout, asyncio.to_thread))
    async with serving(app) as port:
        yield Toy(db, lookout, chat_key, port)
    db.dispose()


async def test_only_so_many_streams(toy: Toy) -> None:
    """One stream more than the server bears is a 503 that says when to try again; one that closes makes room."""
    async with httpx.AsyncClient() as client:
        async with client.stream("GET", toy.url) as one, client.stream("GET", toy.url) as other:
            assert (one.status_code, other.status_code) == (200, 200)
            await until(lambda: toy.lookout.has_room, lambda room: not room)
            third = await client.get(toy.url)
            assert (third.status_code, third.headers["retry-after"]) == (503, "10")
            assert third.headers["content-type"] == "application/problem+json"
            assert "event streams" in third.json()["detail"]
        await until(lambda: toy.lookout.has_room, bool)
        async with client.stream("GET", toy.url) as again:
            assert again.status_code == 200


async def test_a_quiet_stream_shows_life(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing happens, comments say that the stream lives."""
    monkeypatch.setattr(streaming, "PING_S", 0.02)
    comments: list[str] = []
    async with httpx.AsyncClient(timeout=20) as client, client.stream("GET", toy.url) as answer:
        async for line in answer.aiter_lines():
            comments += [line] if line else []
            if len(comments) == 3:
                break
    assert comments[0] == ": listening"
    assert all(comment.startswith(": ping") for comment in comments[1:])


async def test_a_client_that_reads_no_more_is_let_go(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that takes nothing for long loses its place, though it holds the connection."""
    monkeypatch.setattr(streaming, "_STALLED_S", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", toy.port, limit=1024)
    writer.write(b"GET /v1/chats/c/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert b"200" in await reader.readline()
    toy.happen(120, 100_000)
    await until(lambda: toy.lookout._listeners, lambda listeners: not listeners)
    writer.close()
