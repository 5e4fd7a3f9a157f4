"""Databases with folded chats, made through the services with a stub for the model."""

import asyncio
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import event

from app.assembly import Server, assemble
from app.llm.tokens import TokenCounter
from app.settings import Settings
from app.store.migrate import migrate
from bench.prose import as_file, messages
from bench.stub import Stub

LINE_CHARS = 240
"""Of a snippet: about 45 tokens, as short sentences have."""
LIMIT_S = 1_800.0
_MOST_FOLDS = 1_700
_COUNTER = TokenCounter()


def parts(database: Path, *, line_chars: int = LINE_CHARS, durable: bool = True) -> tuple[Server, Stub]:
    """A server's parts on a migrated database, without HTTP. Not `durable`: for building only."""
    stub = Stub(_COUNTER, line_chars)
    settings = Settings(_env_file=None, database_url=f"sqlite:///{database}", log_level="error")
    server = assemble(settings, count=_COUNTER, models=stub)
    if not durable:
        event.listen(server.db.engine, "connect", _careless)
    migrate(server.db.engine)
    return server, stub


def load(server: Server, chat_id: str, count: int) -> None:
    """Import a chat of `count` messages; its backlog waits for an answer."""
    file = io.BytesIO(as_file(messages(count)))
    server.services.importing.load(file, chat_id=chat_id, title=None, format="openai")


def build(database: Path, sizes: Iterable[int]) -> None:
    """A database with a chat of each size (see `chat_name`), folded up to the window."""
    server, _ = parts(database, durable=False)
    try:
        asyncio.run(_build(server, sizes))
    finally:
        server.db.dispose()


async def _build(server: Server, sizes: Iterable[int]) -> None:
    await server.runner.start()
    for size in sizes:
        await asyncio.to_thread(load, server, chat_name(size), size)
        # A chat of 100,000 messages would take 25,000 calls; with longer batches its memory is as full after 2,500.
        batch = size // 2 // _MOST_FOLDS
        for turns_per_batch in (batch, None) if batch > 3 else (None,):
            change = {"settings": {"layered": {"turns_per_batch": turns_per_batch}}}
            await asyncio.to_thread(server.services.keeping.put, chat_name(size), change)
            await fold_all(server, chat_name(size))
    await server.runner.stop()


async def fold_all(server: Server, chat_id: str) -> None:
    """Answer the backlog with `all` and wait until that is done."""
    started = await asyncio.to_thread(server.services.steering.backlog, chat_id, "all")
    if started.job is not None and not await server.runner.wait(started.job.id, LIMIT_S):
        raise TimeoutError(f"{chat_id} was not folded in {LIMIT_S:.0f} s")


def chat_name(size: int) -> str:
    """The chat of that many messages."""
    return f"c{size}"


def _careless(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous = OFF")
