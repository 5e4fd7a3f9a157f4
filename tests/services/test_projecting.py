"""The prompt of a real chat: what a budget leaves of the memory, who is named, what tool calls cost."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft
from tests.support.parts import counter
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


def _prompt(table: Table, context_size: int | None = None, max_tokens: int | None = None) -> ProjectionView:
    query = ProjectionQuery(context_size=context_size, max_tokens=max_tokens)
    return table.services.projecting.project("c", query)


async def test_a_small_window_leaves_room_for_recent_turns(table: Table) -> None:
    """Memory gets its share of the budget and no more, so that the newest turns are always sent."""
    table.models.script(*[f"Chapter {n}: " + "Mira counts the gates of the town again. " * 8 for n in range(40)])
    for turn in range(1, 70):
        await table.say(turn)
    whole = _prompt(table)
    small = _prompt(table, context_size=1200, max_tokens=200)
    assert whole.memory.tokens > 1000
    assert small.tokens.total <= 1000
    assert 0 < small.memory.tokens <= 500
    assert small.window.turns >= 3
    assert "memory_trimmed" in {warning.code for warning in small.warnings}
    assert whole.memory.text.splitlines()[-2] in small.memory.text
    assert _prompt(table, context_size=1200, max_tokens=200) == small


@pytest.mark.parametrize(("name", "prefixed"), [("Mira", False), ("Anna", True)])
async def test_two_speakers_are_no_group(table: Table, name: str, prefixed: bool) -> None:
    """Who bears no name goes by the chat's: only a third speaker makes a group, whose lines say who speaks."""
    table.services.keeping.put("c", {"user_name": "Mira", "character_name": "Tom"})
    lines = [
        Draft(Role.USER, "Hello."),
        Draft(Role.ASSISTANT, "Hello.", name="Tom"),
        Draft(Role.USER, "Who is there?", name=name),
    ]
    await table.services.recording.append("c", lines, "none", 0)
    shown = [message["content"] for message in _prompt(table).messages]
    assert shown[-1] == (f"{name}: Who is there?" if prefixed else "Who is there?")


async def test_tool_calls_cost_what_they_say(table: Table) -> None:
    """A call with long arguments counts in the prompt and in a fold's passage, not in the message's own tokens."""
    call = {"id": "c1", "type": "function", "function": {"name": "write", "arguments": "gate " * 500}}
    lines = [
        Draft(Role.USER, "Write it down."),
        Draft(Role.ASSISTANT, None, tool_calls=[call]),
        Draft(Role.TOOL, "Done.", tool_call_id="c1"),
        Draft(Role.ASSISTANT, "It is written."),
    ]
    appended = await table.services.recording.append("c", lines, "none", 0)
    assert appended.items[1].tokens == 0
    assert _prompt(table).tokens.history > 500
    table.settings(turns_per_batch=1, verbatim_turns=1, passage_tokens=100)
    await table.say(1)
    assert counter()(table.models.requests[0].user) < 1000
    assert table.status().counts.ghosted == 4
