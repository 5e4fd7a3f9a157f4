"""Rolling memory and a summary buffer in files of our own: all of it comes back as it was, and goes on from there."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from app.assembly import Server
from app.errors import InvalidRequest
from app.services.projection_query import ProjectionQuery
from tests.support.chained import Chained
from tests.support.chains import assert_chains
from tests.support.table import Table, laid
from tests.support.travel import elsewhere, exported, taken_in

Lines = list[dict[str, Any]]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Server]:
    server = elsewhere(tmp_path)
    yield server
    server.db.dispose()


async def lived(table: Table) -> Chained:
    """Three summaries, the live one a person's; a fourth that was deleted; and a summary buffer's, dormant."""
    chat = Chained(table, "summary_buffer")
    await table.say(1, 2, 3)
    table.services.steering.summarize("c")
    await table.settled()
    chat.switch("rolling")
    for turn in (4, 5, 6, 7):
        await table.say(turn)
    chat.delete(chat.live)
    chat.edit(chat.live, "By hand.")
    chat.table.services.editing.delete("c", "a7")
    return chat


async def test_there_and_back(table: Table, other: Server, tmp_path: Path) -> None:
    """The same file comes out of the other server, with the same prompt; memory that sleeps comes along."""
    chat = await lived(table)
    content = exported(table.server)
    restored = taken_in(other, content)
    assert exported(other) == content
    assert_chains(tmp_path / "elsewhere.db", "c")
    assert restored.snippets == len(chat.listed("all")) + 1
    there = other.services.projecting.project("c", ProjectionQuery())
    assert there.messages == table.services.projecting.project("c", ProjectionQuery()).messages
    assert other.services.repairing.repair("c") == []
    switched = other.services.keeping.patch("c", {"strategy": "summary_buffer"}).switched
    assert switched is not None
    assert switched.memory_tokens > 0


async def test_undoing_elsewhere(table: Table, other: Server) -> None:
    """What a person did can be taken back where the chat has come to, the deletion of a summary too."""
    await lived(table)
    taken_in(other, exported(table.server))
    undone = [other.services.undoing.undo("c").kind for _ in range(2)]
    assert undone == ["edit", "delete"]
    found = other.services.browsing.snippets(
        "c", layer=None, state="superseded", stale=None, degraded=None, offset=0, limit=10
    )
    assert len(found) == 3


async def test_settings_come_along(table: Table, other: Server) -> None:
    """Those of every strategy, sampling and placements too."""
    rolling = {"sampling": {"temperature": 1, "top_k": 40}, "template": "{{previous_summary}}", "model_name": "m"}
    buffer = {"timeout_s": 2.5, "scope": "thread", "memory_placement": "in_chat:3"}
    given = {"diagnostics": True, "memory_placement": "user_message", "rolling": rolling, "summary_buffer": buffer}
    table.services.keeping.put("c", {"strategy": "rolling", "settings": given})
    taken_in(other, exported(table.server))
    shown = other.services.keeping.get("c")
    assert (shown.strategy, shown.settings) == ("rolling", given)


def _snippets(lines: Lines, state: str) -> Lines:
    return [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == state]


def _two_are_live(lines: Lines) -> None:
    for number, snippet in enumerate(_snippets(lines, "absorbed")):
        if snippet["strategy"] == "rolling":
            snippet.update(state="live", position=number + 1)
            del snippet["parent_id"]


def _two_went_into_one(lines: Lines) -> None:
    [live] = [one for one in _snippets(lines, "live") if one["strategy"] == "rolling"]
    for snippet in _snippets(lines, "absorbed"):
        snippet["parent_id"] = live["id"]


def _a_gap(lines: Lines) -> None:
    del lines[3]["message"]["leaves"]["rolling"]


def _out_of_order(lines: Lines) -> None:
    first, last = lines[1]["message"]["leaves"], lines[8]["message"]["leaves"]
    first["rolling"], last["rolling"] = last["rolling"], first["rolling"]


def _nothing_under_it(lines: Lines) -> None:
    for line in lines:
        line.get("message", {}).get("leaves", {}).pop("rolling", None)


@pytest.mark.parametrize("harm", [_two_are_live, _two_went_into_one, _a_gap, _out_of_order, _nothing_under_it])
async def test_what_does_not_hold_together(table: Table, other: Server, harm: Callable[[Lines], None]) -> None:
    """A file with a memory that has a gap, overlaps or has two summaries is refused, and leaves nothing."""
    await lived(table)
    lines = [json.loads(line) for line in exported(table.server).splitlines()]
    harm(lines)
    content = b"\n".join(json.dumps(line).encode() for line in lines)
    with pytest.raises(InvalidRequest, match="does not hold together"):
        taken_in(other, content)
    assert other.services.keeping.page(None, 10) == []
