"""A chat with a past, folded through three layers and changed since, and repairs of copies of it."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.core.model import Role
from app.services.recording import Draft
from app.services.repairing import Repairing
from app.store.engine import Database
from tests.support.table import Table, laid

SMALL = {
    "verbatim_turns": 2,
    "turns_per_batch": 1,
    "snippets_per_layer": 3,
    "snippets_per_promotion": 2,
    "max_layers": 3,
}


class IdleRunner:
    """Runs nothing, and remembers what it was to run."""

    def __init__(self) -> None:
        self.poked: list[str] = []

    def poke(self, job_id: str) -> None:
        self.poked.append(job_id)

    async def cancel(self, job_id: str) -> None:
        pass

    async def wait(self, job_id: str, seconds: float) -> bool:
        return True


def folded_database(folder: Path) -> Path:
    """Chat `c`: 23 turns, of which the newest two are verbatim. Closed, so that the file alone is all of it."""

    async def play() -> None:
        async with laid(folder) as table:
            await _live_through(table)

    asyncio.run(play())
    return folder / "turnfold.db"


async def _live_through(table: Table) -> None:
    table.settings(**SMALL)
    await table.services.recording.append("c", [Draft(Role.SYSTEM, "You are Tom.", id="s")], "none", 0)
    for turn in range(1, 24):
        await table.say(turn)
    editing = table.services.editing
    editing.edit("c", "u3", {"content": "Mira asks about the blue gate."})
    editing.edit("c", "a5", {"pinned": True})
    editing.edit("c", "u14", {"hidden": True})
    editing.delete("c", "u9")
    await table.settled()


@contextmanager
def repairing(database: Path, copy: Path) -> Iterator[Repairing]:
    """Repairs on a copy of a database."""
    shutil.copy(database, copy)
    db = Database(f"sqlite:///{copy}")
    yield Repairing(db, IdleRunner())
    db.dispose()
