"""Jobs against a real database, with scripted models."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.assembly import Server
from app.core.model import Role
from app.errors import ModelRejected, ModelUnavailable
from app.services.bundle import Services
from app.services.recording import Draft
from app.services.reporting import Status
from app.store.migrate import migrate
from tests.support.checks import assert_promises
from tests.support.parts import assembled
from tests.support.scripted import ScriptedModels
from tests.support.waiting import until


class Table:
    """A server with scripted models, and the few calls these tests make."""

    def __init__(self, server: Server, models: ScriptedModels, database: Path) -> None:
        self.server, self.models, self.database = server, models, database

    @property
    def services(self) -> Services:
        return self.server.services

    async def say(self, *turns: int, fold: Any = "wait") -> Any:
        drafts = [draft for turn in turns for draft in _turn(turn)]
        return await self.services.recording.append("c", drafts, fold, 20)

    def settings(self, **layered: Any) -> None:
        self.services.keeping.put("c", {"settings": {"layered": layered}})

    def status(self) -> Status:
        return self.services.reporting.status("c")

    async def settled(self) -> Status:
        return await until(self.status, lambda status: status.job is None)

    async def folded(self) -> Status:
        return await until(self.status, lambda status: status.counts.ghosted > 0)

    def layers(self) -> list[int]:
        return [layer.snippets for layer in self.status().layers]

    def sql(self, statement: str) -> None:
        with self.server.db.write() as session:
            session.execute(text(statement))


def _turn(turn: int) -> list[Draft]:
    return [
        Draft(Role.USER, f"Mira asks about gate {turn}.", id=f"u{turn}"),
        Draft(Role.ASSISTANT, f"Tom opens gate {turn}.", id=f"a{turn}"),
    ]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    models, database = ScriptedModels(), tmp_path / "turnfold.db"
    server = assembled(database, models=models, breaker_cooldown_s=0.2)
    migrate(server.db.engine)
    await server.start()
    yield Table(server, models, database)
    await server.stop()


async def test_folds_at_turn_13_and_leaves_10(table: Table) -> None:
    """With the defaults a fold starts at the 13th turn and leaves ten, then at 16 and 19."""
    ghosted = []
    for turn in range(1, 20):
        await table.say(turn)
        ghosted.append(table.status().counts.ghosted // 2)
    assert ghosted == [0] * 12 + [3] * 3 + [6] * 3 + [9]
    assert_promises(table.database, "c")


async def test_prior_context_and_passage(table: Table) -> None:
    """A fold is asked with the memory before it and with its own turns, and with nothing else."""
    for turn in range(1, 17):
        await table.say(turn)
    second = table.models.requests[1]
    assert second.prior == ("Line 1 of the story.",)
    assert [line.text for line in second.passage] == [draft.content for turn in (4, 5, 6) for draft in _turn(turn)]
    assert "gate 7" not in second.user
    assert "gate 3" not in second.user


async def test_promotes_and_keeps_lineage(table: Table) -> None:
    """Absorbed snippets stay readable, one step below the one that merged them."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3, deepest_layer="keep")
    for turn in range(1, 26):
        await table.say(turn)
    assert table.layers() == [2, 2]
    deep = table.services.browsing.snippets("c", layer=1, state="live", stale=None, degraded=None, offset=0, limit=10)
    assert [snippet.kind for snippet in deep] == ["seed", "merge"]
    assert len(deep[1].children) == 2
    assert deep[1].covers is not None
    assert (deep[1].covers.first_index, deep[1].covers.turns) == (6, 6)
    under = table.services.browsing.messages_under("c", deep[1].id, after=-1, limit=100)
    assert [message.index for message in under] == list(range(6, 18))
    assert_promises(table.database, "c")


