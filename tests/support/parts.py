"""The parts of a server, without an application around them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.assembly import Models, Server, assemble
from app.llm.tokens import TokenCounter
from app.settings import Settings
from app.store.engine import Database
from app.store.migrate import migrate


@cache
def counter() -> TokenCounter:
    """One counter for all tests: its vocabulary takes a third of a second to load."""
    return TokenCounter()


@cache
def _empty() -> bytes:
    """The file of a database without chats: to migrate one for each test takes longer than most tests do."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "turnfold.db"
        db = Database(f"sqlite:///{file}")
        migrate(db.engine)
        db.dispose()
        return file.read_bytes()


def lay_database(file: Path) -> None:
    """Put a migrated database without chats there, if nothing is there yet."""
    if not file.exists() and file.parent.exists():
        file.write_bytes(_empty())


def assembled(database: Path, *, models: Models | None = None, **settings: Any) -> Server:
    """The parts of a server on a database, without an application around them; one that is not there yet is made."""
    lay_database(database)
    values = {"database_url": f"sqlite:///{database}", "log_level": "error", **settings}
    return assemble(Settings(_env_file=None, **values), count=counter(), models=models)
