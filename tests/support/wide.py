"""A table whose model takes many calls at once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.scripted import HeldModels
from tests.support.table import Table, laid

WIDE: dict[str, Any] = {"llm_provider": "openai", "llm_base_url": "http://127.0.0.1:9", "llm_concurrency": 64}
"""Settings of a server whose connection bounds nobody; its models are scripted, so nobody listens there."""


class Held(Table):
    """Its model answers call by call."""

    models: HeldModels


@asynccontextmanager
async def held_table(folder: Path, **settings: Any) -> AsyncIterator[Held]:
    """Such a table, its server running until the block ends."""
    models = HeldModels()
    async with laid(folder, models, **WIDE, **settings) as table:
        yield Held(table.server, models, table.database)
