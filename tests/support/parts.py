"""The parts of a server, without an application around them."""

from functools import cache
from pathlib import Path
from typing import Any

from app.assembly import Models, Server, assemble
from app.llm.tokens import TokenCounter
from app.settings import Settings


@cache
def counter() -> TokenCounter:
    """One counter for all tests: its vocabulary takes a third of a second to load."""
    return TokenCounter()


def assembled(database: Path, *, models: Models | None = None, **settings: Any) -> Server:
    """The parts of a server on a database, without an application around them."""
    values = {"database_url": f"sqlite:///{database}", "log_level": "error", **settings}
    return assemble(Settings(_env_file=None, **values), count=counter(), models=models)
