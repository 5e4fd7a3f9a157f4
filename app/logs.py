"""Logging: structlog, one line an event, on standard error; never texts or keys."""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from traceback import format_tb

import structlog
from structlog.typing import EventDict, WrappedLogger

log = structlog.get_logger()

_VALUES = re.compile(r"\s*[(<\[{'\"\n].*", re.DOTALL)


def configure_logs(level: str) -> None:
    """Lines for people on a terminal, JSON elsewhere; what libraries have to say comes in the same form."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            tell_error,
            _people() if sys.stderr.isatty() else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    if not any(isinstance(handler, Libraries) for handler in logging.root.handlers):
        logging.root.addHandler(Libraries())


def tell_error(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:  # noqa: ARG001  # structlog's call
    """Puts the story of an error in place of the error itself."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else sys.exc_info()[1] if given is True else given
    if isinstance(error, BaseException):
        event["exception"] = story(error)
    return event


def story(error: BaseException) -> str:
    """A traceback without the errors' own words, which may quote a chat, a key or an address: kinds and places only."""
    return "\n\n".join(reversed([*_links(error)]))


def _links(error: BaseException | None) -> Iterator[str]:
    """From an error to what caused it."""
    while error is not None:
        yield f"{''.join(format_tb(error.__traceback__))}{type(error).__module__}.{type(error).__qualname__}"
        if isinstance(error, BaseExceptionGroup):
            for part in error.exceptions:
                yield from _links(part)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _people() -> structlog.dev.ConsoleRenderer:
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


class Libraries(logging.Handler):
    """Logs what libraries log: their warnings and errors, of each only what comes before the values in it."""

    def emit(self, record: logging.LogRecord) -> None:
        """One line."""
        said = {
            "logger": record.name,
            "detail": _VALUES.sub(" …", record.getMessage()),
            "exc_info": record.exc_info,
        }
        with suppress(OSError, ValueError):  # standard error is full, gone or closed: there is nobody to tell
            if record.levelno >= logging.ERROR:
                log.error("library", **said)
            else:
                log.warning("library", **said)
