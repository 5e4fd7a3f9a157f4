"""`turnfold compare`: one chat played through every strategy, and what each of them takes."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from sqlalchemy import event

from app.assembly import Server
from app.cli.comparing.meter import Meter
from app.cli.comparing.picture import draw
from app.cli.comparing.playing import Stage, play
from app.cli.comparing.report import Played, show, show_opening, summarizer, to_json
from app.cli.comparing.source import read_source
from app.cli.database import bring_up_to_date
from app.cli.failing import INTERRUPTED, CannotRun, fail, plain_errors
from app.cli.opening import opened
from app.cli.progress import progress_bar
from app.core.comparison import Moment
from app.core.errors import BudgetError
from app.core.facts import count
from app.core.model import Strategy
from app.core.trim import resolve_budget
from app.llm.tokens import TokenCounter
from app.settings import Settings

_CHART = "compare.svg"
STRATEGIES = tuple(strategy.value for strategy in Strategy)
_ATTEMPTS = 2
"""A model that does not answer should be heard of while somebody watches."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for. `model`: summarize with that of the environment; `chart` None: draw none."""

    file: str
    turns: int | None
    context_size: int
    max_tokens: int | None
    strategies: tuple[str, ...]
    model: bool
    chart: Path | None
    as_json: bool

    @property
    def budget(self) -> int:
        """Tokens a prompt may have. Raises CannotRun when the sizes do not fit together."""
        try:
            budget = resolve_budget(self.context_size, self.max_tokens)
        except BudgetError as error:
            raise CannotRun(f"{error} Change --max-tokens or --context-size.") from None
        assert budget is not None  # context_size is given
        return budget


@plain_errors()
def compare(
    file: str,
    *,
    turns: int | None,
    context_size: int,
    max_tokens: int | None,
    strategies: str,
    model: bool,
    chart: str | None,
    as_json: bool,
) -> None:
    """Play the chat, or its first `turns`, through `strategies` (comma-separated); show, and draw, what came of it."""
    drawn = chart or (None if as_json else _CHART)
    wish = Wish(file, turns, context_size, max_tokens, _strategies(strategies), model, _chart(drawn), as_json)
    budget, settings = wish.budget, _settings(model=model)
    console = Console(highlight=False, stderr=as_json)
    rows: list[list[Moment]] = []
    stopped = False
    with _stage(settings, wish) as (server, stage):
        try:
            asyncio.run(_played(server, stage, wish, rows, console))
        except KeyboardInterrupt:
            stopped = True
    if rows:
        _tell(wish, Played(file, summarizer(settings), budget, _columns(wish.strategies, rows)), console)
    if stopped:
        raise fail(f"Stopped after {count(len(rows), 'turn')}.", INTERRUPTED)


async def _played(server: Server, stage: Stage, wish: Wish, rows: list[list[Moment]], console: Console) -> None:
    """Fill `rows`, a moment per strategy each; they are whole however this ends."""
    source = await read_source(server, wish.file, wish.turns)
    show_opening(console, wish.file, source, server.settings, wish.strategies)
    await server.start()
    try:
        with progress_bar() as bar:
            task = bar.add_task("Playing", total=len(source.turns))
            async for row in play(stage, source, wish.strategies):
                rows.append(row)
                bar.advance(task)
    finally:
        await server.stop()


@contextmanager
def _stage(settings: Settings, wish: Wish) -> Iterator[tuple[Server, Stage]]:
    """A server on a database that is thrown away."""
    with TemporaryDirectory(prefix="turnfold-compare-", ignore_cleanup_errors=True) as folder:
        placed = settings.model_copy(update={"database_url": f"sqlite:///{Path(folder) / 'compare.db'}"})
        bring_up_to_date(placed.database_url)
        counter = TokenCounter()
        meter = Meter(counter)
        with opened(placed, count=counter, through=meter.before) as server:
            event.listen(server.db.engine, "connect", _careless)
            yield server, Stage(server.services, meter, wish.context_size, wish.max_tokens)


def _careless(connection: Any, _record: object) -> None:
    """Nobody misses this database after a power cut."""
    connection.execute("PRAGMA synchronous = OFF")


def _settings(*, model: bool) -> Settings:
    if not model:
        return Settings(llm_provider="extractive")
    settings = Settings(retry_attempts=_ATTEMPTS)
    if settings.llm_provider == "extractive":
        raise CannotRun(
            "--connection-from-env needs a connection: set TURNFOLD_LLM_PROVIDER, TURNFOLD_LLM_BASE_URL and"
            " TURNFOLD_LLM_MODEL."
        )
    return settings


def _strategies(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in STRATEGIES]
    if unknown or not names:
        known = ", ".join(STRATEGIES)
        raise CannotRun(f"There is no strategy {', '.join(unknown)!r}; name some of {known}, with commas between.")
    return names


def _chart(name: str | None) -> Path | None:
    """Where the chart goes; said before the work, not after it."""
    if name is None:
        return None
    path = Path(name)
    if path.suffix.lower() != ".svg":
        raise CannotRun(f"The chart is an SVG picture: {name} should end in .svg.")
    if not path.absolute().parent.is_dir():
        raise CannotRun(f"The folder of {name} does not exist; create it, or choose another with --chart.")
    return path


def _columns(strategies: Sequence[str], rows: Sequence[Sequence[Moment]]) -> dict[str, list[Moment]]:
    return {strategy: [row[place] for row in rows] for place, strategy in enumerate(strategies)}


def _tell(wish: Wish, played: Played, console: Console) -> None:
    if wish.as_json:
        sys.stdout.write(to_json(played) + "\n")
    else:
        show(console, played)
    if wish.chart is not None:
        wish.chart.write_text(draw(played), encoding="utf-8")
        console.print(f"\nChart: {wish.chart}", soft_wrap=True)
