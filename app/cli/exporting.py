"""`turnfold export`: straight from the database, whether a server runs on it or not."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import typer

from app.cli.database import check_up_to_date
from app.cli.failing import CannotRun, plain_errors
from app.cli.opening import opened
from app.cli.progress import progress_bar
from app.services.exporting import Exported
from app.settings import Settings


@plain_errors()
def export_chat(chat_id: str, *, format: str, output: str | None) -> None:
    """Write a chat to a file, which is there whole or not at all; without one, to standard output."""
    settings = Settings()
    check_up_to_date(settings.database_url)
    with opened(settings) as server, progress_bar() as progress:
        task = progress.add_task("Writing", total=None)
        found = server.services.exporting.export(
            chat_id, format, lambda done, total: progress.update(task, completed=done, total=total)
        )
    with found.file:
        _hand_over(found, output)


def _hand_over(found: Exported, output: str | None) -> None:
    if output is None or output == "-":
        shutil.copyfileobj(found.file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    with _in_place_of(Path(output)) as target:
        shutil.copyfileobj(found.file, target)
    typer.echo(f"Exported to {output}: {found.size} bytes.", err=True)


@contextmanager
def _in_place_of(file: Path) -> Iterator[IO[bytes]]:
    """What takes the place of a file when all is written; a device or a pipe is written to as it is."""
    if file.is_dir():
        raise CannotRun(f"{file} is a folder; name a file in it.")
    if file.exists() and not file.is_file():
        with file.open("wb") as device:
            yield device
        return
    file = file.resolve()  # a link stays one
    with ExitStack() as stack:
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as target:
            stack.callback(Path(target.name).unlink, missing_ok=True)
            yield target
            target.flush()
            os.fsync(target.fileno())
        Path(target.name).replace(file)
