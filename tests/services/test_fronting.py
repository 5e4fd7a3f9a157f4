"""Calls that wait for a frontend, from the one who asks to the one who answers, in one process or in two."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.calling import ALIVE_MS, Prompt, Reply, Trouble
from app.errors import Conflict, NotFound
from app.jobs.threads import Threads
from app.services.bells import Bells
from app.services.client_calls import CallView, ClientCalls, Wanted
from app.services.fronting import Fronting, Outcome
from app.store import chats, client_calls, events
from app.store.clock import now_ms
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import add_chat
from tests.support.waiting import until

PROMPT = Prompt("c", "SillyTavern", "You summarize.", "Anna: I leave.", 100, 0.3, 1, 60)


class Process:
    """What a process has of calls: the side that asks, and the side that frontends speak to. `shift_ms`: how far its
    clock is ahead.
    """

    def __init__(self, url: str) -> None:
        self.db = Database(url)
        self.shift_ms = 0
        self.taken = 0
        bells, threads = Bells(), Threads("calls", 2)
        self.fronting = Fronting(self.db, threads, bells, self.now)
        self.calls = ClientCalls(self.db, threads, bells, self.now)

    def now(self) -> int:
        return now_ms() + self.shift_ms

    def ask(self, timeout_s: float = 60) -> asyncio.Task[Outcome]:
        return asyncio.create_task(self.fronting.ask(replace(PROMPT, timeout_s=timeout_s), self._take))

    def _take(self) -> None:
        self.taken += 1

    async def take(
        self, client: str = "a", wait_s: float = 10, lease_s: float = 60, *, gone: bool = False
    ) -> list[CallView]:
        async def left() -> bool:
            return gone

        return await self.calls.hand_out(Wanted("c", client, 1, wait_s, lease_s, left))

    def states(self) -> list[str]:
        with self.db.read() as session:
            return [str(row[0]) for row in session.connection().exec_driver_sql("SELECT state FROM client_calls")]

    def events(self) -> int:
        with self.db.read() as session:
            chat = chats.find(session, "c")
            told = events.of_chat(session, chat.key, 0, 100) if chat else []
            return [one.kind for one in told].count("client_call")


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path / 'turnfold.db'}"
    db = Database(found)
    migrate(db.engine)
    with db.write() as session:
        add_chat(session)
    db.dispose()
    return found


@pytest.fixture
def here(url: str) -> Iterator[Process]:
    process = Process(url)
    yield process
    process.db.dispose()


@pytest.fixture
def there(url: str) -> Iterator[Process]:
    process = Process(url)
    yield process
    process.db.dispose()


async def test_an_answer_comes_back(here: Process) -> None:
    """Who waits for a prompt is woken by it, and who asked by its answer; then nothing of it is kept but its end."""
    taking = asyncio.create_task(here.take())
    asked = here.ask()
    [call] = await taking
    assert [message["role"] for message in call.messages] == ["system", "user"]
    await here.calls.answer(call.id, "a", Reply("Anna left.", "stop"))
    assert await asked == Reply("Anna left.", "stop")
    assert (here.taken, here.states(), here.events()) == (1, ["answered"], 1)


async def test_another_process_answers(here: Process, there: Process) -> None:
    """A call of one process is handed out and answered by another; trouble comes back as well."""
    asked = here.ask()
    [call] = await there.take()
    await until(lambda: here.taken, lambda taken: taken == 1)
    await there.calls.answer(call.id, "a", Trouble("Too many", 429, 20))
    assert await asked == Trouble("Too many", 429, 20)


async def test_a_lease_that_runs_out(here: Process) -> None:
    """The call waits again, its chat is told again, and the next tab gets it; the first one's answer is too late only
    because the other holds it.
    """
    asked = here.ask()
    [call] = await here.take("a", lease_s=0.05)
    await until(here.events, lambda events: events == 2)
    [again] = await here.take("b")
    assert again.id == call.id
    with pytest.raises(Conflict, match="taken by another client"):
        await here.calls.answer(call.id, "a", Reply("Anna left."))
    await here.calls.answer(call.id, "b", Reply("Anna went."))
    assert await asked == Reply("Anna went.")


async def test_a_late_answer_is_taken(here: Process) -> None:
    """While nobody else has the call; a second one is told that it comes too late."""
    asked = here.ask()
    [call] = await here.take("a", lease_s=0.05)
    await until(here.events, lambda events: events == 2)
    await here.calls.answer(call.id, "a", Reply("Anna left."))
    with pytest.raises(Conflict, match="answered already"):
        await here.calls.answer(call.id, "b", Reply("Anna went."))
    assert await asked == Reply("Anna left.")


async def test_it_takes_too_long(here: Process) -> None:
    """Renewed or not, from the moment it was taken; then nobody wants the answer."""
    asked = here.ask(timeout_s=0.2)
    [call] = await here.take()
    assert await here.calls.renew(call.id, "a", 600) == call.lease_until
    assert await asked == "timed_out"
    with pytest.raises(Conflict, match="longer than its connection's timeout_s"):
        await here.calls.renew(call.id, "a", 60)


async def test_giving_it_back(here: Process) -> None:
    """Whoever comes next has it; giving it back twice changes nothing, and who never had it cannot."""
    asked = here.ask()
    [call] = await here.take("a")
    with pytest.raises(Conflict):
        await here.calls.release(call.id, "b")
    await here.calls.release(call.id, "a")
    await here.calls.release(call.id, "a")
    [again] = await here.take("b")
    await here.calls.answer(again.id, "b", Reply("Anna left."))
    assert await asked == Reply("Anna left.")
    assert here.events() == 2


async def test_cut(here: Process) -> None:
    """A call that is cut is gone at once, taken or not."""
    first, second = here.ask(), here.ask()
    [call] = await here.take()
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second])
    assert here.states() == ["cut", "cut"]
    assert await here.take(wait_s=0) == []
    with pytest.raises(Conflict, match="job was stopped"):
        await here.calls.answer(call.id, "a", Reply("Anna left."))
    with pytest.raises(NotFound):
        await here.calls.answer("never", "a", Reply("Anna left."))


async def test_withdrawn(here: Process) -> None:
    """Whoever asked is told to plan anew."""
    asked = here.ask()
    await until(here.states, lambda states: states == ["waiting"])
    with here.db.write() as session:
        client_calls.withdraw(session, client_calls.of_connection("SillyTavern"))
    assert await asked == "withdrawn"


async def test_a_process_that_died(here: Process, there: Process) -> None:
    """Its calls are not handed out and take no answer, once it has given no sign of life for a while."""
    asked = here.ask()
    [call] = await there.take()
    there.shift_ms = ALIVE_MS + 10_000
    assert await there.take("b", wait_s=0) == []
    with pytest.raises(Conflict, match="process that asked has ended"):
        await there.calls.answer(call.id, "a", Reply("Anna left."))
    asked.cancel()
    await asyncio.wait([asked])


async def test_it_is_kept_alive(here: Process, there: Process) -> None:
    """As long as somebody waits its row is; one that was lost meanwhile is put again."""
    asked = here.ask()
    await until(here.states, lambda states: states == ["waiting"])
    here.shift_ms = there.shift_ms = 3 * ALIVE_MS
    [call] = await there.take()
    with here.db.write() as session:
        session.connection().exec_driver_sql("DELETE FROM client_calls")
    [again] = await there.take("b")
    assert again.id == call.id
    await there.calls.answer(call.id, "b", Reply("Anna left."))
    assert await asked == Reply("Anna left.")


async def test_nobody_is_handed_what_he_left(here: Process) -> None:
    """A client that has gone while it waited gets nothing, and who comes after it does."""
    assert await here.take(gone=True) == []
    asked = here.ask()
    assert len(await here.take("b")) == 1
    asked.cancel()
    await asyncio.wait([asked])


async def test_waiting_has_an_end(here: Process) -> None:
    """After `wait_s`, and at once when the server ends; a chat that is not there is said so."""
    assert await here.take(wait_s=0.05) == []
    waiting = asyncio.create_task(here.take(wait_s=60))
    await asyncio.sleep(0)
    here.calls.close()
    assert await waiting == []
    with pytest.raises(NotFound):
        await here.calls.hand_out(Wanted("nobody", "a", 1, 0, 60, lambda: asyncio.sleep(0, False)))
