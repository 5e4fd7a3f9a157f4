"""`turnfold backup` and `turnfold restore`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from app.cli.failing import plain_errors, warn
from app.core.facts import count
from app.settings import Settings
from app.store import backup as copies
from app.store.backup import Watch
from app.store.restore import restore as put_in_place


@plain_errors()
def backup(file: str) -> None:
    """Copy the database, whether a server runs on it or not."""
    database, target = copies.file_of(Settings().database_url), Path(file)
    with _progress("Copying") as watch:
        copies.back_up(database, target, watch)
    typer.echo(f"{database} is copied to {target} ({copies.megabytes(target.stat().st_size)}).")
    _tell_of_key(database)


@plain_errors()
def restore(file: str) -> None:
    """Put a backup in the place of the database; the one that is there is kept beside it."""
    database = copies.file_of(Settings().database_url)
    with _progress("Checking and copying") as watch:
        restored = put_in_place(Path(file), database, watch)
    held = f"{count(restored.chats, 'chat')}, {count(restored.messages, 'message')}"
    typer.echo(f"{database} is now what {file} holds: {held}. If its schema is older, turnfold serve migrates it.")
    if restored.kept is not None:
        typer.echo(f"What was there is in {restored.kept}; delete that once all is well.")


@contextmanager
def _progress(doing: str) -> Iterator[Watch]:
    """A bar on standard error, where somebody looks at it."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell_of_key(database: Path) -> None:
    key = database.with_name(f"{database.name}.key")
    if key.is_file():
        warn(
            f"The API keys of connections can be read only with {key}, which is not in the copy. Keep a copy of it too."
        )
