"""`turnfold backlog`: what folding an old chat would take, the choice, and the work before one's eyes."""

import asyncio
import sys

import typer

from app.assembly import Server
from app.cli.database import check_up_to_date
from app.cli.failing import INTERRUPTED, CannotRun, fail, plain_errors
from app.cli.following import Followed, command, fold
from app.cli.opening import opened
from app.cli.showing import printable
from app.core.facts import count
from app.core.folding import is_backlog
from app.core.settings import LayeredSettings
from app.services.reporting import Status
from app.services.steering import Choice
from app.settings import Settings

_MEANS: dict[Choice, str] = {
    "all": "fold everything outside the window now",
    "one": "fold one batch now, then one more with every reply",
    "skip": "leave these turns as they are; nothing is hidden",
}
_NO_MEMORY = {
    "strategy_none": "keeps no memory: its strategy is none",
    "disabled": "does not fold: its memory is disabled",
}


@plain_errors()
def backlog(chat_id: str, choices: list[Choice]) -> None:
    """Carry the choice out, or ask for it."""
    if len(choices) > 1:
        raise CannotRun(f"--{choices[0]} and --{choices[1]} cannot both be done; choose one.")
    # What other chats left to do is a server's work.
    settings = Settings(resume_jobs=False)
    check_up_to_date(settings.database_url)
    with opened(settings) as server:
        choice = choices[0] if choices else _asked(server, chat_id)
        if choice == "skip":
            _skip(server, chat_id)
        elif choice is not None:
            _tell(server, chat_id, choice, fold(server, chat_id, choice))


def _asked(server: Server, chat_id: str) -> Choice | None:
    """The answer of whoever sits there; None if the chat has no backlog to ask about."""
    status = server.services.reporting.status(chat_id)
    if not _has_backlog(server, chat_id, status):
        typer.echo(f"Chat {printable(chat_id)} has no backlog. {_waiting(chat_id, status)}".rstrip())
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        choices = ", ".join(f"`{command(chat_id, choice)}` ({means})" for choice, means in _MEANS.items())
        raise CannotRun(f"{_cost(chat_id, status)} Say what to do: {choices}.")
    typer.echo(_cost(chat_id, status), err=True)
    for choice, means in _MEANS.items():
        typer.echo(f"  {choice:5} {means}", err=True)
    return _answer()


def _answer() -> Choice:
    try:
        answer: Choice = typer.prompt(", ".join(_MEANS), value_proc=_read, prompt_suffix="? ", err=True)
    except typer.Abort:
        raise fail("Nothing was changed.", INTERRUPTED) from None
    return answer


def _read(text: str) -> Choice:
    """The choice that was typed; its first letters do."""
    for choice in _MEANS:
        if text.strip() and choice.startswith(text.strip().lower()):
            return choice
    raise typer.BadParameter(f"{text!r} is none of {', '.join(_MEANS)}.")


def _has_backlog(server: Server, chat_id: str, status: Status) -> bool:
    layered = server.services.keeping.get(chat_id).effective_settings["layered"]
    return is_backlog(status.backlog.turns, LayeredSettings(**layered))


def _waiting(chat_id: str, status: Status) -> str:
    """What there is although it is no backlog."""
    few, skipped = status.backlog.turns, status.counts.skipped
    told = [f"Outside its window: {count(few, 'turn')}, to be folded as it goes on."] if few else []
    told += [f"Skipped: {count(skipped, 'turn')}."] if skipped else []
    return " ".join([*told, f"`{command(chat_id, 'all')}` folds them now."]) if told else ""


def _cost(chat_id: str, status: Status) -> str:
    """Turns, batches, calls and tokens, and who would be paid for them."""
    size, connection = status.backlog, status.connection
    told = [
        f"Chat {printable(chat_id)}: {size.turns:,} turns wait to be folded, in {size.batches:,} batches.",
        f"That takes about {size.estimated_calls:,} calls with {size.estimated_input_tokens:,} input tokens in all,"
        f" to connection {connection.name!r} ({connection.model or connection.provider}).",
    ]
    if connection.provider == "extractive":
        told[1] = "The built-in summarizer folds them: no model is called, and it costs nothing."
    if status.job is not None:
        told.append(f"A job is at work already: {status.job.progress.done} of {status.job.progress.total} batches.")
    return " ".join(told)


def _skip(server: Server, chat_id: str) -> None:
    turns = server.services.steering.skip(chat_id)
    if not turns:
        raise CannotRun(f"Chat {printable(chat_id)} has no backlog to skip.")
    typer.echo(f"{turns} turns stay as they are; nothing is hidden. `{command(chat_id, 'all')}` folds them after all.")


def _tell(server: Server, chat_id: str, choice: Choice, followed: Followed) -> None:
    """How the memory stands now; or that there was nothing to do, which is what was asked only if that was `all`."""
    if followed.job is not None:
        typer.echo(printable(asyncio.run(server.services.commands.run(chat_id, "/sc-status")).text))
        return
    why = _NO_MEMORY.get(followed.reason or "", "has no backlog: nothing outside its window waits to be folded")
    told = f"Chat {printable(chat_id)} {why}."
    if choice != "all" or followed.reason in _NO_MEMORY:
        raise CannotRun(told)
    typer.echo(told)
