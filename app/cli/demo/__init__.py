"""`turnfold demo`: a long story played through the real services, to be watched as it folds."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from app.assembly import Server
from app.cli.database import bring_up_to_date
from app.cli.demo.ending import show_ending
from app.cli.demo.playing import play
from app.cli.demo.screen import show_opening, watching
from app.cli.demo.story import Story, read_story
from app.cli.failing import CannotRun, plain_errors
from app.cli.opening import opened
from app.settings import Settings

_ATTEMPTS = 2
"""A model that does not answer should be heard of while somebody watches."""


@plain_errors()
def demo(turns: int | None, keep: str | None, *, model: bool) -> None:
    """Play the story, or its first `turns`, and show what became of it."""
    story = read_story(turns)
    with _database(keep) as file:
        settings = _settings(file, model=model)
        bring_up_to_date(settings.database_url)
        console = Console(highlight=False)
        show_opening(console, story, settings)
        with opened(settings) as server:
            asyncio.run(_played(server, story, console, keep))


async def _played(server: Server, story: Story, console: Console, keep: str | None) -> None:
    await server.start()
    try:
        moments = []
        with watching(console) as show:
            async for moment in play(server.services, story):
                moments.append(moment)
                show(moment)
        show_ending(console, server.services, story, moments, keep)
    finally:
        await server.stop()


@contextmanager
def _database(keep: str | None) -> Iterator[Path]:
    if keep is None:
        with TemporaryDirectory(prefix="turnfold-demo-", ignore_cleanup_errors=True) as folder:
            yield Path(folder) / "demo.db"
        return
    if Path(keep).exists():
        raise CannotRun(f"{keep} exists already; name a new file for the demo's database.")
    yield Path(keep).absolute()


def _settings(file: Path, *, model: bool) -> Settings:
    url = f"sqlite:///{file}"
    if not model:
        return Settings(database_url=url, llm_provider="extractive")
    settings = Settings(database_url=url, retry_attempts=_ATTEMPTS)
    if settings.llm_provider == "extractive":
        raise CannotRun("--model needs one: set TURNFOLD_LLM_PROVIDER, TURNFOLD_LLM_BASE_URL and TURNFOLD_LLM_MODEL.")
    return settings
