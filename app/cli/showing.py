"""`turnfold status` and `turnfold preview`: a slash command's answer, as text or as data."""

import asyncio

import typer
from pydantic_core import to_json

from app.cli.database import check_up_to_date
from app.cli.failing import plain_errors
from app.cli.opening import opened
from app.settings import Settings


@plain_errors()
def show(chat_id: str, command: str, *, as_json: bool) -> None:
    """Print what a slash command says of a chat."""
    settings = Settings()
    check_up_to_date(settings.database_url)
    with opened(settings) as server:
        result = asyncio.run(server.services.commands.run(chat_id, command))
    typer.echo(to_json(result.data, indent=2).decode() if as_json else printable(result.text))


def printable(text: str) -> str:
    """Without the control characters by which a chat's text could steer the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)
