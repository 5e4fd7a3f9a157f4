"""What clients of a storm know of a chat: what the server said yes to, what it may have done, what it has shown."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Said:
    """A message as its client knows it."""

    id: str
    role: str
    content: str
    hidden: bool = False


History = tuple[Said, ...]


@dataclass(frozen=True)
class Seen:
    """A snippet that a client was shown, and how often its chat had been changed by then."""

    text: str
    changes: int


@dataclass
class Ledger:
    """One chat. `steady`: nothing but appends ever changes it. `sure`: the history that was acknowledged; `doubt`: what
    it is if the request under way took effect. `changes` counts requests that may take snippets away, or their texts.
    """

    chat: str
    steady: bool
    concurrency: int
    sure: History = ()
    doubt: History | None = None
    changes: int = 0
    numbers: int = 0
    seen: dict[str, Seen] = field(default_factory=dict)
    _open: int = 0
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def next_number(self) -> int:
        """A number no message of the chat has; one writer asks."""
        self.numbers += 1
        return self.numbers

    @contextmanager
    def changing(self) -> Iterator[None]:
        """A request that may take snippets away is under way."""
        with self._turn:
            self.changes += 1
            self._open += 1
        try:
            yield
        finally:
            with self._turn:
                self._open -= 1

    @property
    def quiet_since(self) -> int | None:
        """The number of changes, if none is under way."""
        with self._turn:
            return None if self._open else self.changes

    def saw(self, snippet_id: str, text: str, since: int) -> None:
        """A client was shown a snippet, by a request that was made when there had been so many changes."""
        with self._turn:
            if since == self.changes:
                self.seen[snippet_id] = Seen(text, since)

    def settle(self, found: list[tuple[str, str, bool]]) -> str | None:
        """Compare with what is stored (role, content, hidden) and go on from there; what is wrong, or None."""
        for history in (self.sure, self.doubt):
            if history is not None and [(said.role, said.content, said.hidden) for said in history] == found:
                self.sure, self.doubt = history, None
                return None
        told = [(said.role, said.content, said.hidden) for said in self.sure]
        missing, more = sorted(set(told) - set(found)), sorted(set(found) - set(told))
        return (
            f"{self.chat}: {len(found)} messages for {len(told)}, without {missing}, with {more}, maybe in other places"
        )


class Gate:
    """Lets clients through while it is open, and knows when all have come out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_open = False
        self._inside = 0

    @contextmanager
    def passing(self, seconds: float) -> Iterator[bool]:
        """Whether one may go through; waits for that so long."""
        with self._changed:
            inside = self._changed.wait_for(lambda: self._is_open, seconds)
            self._inside += inside
        try:
            yield inside
        finally:
            with self._changed:
                self._inside -= inside
                self._changed.notify_all()

    def open(self) -> None:
        """Let them in."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()

    def shut(self, seconds: float = 60) -> None:
        """Let nobody in, and wait until all are out. Raises TimeoutError."""
        with self._changed:
            self._is_open = False
            if not self._changed.wait_for(lambda: not self._inside, seconds):
                raise TimeoutError(f"{self._inside} clients still wait for their answers")
