"""Threads for database calls, and bearing with a database that is away for a while."""

import pytest
import structlog
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.jobs.threads import ATTEMPTS, Patience, Threads

LOCKED = OperationalError("…", None, Exception("database is locked"))
WRONG = IntegrityError("…", None, Exception("UNIQUE constraint failed"))


class Store:
    """Fails as scripted, then answers."""

    def __init__(self, *failures: SQLAlchemyError) -> None:
        self.failures = list(failures)
        self.asked = 0

    def add(self, one: int, other: int) -> int:
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return one + other


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def patience(waits: list[float]) -> Patience:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return Patience(Threads("test", 1), sleep)


async def test_asks_again(patience: Patience, waits: list[float]) -> None:
    """A locked database and a pool without connections are asked again, each time after a longer wait."""
    store = Store(LOCKED, PoolTimeout("QueuePool limit reached"), LOCKED)
    assert await patience(store.add, 2, 3) == 5
    assert (store.asked, len(waits)) == (4, 3)
    assert waits == sorted(waits)
    assert waits[-1] <= 2


async def test_gives_up(patience: Patience) -> None:
    """After five attempts the last error comes through."""
    store = Store(*[LOCKED] * 20)
    with pytest.raises(OperationalError):
        await patience(store.add, 2, 3)
    assert store.asked == ATTEMPTS


async def test_other_errors_come_through(patience: Patience) -> None:
    """What does not pass by itself is not asked again."""
    store = Store(WRONG)
    with pytest.raises(IntegrityError):
        await patience(store.add, 2, 3)
    assert store.asked == 1


async def test_what_is_bound_to_lines_of_the_log_holds_in_a_thread() -> None:
    """A line from a thread names the job that made the call."""
    with structlog.contextvars.bound_contextvars(job="j1"):
        assert await Threads("test", 1)(structlog.contextvars.get_contextvars) == {"job": "j1"}
