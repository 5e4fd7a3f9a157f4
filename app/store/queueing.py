"""Who writes next: whoever has waited longest."""

from collections import deque
from threading import Lock


class FairLock:
    """A lock that is handed on in the order it was asked for.

    `threading.Lock` goes to whoever happens to be awake when it is released: among busy writers one of them can wait
    for longer than any timeout, and be told that the database is locked though nobody held it for long.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._held = False
        self._waiting: deque[Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many wait for it."""
        return len(self._waiting)

    def acquire(self, timeout_s: float) -> bool:
        """Wait for the lock; False if it is not to be had in so many seconds."""
        turn = Lock()
        turn.acquire()
        with self._guard:
            if not self._held:
                self._held = True
                return True
            self._waiting.append(turn)
        return turn.acquire(timeout=timeout_s) or not self._withdraw(turn)

    def release(self) -> None:
        """Hand it to the next one."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False

    def _withdraw(self, turn: Lock) -> bool:
        """Stop waiting; False if the lock was handed over just now."""
        with self._guard:
            if turn not in self._waiting:
                return False
            self._waiting.remove(turn)
            return True
