"""The parts of a server around a small table: scripted models, a real database, and the few calls tests make."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from app.assembly import Server
from app.core.model import Role
from app.services.bundle import Services
from app.services.keeping import ChatView
from app.services.recording import Draft
from app.services.reporting import CountsView, Status
from app.store.migrate import migrate
from tests.support.parts import assembled
from tests.support.scripted import ScriptedModels
from tests.support.waiting import until


class Table:
    """A server with scripted models, and the few calls these tests make."""

    def __init__(self, server: Server, models: ScriptedModels, database: Path) -> None:
        self.server, self.models, self.database = server, models, database

    @property
    def services(self) -> Services:
        return self.server.services

    async def say(self, *turns: int, fold: Any = "wait") -> Any:
        drafts = [draft for turn in turns for draft in turn_drafts(turn)]
        return await self.services.recording.append("c", drafts, fold, 20)

    def settings(self, **layered: Any) -> None:
        self.services.keeping.put("c", {"settings": {"layered": layered}})

    def status(self) -> Status:
        return self.services.reporting.status("c")

    async def settled(self) -> Status:
        return await until(self.status, lambda status: status.job is None)

    async def folded(self) -> Status:
        return await until(self.status, lambda status: status.counts.ghosted > 0)

    def layers(self) -> list[int]:
        return [layer.snippets for layer in self.status().layers]

    def sql(self, statement: str) -> None:
        with self.server.db.write() as session:
            session.execute(text(statement))


def turn_drafts(turn: int) -> list[Draft]:
    """A user line and a reply that name their turn."""
    return [
        Draft(Role.USER, f"Mira asks about gate {turn}.", id=f"u{turn}"),
        Draft(Role.ASSISTANT, f"Tom opens gate {turn}.", id=f"a{turn}"),
    ]


@asynccontextmanager
async def laid(folder: Path, models: ScriptedModels | None = None, **settings: Any) -> AsyncIterator[Table]:
    """A table on the database in a folder, its server running until the block ends."""
    models, database = models or ScriptedModels(), folder / "turnfold.db"
    server = assembled(database, models=models, **{"breaker_cooldown_s": 0.2, **settings})
    migrate(server.db.engine)
    await server.start()
    yield Table(server, models, database)
    await server.stop()


def counts_of(chat: ChatView) -> CountsView:
    """The counts of a chat that was read with them."""
    assert chat.counts is not None
    return chat.counts
