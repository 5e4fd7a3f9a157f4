"""The machine, and the table of results."""

import os
import platform
import sqlite3
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from bench.figures import Figure
from bench.measuring import Spread


def machine() -> str:
    """What it ran on."""
    return (
        f"{os.cpu_count()} cores · {platform.system()} {platform.machine()} · Python {platform.python_version()}"
        f" · SQLite {sqlite3.sqlite_version}"
    )


def load() -> str:
    """How busy the machine was in the last minute, five and fifteen: how many wanted a core."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def table(figures: Iterable[Figure]) -> Table:
    """One row a figure; medians, with quartiles where there are several values."""
    shown = Table(show_lines=False, box=None, pad_edge=False)
    for name in ("scenario", "what", "measured", "floor", "ratio", "aim", ""):
        shown.add_column(name, overflow="fold")
    for figure in figures:
        aim = figure.aim
        sign = "≤" if aim.bound == "at most" else "≥"
        of = "×" if aim.of == "ratio" else f" {figure.unit}"
        shown.add_row(
            figure.scenario,
            figure.what,
            f"{_told(figure.value)} {figure.unit}",
            f"{figure.floor_name}: {_told(figure.floor)} {figure.unit}",
            f"{_told(figure.ratio)}×",
            f"{sign} {_number(aim.value)}{of}",
            "met" if figure.met else "missed",
        )
    return shown


def console() -> Console:
    """As wide as the terminal; wide where there is none, so that a file or a log holds whole lines."""
    found = Console()
    return found if found.is_terminal else Console(width=200)


def _told(values: Spread) -> str:
    if values.low == values.high:
        return _number(values.median)
    return f"{_number(values.median)} ({_number(values.low)}–{_number(values.high)})"


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
