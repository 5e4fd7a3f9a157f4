"""What a prompt is drawn from: blank parts, the line that opens an Anthropic prompt, and memory beyond its share."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from app.services.recording import Draft
from tests.support.table import Table, laid

BLANK = {"role": "user", "content": " "}
AND = {"role": "user", "content": "And?"}
FORMATS = ["openai", "anthropic", "text"]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.services.keeping.put("c", {})
        yield table


def _prompt(table: Table, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(**asked))


async def _say(table: Table, *said: tuple[str, int]) -> None:
    roles = {"u": Role.USER, "a": Role.ASSISTANT}
    drafts = [Draft(roles[role], ("stone " * tokens).strip()) for role, tokens in said]
    await table.services.recording.append("c", drafts, "none", 0)


@pytest.mark.parametrize("format", FORMATS)
async def test_blank_parts_of_a_request_are_not_sent(table: Table, format: str) -> None:
    """In no format, and they cost nothing."""
    await _say(table, ("u", 3), ("a", 3))
    plain = _prompt(table, format=format, current=[AND])
    empty = {"role": "assistant", "content": ""}
    assert _prompt(table, format=format, system_prompt=" \n", current=[BLANK, AND, empty]) == plain


@pytest.mark.parametrize("position", ["replace", "before_system", "after_user"])
async def test_a_frame_stands_around_a_blank_line(table: Table, position: str) -> None:
    """The line itself is not sent, and what was said before it stays as it was."""
    await _say(table, ("u", 3), ("a", 3), ("u", 1))
    plain = _prompt(table)
    found = _prompt(table, frame={"template": "Rain.", "position": position}, current=[BLANK])
    assert found.messages[:-1] == plain.messages
    assert found.messages[-1]["content"] == "Rain."
    assert found.tokens.total - plain.tokens.total == 8 + 2


async def test_an_opening_that_is_not_sent_costs_nothing(table: Table) -> None:
    """It calls for room, a turn goes, and the next one begins with the user."""
    await _say(table, ("u", 100), ("a", 100), ("a", 40), ("u", 10), ("a", 30))
    sizes = {"context_size": 114, "max_tokens": 10}
    assert (_prompt(table, **sizes).tokens.total, _prompt(table, **sizes).window.turns) == (104, 2)
    found = _prompt(table, **sizes, format="anthropic")
    assert [message["role"] for message in found.messages] == ["user", "assistant"]
    assert (found.tokens.system, found.tokens.total, found.window.turns) == (0, 56, 1)
    roomy = _prompt(table, context_size=126, max_tokens=10, format="anthropic")
    assert (roomy.tokens.system, roomy.tokens.total, roomy.window.turns) == (12, 116, 2)


async def test_tools_are_counted_as_they_are_sent(table: Table) -> None:
    """A model reads letters of any script, not their escapes."""
    letters = _prompt(table, tools=[{"name": "schauen", "description": "Öffne größere Türen"}]).tokens.tools
    escapes = _prompt(table, tools=[{"name": "schauen", "description": r"\u00d6ffne gr\u00f6\u00dfere"}]).tokens.tools
    assert letters < escapes


async def test_a_trimmed_memory_says_how_far_it_tells(table: Table) -> None:
    """The newest message of the snippets that are in it."""
    small = {
        "on_backlog": "all",
        "layered": {"verbatim_turns": 1, "turns_per_batch": 1, "snippets_per_layer": 2, "snippets_per_promotion": 1},
    }
    table.services.keeping.put("c", {"settings": {**small, "memory_share": 0.5}})
    table.models.script("Gate one.", "Gate two.", "Gate three.", *["Both gates."] * 4)
    await table.say(1, 2, 3, 4)
    await table.settled()
    whole = _prompt(table, context_size=4096)
    assert whole.memory.covered_through is not None
    assert whole.memory.covered_through.index == 5
    sizes = range(whole.memory.tokens * 2 + 19, 100, -2)
    parts = [_prompt(table, context_size=size, max_tokens=20) for size in sizes]
    cut = [part for part in parts if part.memory.text and "Gate three." not in part.memory.text]
    assert cut
    for part in cut:
        assert part.memory.covered_through is not None
        assert part.memory.covered_through.index < 5


async def test_a_frame_that_pushes_out_a_call_takes_its_result_along(table: Table) -> None:
    """What it costs drops the turn with the call: its result in the current turn is not sent without it."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    await _say(table, ("u", 20))
    drafts = [Draft(Role.ASSISTANT, None, tool_calls=[call]), Draft(Role.ASSISTANT, "Wait.")]
    drafts += [Draft(Role.TOOL, "A gate.", tool_call_id="c1"), Draft(Role.USER, "So?")]
    await table.services.recording.append("c", drafts, "none", 0)
    whole = _prompt(table)
    sizes = {"context_size": whole.tokens.total + 20, "max_tokens": 20}
    assert _prompt(table, **sizes).messages == whole.messages
    found = _prompt(table, **sizes, frame={"template": "Rain."}, explain=True)
    assert [message["content"] for message in found.messages] == ["Rain.", "So?"]
    assert sum(piece["tokens"] for piece in found.sent or ()) == found.tokens.total == found.tokens.current
