"""Answers that wait for a fold: who cuts it, who is to blame, and what is asked for what a request brings."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.core.model import Usage
from app.errors import ModelUnavailable
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.store.migrate import migrate
from tests.support.parts import assembled
from tests.support.scripted import ScriptedModels
from tests.support.table import Table, laid, turn_drafts
from tests.support.waiting import until


def buffer(table: Table, **changed: Any) -> None:
    body = {"strategy": "summary_buffer", "settings": {"summary_buffer": changed}}
    table.services.keeping.put("c", body)


def ask(table: Table, **query: Any) -> asyncio.Task[ProjectionView]:
    return asyncio.create_task(table.services.answering.project("c", ProjectionQuery(**query)))


def codes(prompt: ProjectionView) -> list[str]:
    return [warning.code for warning in prompt.warnings if warning.code != "window_unknown"]


async def two_waiting(table: Table, second_s: float) -> tuple[asyncio.Task[ProjectionView], ...]:
    """Two answers that wait for one fold, the first one for a second; the model has been asked."""
    buffer(table, timeout_s=1)
    await table.say(*range(1, 11))
    table.models.hold()
    first = ask(table)
    await table.models.arrived(1)
    buffer(table, timeout_s=second_s)
    second = ask(table)
    await until(lambda: table.services.answering.waiting.total(), lambda waiting: waiting == 2)
    return first, second


async def test_a_time_out_leaves_the_fold_to_others(tmp_path: Path) -> None:
    """Whoever has waited long enough is warned; who still waits gets the summary of the same call."""
    async with laid(tmp_path, breaker_cooldown_s=60) as table:
        first, second = await two_waiting(table, 20)
        assert codes(await first) == ["fold_failed"]
        assert codes(await ask(table)) == ["fold_failed"]
        table.models.let_go()
        assert (codes(await second), len((await second).messages)) == ([], 7)
        assert (len(table.models.requests), table.models.cut, table.models.silences) == (1, 0, [])
        assert (table.status().last_error, codes(await ask(table))) == (None, [])


async def test_the_last_one_cuts_it(tmp_path: Path) -> None:
    """The call is cut when nobody waits any more, and counts once against the connection."""
    async with laid(tmp_path, breaker_cooldown_s=60) as table:
        first, second = await two_waiting(table, 1.2)
        assert codes(await first) == codes(await second) == ["fold_failed"]
        assert (table.models.cut, table.models.silences) == (1, ["c"])
        with table.server.db.read() as session:
            told = session.execute(text("SELECT retry_at - created_at FROM chats")).scalar_one()
        assert 60_000 < told < 100_000


async def test_a_job_that_has_not_begun_blames_nobody(tmp_path: Path) -> None:
    """The warning says so, no connection is named, and the next answer waits again."""
    server = assembled(tmp_path / "turnfold.db", models=ScriptedModels())
    migrate(server.db.engine)
    models = ScriptedModels()
    table = Table(server, models, tmp_path / "turnfold.db")
    buffer(table, timeout_s=0.1, expose_error_output=True)
    await server.services.recording.append("c", [one for turn in range(1, 11) for one in turn_drafts(turn)], "none", 20)
    prompt = await ask(table)
    assert codes(prompt) == ["fold_failed"]
    assert prompt.error is not None
    assert (prompt.error["connection"], "was not begun within 0.1 s" in prompt.error["detail"]) == ("", True)
    assert "was not begun" in (await ask(table)).warnings[-1].detail
    with server.db.read() as session:
        assert session.execute(text("SELECT retry_at FROM chats")).scalar_one() is None
        assert session.execute(text("SELECT count(*) FROM jobs")).scalar_one() == 2
    await server.stop()


CURRENT = [{"role": role, "content": f"{role} {turn}"} for turn in range(10) for role in ("user", "assistant")]


async def test_what_is_asked_for_a_call(tmp_path: Path) -> None:
    """The request names its batch, and brings the chat's counter."""
    async with laid(tmp_path) as table:
        buffer(table, scope="call")
        await ask(table, current=CURRENT)
        [request] = table.models.requests
        assert (request.batch, request.count is not None) == ("fold 0", True)


class SecondHangs(ScriptedModels):
    """The second call is never answered."""

    async def before_answer(self, number: int) -> None:
        if number == 2:
            await asyncio.Event().wait()


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_call_has_a_fallback(tmp_path: Path, hangs: bool) -> None:
    """The other connection is asked if the first one fails; every call that was made is counted, and no other."""
    async with laid(tmp_path, SecondHangs() if hangs else None) as table:
        buffer(table, scope="call", timeout_s=0.3)
        other = {"provider": "openai", "base_url": "http://127.0.0.1:1", "model": "m"}
        table.services.connections.put("other", other, keep_key=False, api_key=None)
        table.services.keeping.patch("c", {"settings": {"fallback_connection": "other"}})
        table.models.script(ModelUnavailable("Away.", connection="default", calls=3))
        prompt = await ask(table, current=CURRENT)
        assert [request.connection.name for request in table.models.requests] == ["default", "other"]
        assert codes(prompt) == (["fold_failed"] if hangs else [])
        assert table.status().summarizer_usage == (Usage(4) if hangs else Usage(4, 100, 10))


async def test_a_call_that_takes_too_long_counts(tmp_path: Path) -> None:
    """What is given up for one prompt speaks against its connection too."""
    async with laid(tmp_path) as table:
        buffer(table, scope="call", timeout_s=0.1)
        table.models.hold()
        assert codes(await ask(table, current=CURRENT)) == ["fold_failed"]
        assert (table.models.silences, table.models.cut) == (["c"], 1)
        assert table.status().summarizer_usage == Usage(1)
