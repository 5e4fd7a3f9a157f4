"""The parts of a server for the time of one command."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.assembly import Server, assemble
from app.logs import configure_logs
from app.settings import Settings


@contextmanager
def opened(settings: Settings) -> Iterator[Server]:
    """Put together, not started. What can be expected to fail is told by the command, so only bugs are logged."""
    configure_logs("error")
    server = assemble(settings)
    try:
        yield server
    finally:
        server.db.dispose()
