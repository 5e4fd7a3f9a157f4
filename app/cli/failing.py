"""How a command says that it could not do what was asked: one line on standard error, and exit status 1."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from alembic.util import CommandError
from pydantic import ValidationError
from sqlalchemy.exc import DatabaseError

from app.errors import TurnfoldError

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C ended, by convention: 128 + SIGINT."""

TERMINATED = 143
"""The same for SIGTERM."""


class CannotRun(TurnfoldError):
    """Something around the command is in its way: a file, a port, a setting."""

    code = "cannot_run"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn what can be expected to go wrong into its line. Also a decorator: `@plain_errors()`."""
    try:
        yield
    except TurnfoldError as error:
        raise fail(error.detail) from None
    except ValidationError as error:
        raise fail(f"{_settings(error)}. Correct it in the environment or in .env.") from None
    except CommandError as error:
        raise fail(f"The database's schema is not one this version knows ({error}); update Turnfold.") from None
    except DatabaseError as error:
        raise fail(f"The database cannot be used: {error.orig}. Look at TURNFOLD_DATABASE_URL.") from None
    except KeyboardInterrupt:
        raise fail("Stopped.", INTERRUPTED) from None
    except BrokenPipeError:
        raise  # whoever read has seen enough; typer ends quietly
    except OSError as error:
        raise fail(f"{_place(error)}{error.strerror or error}.") from None


def fail(detail: str, status: int = 1) -> typer.Exit:
    """Say it; raise what this returns."""
    typer.echo(f"turnfold: {' '.join(detail.split())}", err=True)
    return typer.Exit(status)


def warn(detail: str) -> None:
    """Say something a person should know although all goes on."""
    typer.echo(f"turnfold: warning: {' '.join(detail.split())}", err=True)


def _settings(error: ValidationError) -> str:
    """What is wrong with the settings, without their values: one of them may be a key."""
    return "; ".join(f"TURNFOLD_{_name(wrong['loc'])}: {wrong['msg']}" for wrong in error.errors())


def _name(place: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in place).upper()


def _place(error: OSError) -> str:
    return f"{error.filename}: " if error.filename else ""
