"""The parts of a server for the time of one command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.assembly import Models, Server, assemble
from app.logs import configure_logs
from app.services.ports import Counter
from app.settings import Settings


@contextmanager
def opened(
    settings: Settings, *, count: Counter | None = None, through: Callable[[Models], Models] | None = None
) -> Iterator[Server]:
    """Put together, not started. What can be expected to fail is told by the command, so only bugs are logged."""
    configure_logs("error")
    server = assemble(settings, count=count, through=through)
    try:
        yield server
    finally:
        server.db.dispose()
