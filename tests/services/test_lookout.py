"""One look for all who listen."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import pytest
from sqlalchemy.exc import OperationalError

from app.services.lookout import Listener, Lookout
from app.store import chats, events
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import add_chat

T = TypeVar("T")
Args = TypeVarTuple("Args")


class Looks:
    """Makes calls in threads, counts them, and may fail."""

    def __init__(self) -> None:
        self.count = 0
        self.broken = 0

    async def __call__(self, call: Callable[[*Args], T], /, *args: *Args) -> T:
        self.count += 1
        if self.count <= self.broken:
            raise OperationalError("SELECT", None, OSError("away"))
        return await asyncio.to_thread(call, *args)

    async def some(self, more: int) -> None:
        """Until so many more looks have been begun."""
        wanted = self.count + more
        async with asyncio.timeout(10):
            while self.count < wanted:  # noqa: ASYNC110  # what is waited for happens in another task
                await asyncio.sleep(0.002)


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    db = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    migrate(db.engine)
    yield db
    db.dispose()


@pytest.fixture
def lookout(db: Database, looks: Looks) -> Lookout:
    return Lookout(db, looks, look_s=0.002, most=3)


def chat_in(db: Database, chat_id: str = "c") -> int:
    with db.write() as session:
        return add_chat(session, chat_id).key


def happen(db: Database, chat_key: int | None) -> None:
    with db.write() as session:
        events.add(session, chat_key, "summarized", {})


async def heard(listener: Listener) -> None:
    """Wait for news, not for ever."""
    async with asyncio.timeout(10):
        await listener.wait()


async def is_quiet(listener: Listener, looks: Looks) -> bool:
    """Whether there is no news after a look that began by now has ended."""
    await looks.some(2)
    return not listener._news.is_set()


async def test_news_of_one_chat_wakes_those_who_listen_to_it(db: Database, lookout: Lookout, looks: Looks) -> None:
    """Everybody who listens to a chat hears of its events, nobody else does."""
    one, other = chat_in(db), chat_in(db, "other")
    with lookout.listening(one) as first, lookout.listening(one) as second, lookout.listening(other) as third:
        await looks.some(2)  # the first look is news to all
        for listener in (first, second, third):
            listener.forget()
        happen(db, one)
        await heard(first)
        await heard(second)
        assert await is_quiet(third, looks)
        first.forget()
        assert await is_quiet(first, looks)


async def test_all_news_wakes_those_who_listen_to_everything(db: Database, lookout: Lookout, looks: Looks) -> None:
    """Who listens to everything hears of the events of every chat and of none, alone and beside who listens to one."""
    one, other = chat_in(db), chat_in(db, "other")
    with lookout.listening(None) as everything:
        for chat_key in (one, None, other):
            await heard(everything)
            everything.forget()
            assert await is_quiet(everything, looks)
            happen(db, chat_key)
        await heard(everything)
        with lookout.listening(one) as single:
            await looks.some(2)
            single.forget()
            everything.forget()
            happen(db, other)
            await heard(everything)
            assert await is_quiet(single, looks)


async def test_a_deleted_chat_is_news(db: Database, lookout: Lookout, looks: Looks) -> None:
    """Whoever listens to a chat hears of its end, though no event says it."""
    chat_key = chat_in(db)
    with lookout.listening(chat_key) as listener:
        await looks.some(2)
        listener.forget()
        with db.write() as session:
            chats.remove(session, chat_key)
        await heard(listener)


async def test_it_looks_only_while_somebody_listens(db: Database, lookout: Lookout, looks: Looks) -> None:
    """Nobody listening, nothing is read; the next who listens is served again."""
    chat_key = chat_in(db)
    for _ in range(2):
        with lookout.listening(chat_key) as listener:
            await heard(listener)
        after = looks.count
        await asyncio.sleep(0.02)
        assert looks.count == after
        assert lookout._task is None


async def test_a_database_that_is_away_is_looked_at_again(
    db: Database, lookout: Lookout, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look that fails is no end: news comes when the database is back."""
    monkeypatch.setattr("app.services.lookout._REST_S", 0.01)
    looks.broken = 2
    with lookout.listening(chat_in(db)) as listener:
        await heard(listener)
    assert looks.count > looks.broken


async def test_only_so_many_may_listen(db: Database, lookout: Lookout) -> None:
    """With as many as it bears there is no room, and with each that leaves there is again."""
    chat_key = chat_in(db)
    with ExitStack() as listeners:
        for _ in range(3):
            assert lookout.has_room
            listeners.enter_context(lookout.listening(chat_key))
        assert not lookout.has_room
    assert lookout.has_room


async def test_closing_ends_all(db: Database, lookout: Lookout) -> None:
    """Whoever listens when the server ends is told, and so is who begins to listen after that."""
    chat_key = chat_in(db)
    with lookout.listening(chat_key) as listener:
        lookout.close()
        await heard(listener)
        assert listener.over
    with lookout.listening(chat_key) as late:
        assert late.over
