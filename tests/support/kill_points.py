"""Lives through a scene in a process of its own, which kills itself at the n-th point where it could be killed.

A point is: each statement of a transaction that writes, the moment before it commits, the moment after; and the moment
before and after each call of a model. Claiming a job, renewing its lease and ending it are such transactions.
"""

import asyncio
import gc
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event
from sqlalchemy.orm import Session

from app.assembly import Server, assemble
from app.settings import Settings
from app.store.engine import WRITE, Database
from app.store.migrate import migrate
from tests.support.crash_scenes import SCENES, CrashModels, Scene, lay_out
from tests.support.parts import counter
from tests.support.passing import let_time_pass
from tests.support.stored import copied
from tests.support.table import Table

COUNT = counter()  # here, so that a zygote's children need not load it
BEAT_S = 0.05
_LOOK_S = 0.01
DONE = "done"
"""What a report says when the scene's request was answered: from then on nothing of it may be lost."""


class Points:
    """Counts points, writes each into a report, and ends this process at the n-th; 0: never."""

    def __init__(self, at: int, report: Path) -> None:
        self.renewals = 0
        self._at = at
        self._count = 0
        self._turn = threading.Lock()
        self._report = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(self, line: str) -> None:
        """Write a line into the report; what is written outlives the process."""
        os.write(self._report, f"{line}\n".encode())

    def reach(self, what: str) -> None:
        """A point; the process may end here."""
        with self._turn:
            self._count += 1
            self.say(what)
            if self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, db: Database) -> None:
        """Count the points of a database's transactions, those of this process alone."""
        event.listen(db.engine, "before_cursor_execute", self._statement)
        event.listen(db.engine, "commit", self._committing)
        event.listen(Session, "after_commit", self._committed)

    def forget(self, db: Database) -> None:
        """Count no more; whoever is forked later has points of its own."""
        event.remove(db.engine, "before_cursor_execute", self._statement)
        event.remove(db.engine, "commit", self._committing)
        event.remove(Session, "after_commit", self._committed)

    def _committing(self, _connection: Connection) -> None:
        self.reach("before COMMIT")

    def _committed(self, _session: Session) -> None:
        self.reach("after COMMIT")

    def _statement(self, connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        if not connection.get_execution_options().get(WRITE, False):
            return
        self.reach(" ".join(statement.split())[:100])
        self.renewals += statement.startswith("UPDATE jobs SET lease_until")


def prepare(base: str, database: str) -> None:
    """Make the database that scenes begin with."""
    asyncio.run(_prepare(base, Path(database)))


def rehearse(base: str, folder: str) -> None:
    """Live through a scene in this process, which is to fork: what that has made ready, its children find ready."""
    database = copied(Path(base), Path(folder))
    live("growth", str(database), os.devnull)
    deadline = time.monotonic() + 20
    while threading.active_count() > 1:  # threads are not forked, but the locks they hold are
        assert time.monotonic() < deadline, threading.enumerate()
        gc.collect()
        time.sleep(0.01)


def live(name: str, database: str, report: str, at: int = 0, *, again: bool = False) -> None:
    """Live through a scene to its end, or to the n-th point. `again`: after a kill, and what was begun goes on."""
    asyncio.run(_live(SCENES[name], Path(database), Points(at, Path(report)), again))


async def _prepare(base: str, database: Path) -> None:
    points = Points(0, Path(os.devnull))
    points.renewals = 1  # nobody waits for one
    server, models = _parts(database, points, down=False)
    migrate(server.db.engine)
    await server.start()
    await lay_out(Table(server, models, database), base)
    await server.stop()


async def _live(scene: Scene, database: Path, points: Points, again: bool) -> None:
    server, models = _parts(database, points, down=scene.down)
    table = Table(server, models, database)
    if again:
        let_time_pass(server.db)
    points.watch(server.db)
    with closing(sqlite3.connect(database)) as beside:
        await server.start()
        if not _is(beside, scene.begun):
            await scene.act(table)
            points.say(DONE)
        while not _is(beside, _IDLE):  # noqa: ASYNC110  # what is waited for happens in the database
            await asyncio.sleep(_LOOK_S)
        await server.stop()
    points.forget(server.db)


_IDLE = """SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'running'))
    AND NOT EXISTS (SELECT 1 FROM chats WHERE retry_at IS NOT NULL)"""


def _parts(database: Path, points: Points, *, down: bool) -> tuple[Server, CrashModels]:
    models = CrashModels(points, down=down)
    values: dict[str, Any] = {"database_url": f"sqlite:///{database}", "log_level": "error", "breaker_cooldown_s": 0.1}
    return assemble(Settings(_env_file=None, **values), count=COUNT, models=models, beat_s=BEAT_S), models


def _is(connection: sqlite3.Connection, query: str) -> bool:
    return bool(connection.execute(query).fetchone()[0])
