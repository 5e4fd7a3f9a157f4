"""One look at the database for all who wait for news of chats, as long as somebody does (decision 24)."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.services.ports import InThread
from app.store import events
from app.store.engine import Database
from app.store.faults import cause

log = structlog.get_logger()

LOOK_S = 0.2
"""How often it looks: news of another process is as old as that at most."""

MOST = 200
"""So many may listen at once."""

_REST_S = 2.0


@dataclass(eq=False)
class Listener:
    """Waits for news of one chat, or of everything where it is None. `over`: nothing more will come, for the server
    ends.
    """

    chat_key: int | None
    over: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _newest: int | None = None

    def tell(self, newest: int | None) -> None:
        """The key of the newest event, None if there is no such chat: news if it is another than before."""
        if newest != self._newest or newest is None:
            self._newest = newest
            self._news.set()

    def forget(self) -> None:
        """What happened up to now is about to be read."""
        self._news.clear()

    async def wait(self) -> None:
        """Until there is news since then."""
        await self._news.wait()

    def end(self) -> None:
        """Wait no more."""
        self.over = True
        self._news.set()


class Lookout:
    """Tells listeners of news, whatever process made them. Belongs to one event loop.

    It asks for each chat's newest key rather than for rows after the last one seen: in whatever order transactions
    commit, a chat whose newest key is another one has news. For those who listen to everything it asks for the newest
    key there is, after `first`, which notes in time what no transaction told.
    """

    def __init__(
        self,
        db: Database,
        in_thread: InThread,
        look_s: float = LOOK_S,
        most: int = MOST,
        first: Callable[[], None] | None = None,
    ) -> None:
        self._db = db
        self._first = first
        self._in_thread = in_thread
        self._look_s = look_s
        self._most = most
        self._listeners: set[Listener] = set()
        self._task: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    @property
    def has_room(self) -> bool:
        """Whether one more may listen."""
        return len(self._listeners) < self._most

    @contextmanager
    def listening(self, chat_key: int | None) -> Iterator[Listener]:
        """Somebody who is told of a chat's news, or of all, until the block ends."""
        listener = Listener(chat_key, over=self._closed.is_set())
        self._listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._keep_looking(), name="lookout")
        try:
            yield listener
        finally:
            self._listeners.remove(listener)
            if not self._listeners:
                self._stop_looking()

    def close(self) -> None:
        """End all listening, now and from now on; from the event loop's own thread."""
        self._closed.set()
        for listener in self._listeners:
            listener.end()

    async def closed(self) -> None:
        """Until all listening ends."""
        await self._closed.wait()

    def _stop_looking(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self._look_once()
            except SQLAlchemyError as error:
                log.warning("look_failed", detail=cause(error))
                await asyncio.sleep(_REST_S)
            await asyncio.sleep(self._look_s)

    async def _look_once(self) -> None:
        listeners = list(self._listeners)
        found = await self._in_thread(self._look, list({listener.chat_key for listener in listeners}))
        for listener in listeners:
            listener.tell(found.get(listener.chat_key))

    def _look(self, chat_keys: Sequence[int | None]) -> dict[int | None, int]:
        chosen = [chat_key for chat_key in chat_keys if chat_key is not None]
        found: dict[int | None, int] = {}
        if None in chat_keys and self._first is not None:
            self._first()
        with self._db.read() as session:
            if None in chat_keys:
                found[None] = events.newest_of_all(session)
            if chosen:
                found.update(events.newest(session, chosen).items())
        return found
