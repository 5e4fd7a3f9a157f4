"""When the database itself does not answer, and what to say about it."""

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError, TimeoutError

UNAVAILABLE = (OperationalError, TimeoutError)
"""Locked, full, away, or with no connection left: it passes, so what was asked may be asked again."""

_REASONS = {
    "is locked": "other work kept it locked",
    "deadlock": "other work kept it locked",
    "disk is full": "its disk is full",
    "no space left": "its disk is full",
    "readonly": "it is read-only",
}
"""Words of SQLite's and PostgreSQL's messages, and what they mean."""


def reason(error: SQLAlchemyError) -> str:
    """Why the database did not answer, for people."""
    words = cause(error).lower()
    return next((meaning for part, meaning in _REASONS.items() if part in words), "it did not answer")


def cause(error: SQLAlchemyError) -> str:
    """The driver's message, without statement and parameters, which hold chat text."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__
