"""Following what happens, in its order and without a gap."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from app.errors import NotFound
from app.services.lookout import Lookout
from app.services.watching import Happening, Watch, Watching
from app.services.working import JobView
from app.store import chats, events, jobs
from app.store.engine import Database
from app.store.migrate import migrate
from tests.support.rows import add_chat


class Scene:
    """A chat with a job that runs, and whoever watches them."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.watching = Watching(db, Lookout(db, asyncio.to_thread, look_s=0.002), asyncio.to_thread)
        with db.write() as session:
            self.chat_key = add_chat(session).key
            job = jobs.add(session, self.chat_key, "fold", 1)
            self.job_id, self.job_key = job.id, job.key
            jobs.claim(session, job.id, "me", 60_000)

    def progress(self, *numbers: int) -> None:
        with self.db.write() as session:
            for number in numbers:
                events.add(session, self.chat_key, "progress", {"done": number}, self.job_key)

    def finish(self) -> None:
        with self.db.write() as session:
            job = jobs.by_id(session, self.job_id)
            assert job is not None
            jobs.finish(session, job, "succeeded", None)

    def delete(self) -> None:
        with self.db.write() as session:
            chats.remove(session, self.chat_key)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    db = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    migrate(db.engine)
    yield Scene(db)
    db.dispose()


async def seen(watch: Watch, most: int = 10_000) -> list[Happening]:
    """What happens until the end, or so many of it."""
    found: list[Happening] = []
    async with asyncio.timeout(20), aclosing(watch.happenings()) as happenings:
        async for happening in happenings:
            found.append(happening)
            if len(found) == most:
                break
    return found


def numbers(found: list[Happening]) -> list[int]:
    return [one.data["done"] for one in found if not isinstance(one.data, JobView)]


async def test_more_than_a_page(scene: Scene) -> None:
    """However much has happened before anybody watched, it comes whole and in order, wherever it was cut."""
    scene.progress(*range(250))
    scene.finish()
    first = await seen(await scene.watching.job(scene.job_id, None), 130)
    rest = await seen(await scene.watching.job(scene.job_id, first[-1].key))
    assert numbers(first + rest) == list(range(250))
    assert [one.kind for one in rest].count("end") == 1
    assert rest[-1].kind == "end"


async def test_a_page_that_is_just_full(scene: Scene) -> None:
    """A job whose last page is full has its end all the same."""
    scene.progress(*range(100))
    scene.finish()
    found = await seen(await scene.watching.job(scene.job_id, None))
    assert (numbers(found), found[-1].kind) == (list(range(100)), "end")


async def test_what_happens_while_one_reads(scene: Scene) -> None:
    """What is committed while somebody is told of what was before comes after it, once."""
    scene.progress(0)
    found: list[int] = []
    async with asyncio.timeout(20), aclosing((await scene.watching.job(scene.job_id, None)).happenings()) as happenings:
        async for happening in happenings:
            if happening.kind == "end":
                break
            found += numbers([happening])
            if len(found) < 20:
                await asyncio.to_thread(scene.progress, len(found))
            else:
                await asyncio.to_thread(scene.finish)
    assert found == list(range(20))


async def test_who_waits_is_told_of_the_end(scene: Scene) -> None:
    """Whoever waits for a job that tells nothing more is told of its end, with the job as it is."""
    waiting = asyncio.create_task(seen(await scene.watching.job(scene.job_id, None)))
    await asyncio.sleep(0.02)
    scene.finish()
    [end] = await waiting
    assert isinstance(end.data, JobView)
    assert (end.kind, end.data.id, end.data.state) == ("end", scene.job_id, "succeeded")


async def test_a_chat_that_is_deleted_ends_both(scene: Scene) -> None:
    """Deleting a chat ends what watches it and what watches its job, and each says so."""
    chat = asyncio.create_task(seen(await scene.watching.chat("c", 0)))
    job = asyncio.create_task(seen(await scene.watching.job(scene.job_id, None)))
    await asyncio.sleep(0.02)
    scene.delete()
    end, last = (await job)[-1], (await chat)[-1]
    assert isinstance(end.data, JobView)
    assert (end.kind, end.data.state, end.data.reason) == ("end", "cancelled", "The chat was deleted.")
    assert (last.kind, last.data) == ("end", {"reason": "The chat was deleted."})


