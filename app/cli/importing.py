"""`turnfold import`: straight into the database, whether a server runs on it or not."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import typer

from app.assembly import Server
from app.cli import following
from app.cli.database import bring_up_to_date
from app.cli.failing import CannotRun, plain_errors, warn
from app.cli.opening import opened
from app.cli.progress import progress_bar
from app.cli.showing import printable
from app.services.importing import Imported
from app.settings import Settings


@plain_errors()
def import_chat(
    file: str, *, chat_id: str | None, title: str | None, format: str | None, memory: str | None, fold: bool
) -> None:
    """Import a file, and the memory beside it if there is one; tell what came in, and fold it if that is asked for."""
    # What other chats left to do is a server's work.
    settings = Settings(resume_jobs=False)
    bring_up_to_date(settings.database_url)
    with opened(settings) as server:
        with open_stream(file) as (stream, size), _beside(memory) as store, progress_bar() as progress:
            source = progress.wrap_file(stream, total=size, description="Reading")
            imported = server.services.importing.load(source, chat_id=chat_id, title=title, format=format, memory=store)
        _tell(imported)
        if fold:
            _fold(server, imported.chat_id)
        else:
            _tell_what_waits(server, imported.chat_id)


@contextmanager
def _beside(memory: str | None) -> Iterator[BinaryIO | None]:
    if memory is None:
        yield None
        return
    with open_stream(memory) as (stream, _):
        yield stream


@contextmanager
def open_stream(file: str) -> Iterator[tuple[BinaryIO, int]]:
    """A file, or standard input for -, as a stream that can be rewound; and its bytes. Raises CannotRun."""
    if file != "-":
        if not Path(file).is_file():
            raise CannotRun(f"There is no file {file}; name a chat file, or - for standard input.")
        with Path(file).open("rb") as stream:
            yield stream, Path(file).stat().st_size
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        size = copy.tell()
        copy.seek(0)
        yield copy, size


def _tell(imported: Imported) -> None:
    count = f"{imported.messages} {'message' if imported.messages == 1 else 'messages'}"
    memory = f", {imported.snippets} {'snippet' if imported.snippets == 1 else 'snippets'}" if imported.snippets else ""
    typer.echo(f"Imported chat {imported.chat_id}: {count}{memory}.")
    for warning in imported.warnings:
        warn(warning.detail)


def _tell_what_waits(server: Server, chat_id: str) -> None:
    backlog = server.services.reporting.status(chat_id).backlog
    if backlog.choice_needed:
        typer.echo(
            f"{backlog.turns} turns wait to be folded ({backlog.estimated_calls} calls): a server waits for a choice,"
            f" and `{following.command(chat_id)}` asks for it."
        )


def _fold(server: Server, chat_id: str) -> None:
    following.fold(server, chat_id, "all")
    typer.echo(printable(asyncio.run(server.services.commands.run(chat_id, "/sc-status")).text))
