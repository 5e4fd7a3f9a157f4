"""What services need from elsewhere; `app.assembly` chooses who provides it."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar, TypeVarTuple

from app.core.health import Health, Pending, Trial
from app.core.summary import Connection
from app.core.summary import Counter as Counter  # what services count with; models are spoken to with it too

T = TypeVar("T")
Args = TypeVarTuple("Args")


class Counters(Protocol):
    """The counters of all models."""

    def of(self, model: str | None) -> Counter:
        """Counts as the model of this name does; None is no model, "" one whose name is not known."""
        ...


class InThread(Protocol):
    """Makes a database call in a thread, and again while the database is locked, full or away.

    Raises what the call raises; `app.store.faults.UNAVAILABLE` only when it has waited long enough.
    """

    async def __call__(self, call: Callable[[*Args], T], /, *args: *Args) -> T: ...


class Runner(Protocol):
    """Runs queued jobs in the background."""

    def poke(self, job_id: str) -> None:
        """Start a queued job soon; from any thread."""
        ...

    async def cancel(self, job_id: str) -> None:
        """Cut what the job is doing, its call to the model included, and wait until it is cut."""
        ...

    async def wait(self, job_id: str, seconds: float) -> bool:
        """Wait until the job has ended; False if it has not by then."""
        ...


class ModelServers(Protocol):
    """What can be asked of a connection besides summaries."""

    async def models(self, connection: Connection) -> list[str]: ...

    async def test(self, connection: Connection) -> Trial: ...

    def health(self, name: str) -> Health: ...

    def healths(self) -> Mapping[str, Health]:
        """Of the connections that this process has called since they were last changed, by name."""
        ...

    def pending(self, chat: str) -> Pending | None:
        """How the summary fares that a chat waits for; None if this process asks no model for one."""
        ...

    def silent(self, chat: str, seconds: float) -> None:
        """That summary is given up after so many seconds: a failed batch of its connection, if that was asked."""
        ...

    def forget(self, name: str) -> None:
        """A person changed the connection: what was known of it counts no more."""
        ...
