"""Who counts as a speaker where a prompt decides by itself whether it says who speaks."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.services.projection_query import ProjectionQuery
from app.services.recording import Draft
from tests.support.table import Table, laid

CALL: dict[str, Any] = {"id": "k", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLED = [Draft(Role.ASSISTANT, None, tool_calls=[CALL]), Draft(Role.TOOL, "A gate.", name="look", tool_call_id="k")]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        await table.say(1, fold="none")
        yield table


@pytest.mark.parametrize(
    ("more", "omit_authors", "named"),
    [
        (CALLED, None, False),
        ([Draft(Role.SYSTEM, "Night falls.", name="Narrator")], None, False),
        ([Draft(Role.USER, "Hm.", name="Ines", hidden=True)], None, False),
        ([Draft(Role.USER, "Hm.", name="Ines", omitted=True)], None, False),
        ([Draft(Role.USER, "Hm.", name="Ines")], ("Ines",), False),
        ([Draft(Role.USER, "Hm.", name="Ines")], None, True),
    ],
)
async def test_three_who_speak_are_a_group(
    table: Table, more: list[Draft], omit_authors: tuple[str, ...] | None, *, named: bool
) -> None:
    """Tools and narrators do not, nor those whom this prompt does not show."""
    await table.services.recording.append("c", [*more, Draft(Role.ASSISTANT, "So it is.")], "none", 0)
    found = table.services.projecting.project("c", ProjectionQuery(omit_authors=omit_authors))
    assert found.messages[0]["content"].startswith("User: ") == named
