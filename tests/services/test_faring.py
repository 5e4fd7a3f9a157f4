"""News of connections that fare otherwise than before."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from app.core.health import Health
from app.services.faring import Faring
from app.store import events
from tests.support.scripted import ScriptedModels
from tests.support.table import Table, laid

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAILING = Health("failing", NOON, "It answered 503.")
RESTING = Health("cooling_down", NOON, "It answered 503.")


class Ailing(ScriptedModels):
    """Models that fare as a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.fares: dict[str, Health] = {}

    def healths(self) -> dict[str, Health]:
        return self.fares


@pytest.fixture
def models() -> Ailing:
    return Ailing()


@pytest.fixture
async def table(tmp_path: Path, models: Ailing) -> AsyncIterator[Table]:
    async with laid(tmp_path, models) as table:
        yield table


def told(table: Table) -> int:
    """How often connections were told of."""
    with table.server.db.read() as session:
        found = events.of_all(session, 0, 100).found
    assert {(one.kind, one.data["why"]) for one in found} <= {("settings", "connections")}
    return len(found)


def test_each_change_is_told_once(table: Table, models: Ailing) -> None:
    """A connection that fails, rests, rests longer, is asked again and is well is told each time, and only then."""
    faring = Faring(table.server.db, models)
    steps: tuple[tuple[dict[str, Health], int], ...] = (
        ({"near": Health("ok")}, 0),  # called for the first time
        ({"near": FAILING}, 1),
        ({"near": Health("failing", NOON + timedelta(seconds=4), "Another time.")}, 1),  # an attempt more
        ({"near": RESTING}, 2),
        ({"near": Health("cooling_down", NOON + timedelta(seconds=60))}, 3),
        ({"near": FAILING, "far": Health("ok")}, 4),
        ({"near": Health("ok"), "far": Health("ok")}, 5),
        ({}, 5),  # forgotten
    )
    for fares, times in steps:
        models.fares = fares
        for _ in range(2):
            faring.tell()
            assert told(table) == times


def test_what_the_database_does_not_take_is_told_later(table: Table, models: Ailing) -> None:
    """A look that fails leaves the news to the next one."""
    faring = Faring(table.server.db, models)
    models.fares = {"near": FAILING}
    table.sql("ALTER TABLE events RENAME TO away")
    with pytest.raises(OperationalError):
        faring.tell()
    table.sql("ALTER TABLE away RENAME TO events")
    faring.tell()
    assert told(table) == 1
