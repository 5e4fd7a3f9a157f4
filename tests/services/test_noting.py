"""What is told of work on a memory: one row for each thing that was committed, and none for what was not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.summary import SummaryRequest
from app.services.recording import Draft
from app.services.syncing import Line
from app.store import chats, events
from app.store.events import Noted
from tests.support.table import Table, laid, turn_drafts


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def told(table: Table, kind: str | None = None) -> list[Noted]:
    """What happened to the chat's memory, or what of one kind."""
    with table.server.db.read() as session:
        chat = chats.find(session, "c")
        assert chat is not None
        found = events.of_chat(session, chat.key, 0, 1000)
    return [one for one in found if kind == one.kind or (kind is None and one.kind not in ("chat", "history"))]


def steps(table: Table) -> list[dict[str, Any]]:
    """The progress that was told of jobs, the oldest first."""
    with table.server.db.read() as session:
        rows = session.connection().exec_driver_sql("SELECT DISTINCT job_key FROM events WHERE job_key IS NOT NULL")
        found = [one for (key,) in rows.all() for one in events.of_job(session, key, 0, 1000)]
    return [dict(one.data) for one in sorted(found, key=lambda one: one.key)]


def lines(*turns: int) -> list[Line]:
    return [Line(draft, frozenset()) for turn in turns for draft in turn_drafts(turn)]


async def folded_at_once(table: Table, turns: int) -> None:
    """So many turns, and then one job that folds all that may fold."""
    await table.say(*range(1, turns + 1), fold="none")
    table.services.steering.summarize("c")
    await table.settled()


async def test_a_fold_is_told_without_its_words(table: Table) -> None:
    """Each fold is told with what it covers and how long it is, in the order they were committed."""
    table.settings(verbatim_turns=1, turns_per_batch=2, flush_turns=2)
    table.models.script("Mira asks.", "Tom opens.")
    await table.say(*range(1, 6))
    first, second = told(table, "summarized")
    snippet = table.services.browsing.snippet("c", first.data["snippet_id"])
    assert (snippet.text, snippet.covers and snippet.covers.last_index) == ("Mira asks.", 3)
    assert first.data == {
        "covered_through": {"message_id": "a2", "index": 3},
        "folded_turns": 2,
        "summary_chars": len("Mira asks."),
        "snippet_id": snippet.id,
        "layer": 0,
        "memory_version": 1,
    }
    assert (second.data["covered_through"], second.data["memory_version"]) == ({"message_id": "a4", "index": 7}, 2)
    assert "Mira" not in str(told(table))


async def test_a_job_tells_its_states(table: Table) -> None:
    """A job is told when it is queued, when it runs and when it ends, as it was at that moment."""
    table.settings(verbatim_turns=1, turns_per_batch=1)
    await table.say(1, 2)
    jobs = [one.data for one in told(table, "job")]
    assert [(job["state"], job["done"], job["total"]) for job in jobs] == [
        ("queued", 0, 1),
        ("running", 0, 1),
        ("succeeded", 1, 1),
    ]
    assert len({job["id"] for job in jobs}) == 1
    assert jobs[0]["started_at"] is None
    assert jobs[2]["finished_at"] >= jobs[1]["started_at"]


async def test_progress_is_told_batch_by_batch(table: Table) -> None:
    """A job tells once for each batch how far it is, and what it cost by then."""
    table.settings(verbatim_turns=1, turns_per_batch=1)
    await folded_at_once(table, 4)
    done = steps(table)
    assert [(step["done"], step["total"], step["failed"], step["percent"]) for step in done] == [
        (1, 3, 0, 33),
        (2, 3, 0, 66),
        (3, 3, 0, 100),
    ]
    assert [step["usage"]["calls"] for step in done] == [1, 2, 3]
    assert done[2]["eta_s"] == 0


async def test_promotions_are_told(table: Table) -> None:
    """A seed and a merge are told with the layers they went between and the snippets they came from."""
    table.settings(verbatim_turns=1, turns_per_batch=1, snippets_per_layer=3, snippets_per_promotion=2, max_layers=2)
    await folded_at_once(table, 9)
    found = [one.data for one in told(table, "promoted")]
    made = [one.data["snippet_id"] for one in told(table, "summarized")]
    seed, merge = found[0], next(data for data in found if data["kind"] == "merge")
    assert (seed["kind"], seed["from_layer"], seed["layer"]) == ("seed", 0, 1)
    assert seed["sources"] == [seed["snippet_id"]] == made[:1]
    assert (merge["from_layer"], merge["layer"], merge["sources"]) == (0, 1, made[1:3])
    assert merge["snippet_id"] not in made


async def test_what_did_not_hold_is_not_told(table: Table) -> None:
    """An answer that came too late leaves no event but those of its job."""
    table.settings(verbatim_turns=1, turns_per_batch=1)

    def clear(_: SummaryRequest) -> str:
        table.sql("UPDATE chats SET epoch = epoch + 1, held = 1, settings = '{\"enabled\": false}'")
        return "Too late."

    table.models.script(clear)
    await table.say(1, 2)
    assert {one.kind for one in told(table)} == {"job"}
    assert steps(table) == []


async def test_a_reset_is_told(table: Table) -> None:
    """A sync that replaces the history is told with its figures, any other sync is not."""
    sync = table.services.syncing.sync
    sync("c", lines(1, 2))
    sync("c", lines(1, 2, 3))
    assert told(table, "history_set") == []
    sync("c", [*lines(1), Line(Draft(turn_drafts(2)[0].role, "Something else.", id="x"), frozenset())], reset=True)
    [one] = told(table, "history_set")
    assert one.data == {
        "messages": 3,
        "appended": 0,
        "edited": 1,
        "deleted": 3,
        "unchanged": 2,
        "stale_snippets": 0,
    }
