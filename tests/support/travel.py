"""Chats on their way from one server to another, as files."""

import io
from pathlib import Path
from typing import Any

from app.assembly import Server
from app.services.restoring import Restored, restore
from app.store.migrate import migrate
from tests.support.eventful import Event, Life
from tests.support.parts import assembled, counter
from tests.support.table import laid

EVERYTHING: list[Event] = [
    *[("talk", 2)] * 6, ("rewrite", 0), ("renew", 1), ("reword", 3), ("tools", 0), ("remove", 4), ("talk", 0),
    ("forget", 1), ("remove", 2), ("hide", 20), ("pin", 0), ("note", 5), ("omit", 30), ("compose", 8), ("rewrite", 2),
]  # fmt: skip
"""Events that leave something in every part of a file."""


def exported(server: Server, chat_id: str = "c", format: str = "turnfold") -> bytes:
    """The chat as a file."""
    found = server.services.exporting.export(chat_id, format)
    with found.file:
        content = found.file.read()
    assert len(content) == found.size
    return content


def taken_in(server: Server, content: bytes, chat_id: str | None = None, title: str | None = None) -> Restored:
    """A file of our own, stored; nothing that is due is begun."""
    return restore(server.db, lambda _: counter(), io.BytesIO(content), chat_id=chat_id, title=title)


def elsewhere(folder: Path, **layered: Any) -> Server:
    """Another server, with a database and settings of its own, on which nothing runs."""
    server = assembled(folder / "elsewhere.db")
    migrate(server.db.engine)
    server.services.keeping.patch_settings({"layered": layered})
    return server


def chats_of(server: Server) -> list[str]:
    """The ids of all chats."""
    return [chat.id for _, chat in server.services.keeping.page(None, 100)]


async def lived(folder: Path, happening: list[Event]) -> bytes:
    """The file of a chat to which all this happened."""
    async with laid(folder) as table:
        life = Life(table)
        await life.begin(8)
        await life.go_on(happening)
        return exported(table.server)
