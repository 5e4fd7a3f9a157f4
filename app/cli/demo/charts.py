"""Bars and curves in characters."""

from collections.abc import Sequence

from rich.text import Text

_LEVELS = "▁▂▃▄▅▆▇█"


def curve(values: Sequence[int], highest: int, width: int) -> str:
    """`values` as a line of at most `width` blocks; several curves with one `highest` can be compared."""
    wide = min(width, len(values))
    picked = [values[(place + 1) * len(values) // wide - 1] for place in range(wide)]
    return "".join(_LEVELS[min(7, value * 8 // max(1, highest))] for value in picked)


def bar(value: float, full: float, width: int, style: str) -> Text:
    """How much of `full` there is."""
    cells = min(width, round(width * value / full)) if full else 0
    return Text("█" * cells, style).append("░" * (width - cells), "bright_black")


def clip(text: str, width: int) -> str:
    """On one line of at most `width` characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
