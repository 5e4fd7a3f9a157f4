"""A machine for the tests of the runner."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.machine import Machine


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    """With a database that is migrated."""
    async with AsyncExitStack() as stack:
        machine = Machine(tmp_path, stack)
        first = Database(machine.url)
        migrate(first.engine)
        first.dispose()
        yield machine
