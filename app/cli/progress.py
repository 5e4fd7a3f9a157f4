"""The bar of a command that takes its time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from app.core.progress import Progress as Batches

Show = Callable[[Batches, str], None]


def progress_bar() -> Progress:
    """A bar on standard error, where somebody looks at it; gone when the work is done."""
    return _bar(BarColumn(), TaskProgressColumn(), TimeRemainingColumn())


@contextmanager
def job_bar() -> Iterator[Show]:
    """The same for a job: it counts batches, and says what the job waits for, else how long the rest may take."""
    with _bar(BarColumn(), MofNCompleteColumn(), TaskProgressColumn(), TextColumn("{task.fields[told]}")) as bar:
        task = bar.add_task("Folding", total=None, told="")

        def show(batches: Batches, waits: str) -> None:
            bar.update(task, completed=batches.done, total=batches.total, told=told(batches, waits))

        yield show


def told(batches: Batches, waits: str) -> str:
    """What a bar cannot draw: how many batches failed, and what is waited for or how long the rest may take."""
    failed = f"{batches.failed} failed" if batches.failed else ""
    left = f"{spoken(batches.eta_s)} left" if batches.eta_s is not None else ""
    return ", ".join(filter(None, (failed, waits or left)))


def spoken(seconds: float) -> str:
    """A length of time as one says it: `45 s`, `12 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _bar(*columns: BarColumn | MofNCompleteColumn | TaskProgressColumn | TextColumn | TimeRemainingColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"), *columns, console=console, transient=True, disable=not console.is_terminal
    )
