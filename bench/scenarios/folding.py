"""What surrounds a call to a model: reading, planning and rendering before it, committing after it."""

import asyncio
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from bench.chats import fold_all, load, parts
from bench.figures import Aim, Figure
from bench.measuring import Spread, seconds, spread
from bench.prose import lines
from bench.session import Session

_SAMPLE = 100


def folding(session: Session) -> list[Figure]:
    """The time between two calls, with a model that answers at once, in a long backlog; merges included."""
    turns = session.scale.backlog_turns
    server, stub = parts(session.folder / "folding.db")
    try:
        load(server, "backlog", 2 * turns)

        async def run() -> None:
            await server.runner.start()
            await fold_all(server, "backlog")
            await server.runner.stop()

        asyncio.run(run())
    finally:
        server.db.dispose()
    gaps = [1000 * (after - before) for before, after in pairwise(stub.calls)]
    floor = spread([1000 * took for took in _commits(session.folder / "commits.db")])
    value = spread(gaps)
    return [
        Figure(
            scenario="folding",
            what=f"work around one model call, backlog of {turns:,} turns",
            unit="ms",
            value=value,
            floor_name="a durable commit of one row",
            floor=floor,
            ratio=Spread(value.low / floor.median, value.median / floor.median, value.high / floor.median),
            aim=Aim("value", "at most", 10),
        )
    ]


def _commits(path: Path) -> list[float]:
    said = lines(seed=5)
    with closing(sqlite3.connect(path)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = FULL")
        plain.execute("CREATE TABLE lines (text TEXT)")

        def commit() -> None:
            plain.execute("INSERT INTO lines VALUES (?)", (next(said),))
            plain.commit()

        return [seconds(commit) for _ in range(_SAMPLE)]
