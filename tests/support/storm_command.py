"""`scripts/storm`: how a server of this machine stands being killed, in figures."""

import random
import shutil
import signal
import statistics
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.support.serving import launch_cold
from tests.support.storm import Figures, Storm


def main(
    kills: Annotated[int, typer.Option(min=1, max=10_000, help="How often the server is killed.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Repeats the choices of an earlier storm; its first line.")] = None,
) -> None:
    """Kill a busy `turnfold serve` with SIGKILL at random moments, start it again, and check all that it promises.

    It uses ports of 127.0.0.1 that are free, a folder of its own, and a model server of its own that is slow and fails
    now and then. It ends only what it started. Exit status 1 when a promise was broken: then the folder is kept.
    """
    seed = random.randrange(1_000_000) if seed is None else seed
    typer.echo(f"seed {seed}")
    folder = Path(tempfile.mkdtemp(prefix="turnfold-storm-"))

    def tell(figures: Figures) -> None:
        if figures.kills % 10 == 0:
            typer.echo(f"kill {figures.kills} of {kills} · {figures.answers:,} answers so far", err=True)

    try:
        figures = Storm(folder, launch_cold, seed, kills, tell=tell).run()
    except BaseException:
        typer.echo(f"The database and the log are in {folder}.", err=True)
        raise
    for line in report(figures):
        typer.echo(line)
    if figures.violations:
        typer.echo(f"The database and the log are in {folder}.", err=True)
        raise typer.Exit(1)
    shutil.rmtree(folder)


def report(figures: Figures) -> list[str]:
    """The figures in words."""
    ready = figures.ready_s
    return [
        f"{figures.kills} kills in {figures.seconds / 60:.1f} minutes, {figures.answers:,} answers to clients",
        f"{figures.messages:,} messages, {figures.calls:,} calls of the model, {figures.folds:,} folds committed",
        f"{figures.jobs:,} jobs, {figures.interrupted:,} interrupted, {figures.resumed:,} of them gone on with",
        f"ready again after {statistics.median(ready):.1f} s (median; at most {max(ready):.1f} s)",
        f"{len(figures.violations)} broken promises",
        *figures.violations,
    ]


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _leave)  # what was started ends with this
    command = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    command.command()(main)
    command(prog_name="scripts/storm")
