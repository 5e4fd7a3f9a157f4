"""What a comparison says: a table and curves for people, JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic_core import to_json as as_json
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.cli.comparing.source import Source
from app.cli.demo.charts import curve
from app.cli.showing import printable
from app.core.comparison import Account, Moment, account, foresee_calls
from app.core.facts import count
from app.core.resolving import resolve
from app.settings import Settings

STYLES: Mapping[str, str] = {"layered": "blue", "rolling": "red", "summary_buffer": "green", "none": "bright_black"}
_BUILT_IN = "the built-in extractive summarizer"
_COLUMNS = (
    "strategy",
    "median\nprompt",
    "largest\nprompt",
    "summary\ncalls",
    "summary\ntokens",
    "reusable\nprompt",
    "turns\nverbatim",
    "in\nmemory",
    "in\nneither",
)
_LEGEND = (
    "Prompts in tokens. Reusable: the part of a prompt that the one before began with, on average."
    " The last three columns: where the past turns were when the last reply was asked for."
)
_LIKE_A_MODEL = " Summary calls and tokens are those a model in the place of the built-in summarizer would have had."


@dataclass(frozen=True, slots=True)
class Played:
    """A comparison: of which file, who summarized, the tokens a prompt could have, and the moments by strategy."""

    file: str
    summarizer: str
    budget: int
    moments: Mapping[str, Sequence[Moment]]

    @property
    def turns(self) -> int:
        """How many were played."""
        return len(next(iter(self.moments.values())))

    @property
    def accounts(self) -> list[Account]:
        """What each strategy came to."""
        return [account(strategy, moments) for strategy, moments in self.moments.items()]


def summarizer(settings: Settings) -> str:
    """Who writes the summaries."""
    if settings.llm_provider == "extractive":
        return _BUILT_IN
    return f"{settings.llm_model or 'the model'} at {settings.llm_base_url}"


def show_opening(console: Console, file: str, source: Source, settings: Settings, strategies: Sequence[str]) -> None:
    """What is played, and who summarizes at which price."""
    size = f"{count(len(source.turns), 'turn')}, {count(source.messages, 'message')}"
    named = Text(printable(Path(file).name), "bold").append(f": {size}, {source.tokens:,} tokens", "not bold")
    console.print(named, soft_wrap=True)
    who = summarizer(settings)
    console.print(Text(f"Summaries: {who}{', offline' if who == _BUILT_IN else ''}."), soft_wrap=True)
    if who != _BUILT_IN:
        console.print(f"That takes {_price(source, strategies)}.", soft_wrap=True)
    elif Settings().llm_provider != "extractive":
        console.print(
            f"With --connection-from-env the model of your settings would write them, in {_price(source, strategies)}.",
            soft_wrap=True,
        )


def _price(source: Source, strategies: Sequence[str]) -> str:
    settings, _ = resolve({}, source.fields["settings"])
    costs = [turn.cost for turn in source.turns]
    calls = {strategy: foresee_calls(strategy, costs, settings) for strategy in strategies}
    each = ", ".join(f"{strategy} {made}" for strategy, made in calls.items() if made)
    return f"about {count(sum(calls.values()), 'call')}" + (f": {each}" if each else "")


def show(console: Console, played: Played) -> None:
    """Print the table, and the tokens sent turn by turn."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bright_black")
    for place, title in enumerate(_COLUMNS):
        table.add_column(title, justify="right" if place else "left", no_wrap=True, vertical="bottom")
    for line in played.accounts:
        table.add_row(Text(line.strategy, STYLES.get(line.strategy, "")), *_cells(line))
    console.print()
    console.print(table)
    built_in = played.summarizer == _BUILT_IN
    console.print(Text(f"\n{_LEGEND}{_LIKE_A_MODEL if built_in else ''}", "bright_black"))
    _show_curves(console, played)


def _show_curves(console: Console, played: Played) -> None:
    console.print(Text("\nTokens sent, turn by turn", "bold"))
    room = max(10, min(70, console.width - 26))
    highest = max(moment.sent for moments in played.moments.values() for moment in moments)
    for strategy, moments in played.moments.items():
        sent = [moment.sent for moment in moments]
        line = Text(f"{strategy:<15} ").append(curve(sent, highest, room), STYLES.get(strategy, ""))
        console.print(line.append(f" {sent[-1]:>7,}"), no_wrap=True)


def _cells(line: Account) -> list[str]:
    numbers = (line.median_sent, line.peak_sent, line.calls, line.summarizing)
    ends = (line.verbatim, line.in_memory, line.dropped)
    return [*(f"{n:,}" for n in numbers), f"{line.reusable:.0%}", *(f"{n:,}" for n in ends)]


def to_json(played: Played) -> str:
    """All of it as data."""
    by_name = {line.strategy: line for line in played.accounts}
    shown = {
        "file": played.file,
        "turns": played.turns,
        "budget": played.budget,
        "summarizer": played.summarizer,
        "strategies": [
            {**asdict(by_name[strategy]), "per_turn": [asdict(moment) for moment in moments]}
            for strategy, moments in played.moments.items()
        ],
    }
    return as_json(shown, indent=2).decode()
