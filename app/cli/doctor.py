"""`turnfold doctor`: what is wrong with the database and the chats in it, and putting it right."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from app.cli.database import database_file
from app.cli.failing import CannotRun, plain_errors
from app.cli.opening import opened
from app.cli.showing import printable
from app.services.checkup import Found, Report, Watch
from app.settings import Settings


@plain_errors()
def doctor(*, fix: bool) -> None:
    """Examine, tell, and end with status 0 only if nothing is left to do."""
    # What chats left to do is a server's work.
    settings = Settings(resume_jobs=False)
    file = database_file(settings.database_url)
    if not file.is_file():
        raise CannotRun(
            f"There is no database at {file}: start in the folder where it is, or set TURNFOLD_DATABASE_URL."
        )
    with opened(settings) as server, _progress() as watch:
        report = server.services.checkup.run(fix=fix, watch=watch)
    _tell(file, report, fix=fix)
    if not all(found.what.fixed for found in report.found):
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Watch]:
    """A bar on standard error, where somebody looks at it; it only moves until the number of chats is known."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Reading the database", total=None)

        def watch(done: int, total: int) -> None:
            progress.update(task, description="Examining chats", completed=done, total=total)

        yield watch


def _tell(file: Path, report: Report, *, fix: bool) -> None:
    console = Console(highlight=False)
    for chat_id, found in groupby(report.found, key=lambda one: one.chat_id):
        console.print(Text(f"Chat {printable(chat_id)}" if chat_id is not None else "Database", "bold"))
        for one in found:
            console.print(_line(one), soft_wrap=True)
    console.print(Text(f"{file}: {_sum(report.found, fix=fix)}"), soft_wrap=True)
    if report.backup is not None:
        console.print(
            Text(f"As it was before, the database is in {report.backup}; delete that once all is well."), soft_wrap=True
        )


def _line(found: Found) -> Text:
    mark, style = ("fixed", "green") if found.what.fixed else ("found", "yellow")
    return Text.assemble("  ", (mark, style), " ", (found.what.code, "bold"), f"  {printable(found.what.detail)}")


def _sum(found: Iterable[Found], *, fix: bool) -> str:
    marks = [one.what.fixed for one in found]
    if not marks:
        return "all is well."
    if all(marks):
        return f"{_things(len(marks))} found, all fixed."
    left = f"{_things(len(marks))} found, {sum(marks)} fixed."
    return left if fix else f"{left} turnfold doctor --fix puts right what has one right way."


def _things(number: int) -> str:
    return f"{number} thing{'' if number == 1 else 's'}"
