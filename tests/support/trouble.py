"""A table with trouble around it: a neighbour that locks the database, a full disk, waits that take no time."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event, text

from app.assembly import assemble
from app.settings import Settings
from app.store.migrate import migrate
from tests.support.parts import counter
from tests.support.scripted import ScriptedModels
from tests.support.table import Table

BUSY_MS = 20


class Waits:
    """Stands in for sleeping: takes no time, remembers, and lets something happen at the n-th wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.happens: dict[int, Callable[[], None]] = {}

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.happens.get(len(self.seconds), lambda: None)()
        await asyncio.sleep(0)


class Other:
    """Another process at the same database."""

    def __init__(self, database: Path) -> None:
        self._raw = sqlite3.connect(database, isolation_level=None)

    def lock(self) -> None:
        self._raw.execute("BEGIN IMMEDIATE")

    def let_go(self) -> None:
        self._raw.execute("ROLLBACK")

    def close(self) -> None:
        self._raw.close()


class Disk:
    """How many pages the database may have; None: as many as it likes."""

    def __init__(self) -> None:
        self.pages: int | None = None


class Scene:
    """A table whose database gives up soon, beats fast, and has a neighbour."""

    def __init__(self, table: Table, waits: Waits, other: Other) -> None:
        self.table, self.waits, self.other = table, waits, other
        self._disk = Disk()
        event.listen(table.server.db.engine, "connect", self._prepare)
        table.server.db.engine.dispose()

    def fill_disk(self) -> None:
        self._disk.pages = 1  # SQLite takes the present size, then
        self.table.server.db.engine.dispose()

    def make_room(self) -> None:
        self._disk.pages = None
        self.table.server.db.engine.dispose()

    def _prepare(self, connection: Any, _record: object) -> None:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        if self._disk.pages is not None:
            connection.execute(f"PRAGMA max_page_count = {self._disk.pages}")

    async def asked(self) -> None:
        """Turn 13 has come, and the model is held with the first fold."""
        self.table.models.hold()
        await self.table.say(*range(1, 14), fold="background")
        await self.table.models.arrived(1)

    def column(self, name: str) -> Any:
        with self.table.server.db.read() as session:
            return session.execute(text(f"SELECT {name} FROM chats")).scalar_one()

    def states(self) -> list[str]:
        found = self.table.services.working.page(None, None, None, 100)
        return [job.state for _, job in reversed(found)]


@asynccontextmanager
async def set_up(folder: Path, **settings: Any) -> AsyncIterator[Scene]:
    database, waits, models = folder / "turnfold.db", Waits(), ScriptedModels()
    values = {"database_url": f"sqlite:///{database}", "log_level": "error", "breaker_cooldown_s": 0.2, **settings}
    server = assemble(Settings(_env_file=None, **values), count=counter(), models=models, sleep=waits, beat_s=0.05)
    migrate(server.db.engine)
    other = Other(database)
    scene = Scene(Table(server, models, database), waits, other)
    await server.start()
    try:
        yield scene
    finally:
        other.close()
        await server.stop()
