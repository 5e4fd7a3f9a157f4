"""A lock that is handed on in the order it was asked for."""

import threading
import time
from collections.abc import Callable
from functools import partial

from app.store.queueing import FairLock

LONG_S = 20.0


def test_is_handed_on_in_order() -> None:
    """Whoever waits longest gets it, whatever the one before does with it."""
    lock = FairLock()
    assert lock.acquire(LONG_S)
    got: list[int] = []
    threads = [_queued(lock, partial(got.append, number), place=number) for number in range(5)]
    lock.release()
    for thread in threads:
        thread.join(LONG_S)
    assert got == [0, 1, 2, 3, 4]
    assert lock.acquire(0)


def test_one_that_releases_and_asks_again_goes_to_the_end() -> None:
    """A busy writer keeps nobody waiting: between two of its turns everyone else has had one."""
    lock = FairLock()
    assert lock.acquire(LONG_S)
    got: list[str] = []
    waiter = _queued(lock, partial(got.append, "waiter"))
    lock.release()
    assert lock.acquire(LONG_S)
    got.append("busy")
    waiter.join(LONG_S)
    assert got == ["waiter", "busy"]


def test_giving_up_leaves_the_queue() -> None:
    """Who waited in vain is passed over, and does not hold the lock by accident."""
    lock = FairLock()
    assert lock.acquire(LONG_S)
    assert not lock.acquire(0.01)
    lock.release()
    assert lock.acquire(0)


def test_never_held_twice() -> None:
    """With many threads and short patience no two are ever inside together, and it is free at the end."""
    lock = FairLock()
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(200):
            if lock.acquire(0.0005 if number % 2 else LONG_S):
                inside.append(number)
                most.append(len(inside))
                inside.pop()
                lock.release()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert max(most) == 1
    assert lock.acquire(0)


def _queued(lock: FairLock, then: Callable[[], object], place: int = 0) -> threading.Thread:
    """A thread that waits for the lock, in its place already."""

    def work() -> None:
        assert lock.acquire(LONG_S)
        then()
        lock.release()

    thread = threading.Thread(target=work)
    thread.start()
    deadline = time.monotonic() + LONG_S
    while lock.waiting <= place:
        assert time.monotonic() < deadline, "it never began to wait"
        time.sleep(0.001)
    return thread