async def test_memory_version_counts_commits(table: Table) -> None:
    """memory_version rises with a fold and a merge, and not with a seed move."""
    table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3)
    for turn in range(1, 23):
        await table.say(turn)
    assert (table.layers(), table.status().memory_version) == ([3, 1], 4)
    for turn in range(23, 26):
        await table.say(turn)
    assert (table.layers(), table.status().memory_version) == ([2, 2], 6)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET content = 'rewritten', revision = revision + 1 WHERE id = 'a2'",
        "UPDATE messages SET pinned = 1 WHERE id = 'a2'",
        "UPDATE messages SET hidden = 1 WHERE id = 'u3'",
    ],
)
async def test_a_changed_passage_drops_the_answer(table: Table, change: str) -> None:
    """A fold whose messages changed while the model was thinking is dropped and planned anew."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    table.sql(change)
    table.models.let_go()
    status = await table.settled()
    assert len(table.models.requests) >= 2 or status.counts.ghosted == 0
    assert "Line 1 of the story." not in table.services.reporting.preview("c").text
    assert status.summarizer_usage.calls == len(table.models.requests)
    assert_promises(table.database, "c")


async def test_new_messages_disturb_nothing(table: Table) -> None:
    """Messages appended while the model is thinking do not spoil its answer."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    await table.say(14, fold="background")
    table.models.let_go()
    status = await table.settled()
    assert status.counts.ghosted == 6
    assert table.services.reporting.preview("c").text.count("Line 1 of the story.") == 1


async def test_stop_cuts_the_call(table: Table) -> None:
    """Stop cuts the call at once, commits nothing, and nothing runs until the next append."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    stopped = await table.services.steering.stop("c")
    assert stopped.stopped
    assert stopped.job is not None
    assert stopped.job.state == "cancelled"
    assert table.models.cut == 1
    table.models.let_go()
    await asyncio.sleep(0.3)
    assert table.status().counts.ghosted == 0
    assert len(table.models.requests) == 1
    await table.say(14)
    assert table.status().counts.ghosted == 6


async def test_clear_while_folding(table: Table) -> None:
    """Clearing cuts what runs; an answer planned before it can never be committed."""
    for turn in range(1, 16):
        await table.say(turn)
    table.models.hold()
    await table.say(16, fold="background")
    await table.models.arrived(2)
    cleared = await table.services.steering.clear("c")
    table.models.let_go()
    assert (cleared.cleared_snippets, cleared.unghosted_messages) == (1, 6)
    assert table.status().counts.ghosted == 0
    assert_promises(table.database, "c")


async def test_deleting_a_chat_cuts_its_job(table: Table) -> None:
    """A deleted chat's job ends; nothing of it comes back."""
    table.models.hold()
    await table.say(*range(1, 14), fold="background")
    await table.models.arrived(1)
    await table.services.keeping.delete("c")
    assert table.models.cut == 1


async def test_a_failed_call_leaves_all_visible_and_says_when_it_goes_on(table: Table) -> None:
    """An unreachable model leaves every message visible; status says what is wrong and when it tries again."""
    table.models.script(ModelUnavailable("The server is down.", connection="default", calls=6))
    appended = await table.say(*range(1, 14))
    assert appended.reason == "The server is down."
    status = table.status()
    assert status.counts.visible == 26
    assert status.last_error is not None
    assert status.last_error.retry_at is not None
    assert status.summarizer_usage.calls == 6
    assert (await table.folded()).last_error is None


async def test_a_refused_key_waits_for_a_person(table: Table) -> None:
    """A wrong key is not tried again by itself; the next append tries again."""
    table.models.script(ModelRejected("Check the API key.", connection="default", status=401, calls=1))
    await table.say(*range(1, 14))
    error = table.status().last_error
    assert error is not None
    assert (error.status, error.retry_at) == (401, None)
    await asyncio.sleep(0.5)
    assert len(table.models.requests) == 1
    await table.say(14)
    assert table.status().counts.ghosted == 6


async def test_backlog_waits_for_a_choice(table: Table) -> None:
    """An old chat waits: nothing is called until a person chooses."""
    appended = await table.say(*range(1, 41), fold="background")
    assert (appended.job_id, appended.reason) == (None, "choice_needed")
    status = table.status()
    assert status.backlog.choice_needed
    assert (status.backlog.turns, status.backlog.batches) == (30, 10)
    assert table.models.requests == []


