"""What becomes of work when the database, the model or the process fails it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.core.summary import SummaryRequest
from app.errors import ModelRejected, ModelUnavailable
from app.store.engine import Database
from tests.support.checks import assert_promises
from tests.support.trouble import Scene, set_up
from tests.support.waiting import until

DOWN = ModelUnavailable("The server is down.", connection="default", calls=2)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with set_up(tmp_path) as scene:
        yield scene


async def test_a_locked_database_costs_no_answer(scene: Scene) -> None:
    """An answer that finds the database locked is stored once it is free; the model is asked only once."""
    await scene.asked()
    scene.other.lock()
    scene.waits.happens[2] = scene.other.let_go
    scene.table.models.let_go()
    status = await scene.table.settled()
    assert (status.counts.ghosted, status.last_error, status.summarizer_usage.calls) == (6, None, 1)
    assert (len(scene.table.models.requests), scene.states()) == (1, ["succeeded"])


async def test_a_database_locked_for_long_ends_the_job_for_now(scene: Scene) -> None:
    """A job that cannot store its memory says so, counts what it paid, and goes on by itself."""
    await scene.asked()
    scene.other.lock()
    scene.waits.happens[5] = scene.other.let_go  # four waits for the answer, the fifth for the news of the failure
    scene.table.models.let_go()
    status = await until(scene.table.status, lambda status: status.last_error is not None)
    assert status.last_error is not None
    assert "other work kept it locked" in status.last_error.detail
    assert status.last_error.retry_at is not None
    assert (status.counts.ghosted, status.summarizer_usage.calls) == (0, 1)
    status = await scene.table.folded()
    assert (status.last_error, scene.column("retry_at")) == (None, None)
    await until(scene.states, lambda states: states == ["failed", "succeeded"])


async def test_a_full_disk_is_waited_for(scene: Scene) -> None:
    """An answer that finds the disk full is stored when there is room again."""
    await scene.asked()
    scene.table.models.script("A long tale. " * 20_000)
    scene.fill_disk()
    scene.waits.happens[2] = scene.make_room
    scene.table.models.let_go()
    status = await scene.table.settled()
    assert (status.counts.ghosted, status.last_error, len(scene.table.models.requests)) == (6, None, 1)


async def test_a_disk_that_stays_full_is_named(scene: Scene) -> None:
    """Where no room is made, status says that the disk is full."""
    await scene.asked()
    scene.table.models.script(*["A long tale. " * 20_000] * 100)
    scene.fill_disk()
    scene.table.models.let_go()
    status = await until(scene.table.status, lambda status: status.last_error is not None)
    assert status.last_error is not None
    assert "its disk is full" in status.last_error.detail
    scene.make_room()
    await scene.table.folded()


def _mistake(_: SummaryRequest) -> str:
    raise RuntimeError("a mistake of ours")


def _job_tasks() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("job ")]


async def test_a_mistake_of_ours_is_told(scene: Scene) -> None:
    """A job that meets a bug fails, the chat keeps one sentence about it, and the next message tries again."""
    scene.table.models.script(_mistake)
    await scene.table.say(*range(1, 14))
    error = scene.table.status().last_error
    assert error is not None
    assert (error.code, error.retry_at, scene.states()) == ("internal", None, ["failed"])
    assert "a mistake of ours" not in error.detail
    await scene.table.say(14)
    assert scene.table.status().counts.ghosted == 6


async def test_a_job_that_cannot_even_be_ended_is_found(scene: Scene) -> None:
    """A job whose failure could not be written is taken up when its lease has run out."""
    await scene.asked()
    scene.table.models.script(_mistake)
    scene.other.lock()
    scene.table.models.let_go()
    await until(_job_tasks, lambda tasks: not tasks)
    scene.other.let_go()
    assert scene.states() == ["running"]
    scene.table.sql("UPDATE jobs SET lease_until = 0")
    await until(scene.states, lambda states: states == ["interrupted", "succeeded"])


async def test_a_failure_is_taken_up_by_another_process(tmp_path: Path) -> None:
    """When failed work goes on is stored: a process that starts later takes it up."""
    async with set_up(tmp_path, breaker_cooldown_s=3600, resume_jobs=False) as scene:
        scene.table.models.script(DOWN)
        await scene.table.say(*range(1, 14))
        assert scene.column("retry_at") is not None
    async with set_up(tmp_path) as scene:
        assert (await scene.table.folded()).last_error is None


async def test_a_refusal_is_tried_again_after_a_restart(tmp_path: Path) -> None:
    """A restart may have brought another key, so what was refused is asked again."""
    async with set_up(tmp_path) as scene:
        scene.table.models.script(ModelRejected("Check the API key.", connection="default", status=401, calls=1))
        await scene.table.say(*range(1, 14))
        assert scene.column("retry_at") is None
    async with set_up(tmp_path) as scene:
        assert (await scene.table.folded()).last_error is None


async def test_only_its_own_failures_without_resume_jobs(tmp_path: Path) -> None:
    """Where RESUME_JOBS is false a process takes up again what failed in it, and nothing of others."""
    async with set_up(tmp_path, resume_jobs=False) as scene:
        scene.table.models.script(DOWN)
        await scene.table.say(*range(1, 14))
        await scene.table.folded()
        scene.table.models.script(DOWN)
        await scene.table.say(*range(14, 17))
    async with set_up(tmp_path, resume_jobs=False) as scene:
        scene.table.sql("UPDATE chats SET retry_at = 1")
        await asyncio.sleep(0.3)
        assert (scene.table.status().counts.ghosted, scene.column("retry_at")) == (6, 1)


@pytest.mark.parametrize("state", ["queued", "running"])
async def test_jobs_of_others_are_left_alone_without_resume_jobs(tmp_path: Path, state: str) -> None:
    """Where RESUME_JOBS is false a process neither runs nor ends jobs of others, at its own end neither."""
    async with set_up(tmp_path, resume_jobs=False) as scene:
        await scene.table.say(*range(1, 14), fold="none")
        scene.table.sql(
            "INSERT INTO jobs (id, chat_key, kind, state, done, total, failed, usage, created_at, lease_owner,"
            f" lease_until) SELECT 'j', key, 'fold', '{state}', 0, 1, 0, '{{}}', 1, 'another', 1 FROM chats"
        )
        await asyncio.sleep(0.3)
        assert scene.states() == [state]
    with sqlite3.connect(tmp_path / "turnfold.db") as raw:
        assert raw.execute("SELECT state FROM jobs").fetchall() == [(state,)]
    raw.close()


async def test_a_dead_job_holds_up_nobody(tmp_path: Path) -> None:
    """A chat whose job died long ago gets a new one with the next append, even where nobody recovers jobs."""
    async with set_up(tmp_path, resume_jobs=False) as scene:
        await scene.table.say(*range(1, 13), fold="none")
        scene.table.sql(
            "INSERT INTO jobs (id, chat_key, kind, state, done, total, failed, usage, created_at, lease_owner,"
            " lease_until) SELECT 'j', key, 'fold', 'running', 0, 1, 0, '{}', 1, 'another', 1 FROM chats"
        )
        await scene.table.say(13)
        assert scene.states() == ["interrupted", "succeeded"]


async def test_an_interrupted_job_keeps_its_kind(tmp_path: Path) -> None:
    """A backlog that was taken up whole goes on whole after a restart."""
    async with set_up(tmp_path) as scene:
        await scene.table.say(*range(1, 41), fold="none")
        scene.table.models.hold()
        scene.table.services.steering.backlog("c", "all")
        await scene.table.models.arrived(1)
    async with set_up(tmp_path) as scene:
        await until(scene.table.status, lambda status: status.counts.ghosted == 60)
        found = scene.table.services.working.page(None, None, None, 100)
        assert [job.kind for _, job in found] == ["backlog", "backlog"]
        assert_promises(scene.table.database, "c")


async def test_an_append_takes_the_place_of_a_retry(tmp_path: Path) -> None:
    """An append tries at once; nothing is left to be taken up after it."""
    async with set_up(tmp_path, breaker_cooldown_s=3600) as scene:
        scene.table.models.script(DOWN)
        await scene.table.say(*range(1, 14))
        await scene.table.say(14)
        assert (scene.table.status().counts.ghosted, scene.column("retry_at")) == (6, None)


async def test_a_stopped_chat_is_not_taken_up(scene: Scene) -> None:
    """A person's stop holds, whatever was to be taken up again."""
    scene.table.models.script(DOWN)
    await scene.table.say(*range(1, 14))
    await scene.table.services.steering.stop("c")
    await until(lambda: scene.column("retry_at"), lambda retry_at: retry_at is None)
    await asyncio.sleep(0.1)
    assert (scene.table.status().counts.ghosted, len(scene.table.models.requests)) == (0, 1)


async def test_the_cost_of_a_stopped_summary_is_counted(scene: Scene) -> None:
    """An answer that comes after another process stopped its job is dropped; the chat shows what it cost."""
    await scene.asked()
    second = Database(f"sqlite:///{scene.table.database}")
    with second.write() as session:
        session.execute(text("UPDATE jobs SET state = 'cancelled', finished_at = 1"))
    scene.table.models.let_go()
    status = await until(scene.table.status, lambda status: status.summarizer_usage.calls == 1)
    second.dispose()
    assert (status.counts.ghosted, scene.states()) == (0, ["cancelled"])
