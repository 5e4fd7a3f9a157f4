"""The database a command works on: where it is, whether it can be used, and its schema."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.migration import MigrationContext
from sqlalchemy import Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from app.cli.failing import CannotRun
from app.store.engine import make_engine, sqlite_file
from app.store.migrate import is_current, migrate


def database_file(url: str) -> Path:
    """The file of a SQLite database. Raises CannotRun for any other database."""
    try:
        backend = make_url(url).get_backend_name()
    except ArgumentError:
        raise CannotRun("TURNFOLD_DATABASE_URL is no database address; write sqlite:///FILE.") from None
    file = sqlite_file(url) if backend == "sqlite" else None
    if file is None:
        raise CannotRun(
            "This version keeps chats in a SQLite file: set TURNFOLD_DATABASE_URL to sqlite:///FILE."
            " (Another database would first need `turnfold migrate`.)"
        )
    return file


def bring_up_to_date(url: str) -> tuple[str | None, str | None]:
    """Make the database or migrate it; its revisions before and after. Raises CannotRun when it cannot be written."""
    file = database_file(url)
    _check_writable(file)
    with _engine(url) as engine:
        before = _revision(engine)
        if before is None or not is_current(engine):
            migrate(engine)
        return before, _revision(engine)


def check_up_to_date(url: str) -> None:
    """Raises CannotRun when there is no database or it has another schema."""
    file = database_file(url)
    if not file.is_file():
        raise CannotRun(
            f"There is no database at {file}: start in the folder where it is, or set TURNFOLD_DATABASE_URL."
        )
    with _engine(url) as engine:
        if not is_current(engine):
            raise CannotRun(f"The database {file} has another schema than this version; run `turnfold migrate`.")


def _check_writable(file: Path) -> None:
    folder = file.absolute().parent
    if not folder.is_dir():
        raise CannotRun(
            f"The folder {folder} for the database does not exist; create it, or set TURNFOLD_DATABASE_URL."
        )
    # SQLite writes more files beside the database, so the folder counts too.
    for place in (folder, file):
        if place.exists() and not os.access(place, os.W_OK):
            raise CannotRun(f"{place} cannot be written; change its permissions, or set TURNFOLD_DATABASE_URL.")
    if file.is_dir():
        raise CannotRun(f"{file} is a folder; TURNFOLD_DATABASE_URL must name a file.")


@contextmanager
def _engine(url: str) -> Iterator[Engine]:
    engine = make_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