async def test_backlog_all(table: Table) -> None:
    """`all` folds until nothing full lies outside the window."""
    await table.say(*range(1, 41))
    started = table.services.steering.backlog("c", "all")
    assert started.job is not None
    assert started.job.progress.total == 10
    status = await table.settled()
    assert (status.counts.ghosted, status.backlog.turns) == (60, 0)
    assert_promises(table.database, "c")


async def test_backlog_one(table: Table) -> None:
    """`one` folds a batch now, then one extra batch per reply, and never asks again."""
    await table.say(*range(1, 41))
    table.services.steering.backlog("c", "one")
    assert (await table.settled()).counts.ghosted == 6
    await table.say(41)
    assert table.status().counts.ghosted == 12
    assert not table.status().backlog.choice_needed


async def test_backlog_skip_then_all(table: Table) -> None:
    """`skip` leaves turns visible and unfolded; a later `all` takes them up, and they enter before what followed."""
    await table.say(*range(1, 41))
    assert table.services.steering.skip("c") == 30
    for turn in (41, 42, 43):
        await table.say(turn)
    status = table.status()
    assert (status.counts.skipped, status.counts.ghosted, status.backlog.turns) == (30, 6, 0)
    assert not status.backlog.choice_needed
    table.services.steering.backlog("c", "all")
    status = await table.settled()
    assert (status.counts.skipped, status.counts.ghosted) == (0, 66)
    preview = table.services.reporting.preview("c").text
    assert preview.index("Line 2 of") < preview.index("Line 1 of")
    assert_promises(table.database, "c")


async def test_never_asks_after_an_outage(table: Table) -> None:
    """What piles up behind a dead model folds by itself when it is back; nobody is asked."""
    down = ModelRejected("No such model.", connection="default", status=404, calls=1)
    table.models.script(*[down] * 30)
    for turn in range(1, 31):
        await table.say(turn)
    assert not table.status().backlog.choice_needed
    table.models._script.clear()
    await table.say(31)
    assert table.status().counts.ghosted == 42


async def test_summarize_folds_the_rest(table: Table) -> None:
    """summarize folds everything outside the window, a short last batch included, pause or not."""
    await table.say(*range(1, 15), fold="none")
    await table.services.steering.pause("c")
    table.services.steering.summarize("c")
    assert (await table.settled()).counts.ghosted == 8
    assert table.services.steering.summarize("c").reason == "nothing_to_fold"


async def test_pause_and_resume(table: Table) -> None:
    """While paused nothing folds by itself; resume takes up what is due."""
    await table.say(1)
    await table.services.steering.pause("c")
    appended = await table.say(*range(2, 14))
    assert appended.reason == "paused"
    table.services.steering.resume("c")
    assert (await table.settled()).counts.ghosted == 6


async def test_a_second_start_joins_the_running_job(table: Table) -> None:
    """Two starts on one chat are one job."""
    await table.say(*range(1, 41))
    table.models.hold()
    first = table.services.steering.backlog("c", "all")
    second = table.services.steering.summarize("c")
    assert first.job is not None
    assert second.job is not None
    assert first.job.id == second.job.id
    table.models.let_go()
    assert (await table.settled()).counts.ghosted == 60


async def test_a_restart_goes_on(tmp_path: Path) -> None:
    """What a stopped server left is interrupted, and the next one takes it up by itself."""
    models, database = ScriptedModels(), tmp_path / "turnfold.db"
    server = assembled(database, models=models)
    migrate(server.db.engine)
    await server.start()
    table = Table(server, models, database)
    models.hold()
    appended = await table.say(*range(1, 14), fold="background")
    await models.arrived(1)
    await server.stop()
    second = assembled(database, models=(fresh := ScriptedModels()))
    await second.start()
    try:
        table = Table(second, fresh, database)
        await table.folded()
        assert second.services.working.get(appended.job_id).state == "interrupted"
    finally:
        await second.stop()
