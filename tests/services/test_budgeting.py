"""Which window a prompt is made for, and how what a request brings is counted."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.errors import InvalidRequest
from app.services.projection_query import ProjectionQuery
from app.services.projection_view import ProjectionView
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        await table.say(1, fold="none")
        yield table


def _connect(table: Table, **fields: object) -> None:
    place = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", **fields}
    table.services.connections.put("mine", place, keep_key=False, api_key=None)
    table.services.keeping.put("c", {"settings": {"connection": "mine"}})


def _prompt(table: Table, **asked: Any) -> ProjectionView:
    return table.services.projecting.project("c", ProjectionQuery(**asked))


def _codes(prompt: ProjectionView) -> list[str]:
    return [warning.code for warning in prompt.warnings]


async def test_the_requests_window_goes_before_its_connections(table: Table) -> None:
    """Each leaves the smaller of 1,024 tokens and a quarter for the answer."""
    _connect(table, context_size=8192)
    assert _prompt(table).tokens.budget == 8192 - 1024
    assert _prompt(table, context_size=2000).tokens.budget == 1500
    assert _prompt(table, context_size=2000, max_tokens=100).tokens.budget == 1900


async def test_an_unknown_window_trims_nothing_and_says_so(table: Table) -> None:
    """Of a connection without one, and of none that is there."""
    _connect(table)
    found = _prompt(table)
    assert (found.tokens.budget, _codes(found)) == (None, ["window_unknown"])
    table.services.connections.delete("mine")
    assert _codes(_prompt(table)) == ["connection_missing", "window_unknown"]
    assert _codes(_prompt(table, context_size=4096)) == []


async def test_room_for_an_answer_needs_a_window_beside_it(table: Table) -> None:
    """Whether the connection knows one or not."""
    _connect(table, context_size=8192)
    with pytest.raises(InvalidRequest, match="context_size"):
        _prompt(table, max_tokens=100)


async def test_a_request_is_counted_as_its_model_counts(table: Table) -> None:
    """A family without a vocabulary of its own gets its safety factor, in the system prompt as elsewhere."""
    asked: dict[str, Any] = {"system_prompt": "gate " * 100, "current": [{"role": "user", "content": "gate " * 100}]}
    _connect(table, model="gpt-4o")
    exact = _prompt(table, **asked).tokens
    _connect(table, model="qwen3")
    safe = _prompt(table, **asked).tokens
    assert safe.system - 8 == pytest.approx((exact.system - 8) * 1.2, abs=1)
    assert safe.current == safe.system