async def test_from_now_on(scene: Scene) -> None:
    """A chat is watched from now on, its active job first; a key of a database that is newer than this one is now."""
    now = await seen(await scene.watching.chat("c", None), 1)
    assert isinstance(now[0].data, JobView)
    assert (now[0].kind, now[0].data.state) == ("job", "running")
    later = asyncio.create_task(seen(await scene.watching.chat("c", now[0].key + 1000), 1))
    await asyncio.sleep(0.02)
    with scene.db.write() as session:
        events.add(session, scene.chat_key, "promoted", {"layer": 1})
    [one] = await later
    assert (one.kind, one.data) == ("promoted", {"layer": 1})


async def test_nothing_is_held_for_who_has_gone(scene: Scene) -> None:
    """Whoever stops watching in the middle leaves nobody behind who looks."""
    scene.progress(*range(5))
    await seen(await scene.watching.job(scene.job_id, None), 2)
    assert scene.watching.lookout._listeners == set()
    assert scene.watching.lookout._task is None


async def test_the_end_of_the_server(scene: Scene) -> None:
    """When the server ends, watching ends with what it did last, or else without an `end`: then one comes again."""
    chat = asyncio.create_task(seen(await scene.watching.chat("c", None)))
    job = asyncio.create_task(seen(await scene.watching.job(scene.job_id, None)))
    await asyncio.sleep(0.02)
    with scene.db.write() as session:
        stored = jobs.by_id(session, scene.job_id)
        assert stored is not None
        jobs.interrupt(session, stored, "The server was shut down.")
    scene.watching.close()
    assert [one.kind for one in await chat] == ["job", "job"]
    [end] = await job
    assert isinstance(end.data, JobView)
    assert (end.kind, end.data.state) == ("end", "interrupted")
    assert await seen(await scene.watching.chat("c", None)) == []


async def test_what_cannot_be_read_ends_the_watch(scene: Scene) -> None:
    """Where the database fails, watching ends early; what was seen is where it goes on."""
    scene.progress(1)
    watch = await scene.watching.job(scene.job_id, None)
    with scene.db.write() as session:
        session.connection().exec_driver_sql("ALTER TABLE events RENAME TO moved")
    assert await seen(watch) == []


async def test_everything(scene: Scene) -> None:
    """All chats are watched in one, from now on or from a key on, and however much nobody is told of lies between."""
    before = await scene.watching.everything(None)
    with scene.db.write() as session:
        other = add_chat(session, "other").key
        for number in range(3):
            events.add(session, (scene.chat_key, other)[number % 2], "promoted", {"layer": number})
    scene.progress(*range(250))
    with scene.db.write() as session:
        events.add(session, None, "settings", {"why": "settings"})
        events.add(session, other, "error", {"retry_at": None})
    found = await seen(before, 6)
    assert [(one.kind, dict(one.data)) for one in found if not isinstance(one.data, JobView)] == [
        ("chat", {"why": "created", "chat_id": "other"}),
        *(("promoted", {"layer": number, "chat_id": ("c", "other")[number % 2]}) for number in range(3)),
        ("settings", {"why": "settings"}),
        ("error", {"retry_at": None, "chat_id": "other"}),
    ]
    assert await seen(await scene.watching.everything(found[3].key), 2) == found[4:]


async def test_everything_has_no_end(scene: Scene) -> None:
    """A chat that is deleted does not end the watch of all; the server does."""
    watching = asyncio.create_task(seen(await scene.watching.everything(None)))
    await asyncio.sleep(0.02)
    scene.delete()
    with scene.db.write() as session:
        events.add(session, None, "settings", {"why": "settings"})
    await asyncio.sleep(0.02)
    assert not watching.done()
    scene.watching.close()
    deleted, settings = await watching
    assert (deleted.kind, deleted.data) == ("chat", {"why": "deleted", "chat_id": "c"})
    assert (settings.kind, settings.data) == ("settings", {"why": "settings"})


async def test_unknown_ones(scene: Scene) -> None:
    """What is not there cannot be watched."""
    with pytest.raises(NotFound):
        await scene.watching.chat("none", None)
    with pytest.raises(NotFound):
        await scene.watching.job("none", None)
