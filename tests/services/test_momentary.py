"""What a request brings is summarized for it alone: nothing of it is lost, parted or told twice."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.model import Usage
from app.services.bundle import Services
from app.services.momentary import Due
from app.services.projection_query import ProjectionQuery
from app.store.migrate import migrate
from tests.support.parts import assembled
from tests.support.scripted import ScriptedModels
from tests.support.table import laid


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Of a chat `c` whose memory is that of one call."""
    folder: Path = tmp_path_factory.mktemp("momentary")
    server = assembled(folder / "turnfold.db", models=ScriptedModels())
    migrate(server.db.engine)
    server.services.keeping.put("c", {"strategy": "summary_buffer", "settings": {"summary_buffer": {"scope": "call"}}})
    yield server.services
    server.db.dispose()


def turn(kind: str, number: int) -> list[dict[str, Any]]:
    """A turn as a request brings it: plain, with a call of a tool, or not answered."""
    asks = {"role": "user", "content": f"ask {number}"}
    call = {"id": f"call-{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    between = [
        {"role": "assistant", "content": f"call {number}", "tool_calls": [call]},
        {"role": "tool", "content": f"result {number}", "tool_call_id": f"call-{number}"},
    ]
    reply = {"role": "assistant", "content": f"reply {number}"}
    return [asks] if kind == "open" else [asks, *(between if kind == "tool" else ()), reply]


@settings(max_examples=40, deadline=None)
@given(kinds=st.lists(st.sampled_from(["plain", "plain", "tool", "open"]), max_size=20), data=st.data())
def test_what_is_told_and_what_is_sent_is_all_of_it(services: Services, kinds: list[str], data: st.DataObject) -> None:
    """The oldest turns are told, the rest is sent; at least what is to be kept, and each call with its result."""
    most = data.draw(st.integers(1, 30), "most")
    keep = data.draw(st.integers(0, most - 1), "keep")
    change = {"max_messages_before_summary": most, "recent_messages_to_keep": keep}
    services.keeping.patch("c", {"settings": {"summary_buffer": change}})
    current = [line for number, kind in enumerate(kinds) for line in turn(kind, number)]
    momentary, query = services.answering.momentary, ProjectionQuery(current=current)
    due = momentary.plan("c", query)
    if not isinstance(due, Due):
        replies = (place for place, line in enumerate(current, 1) if line["content"].startswith("reply"))
        assert len(current) < most or not any(len(current) - place >= keep for place in replies)
        return
    left, before = asyncio.run(momentary.fold(query, due))
    told = [line.text.removesuffix(" [calls look({})]") for line in due.request.passage]
    assert [*told, *(line["content"] for line in left.current)] == [line["content"] for line in current]
    assert len(left.current) >= keep
    assert not left.current or left.current[0]["role"] == "user"
    assert (len(current) >= most, bool(before.summary)) == (True, True)


async def test_a_fold_that_is_cut_is_counted(tmp_path: Path) -> None:
    """Whoever waits for its prompt may be cut: the call that was under way then is in the chat's usage."""
    async with laid(tmp_path) as table:
        buffer = {"scope": "call", "max_messages_before_summary": 4, "recent_messages_to_keep": 1}
        table.services.keeping.put("c", {"strategy": "summary_buffer", "settings": {"summary_buffer": buffer}})
        table.models.hold()
        query = ProjectionQuery(current=[line for number in range(4) for line in turn("plain", number)])
        asking = asyncio.create_task(table.services.answering.project("c", query))
        await table.models.arrived(1)
        asking.cancel()
        await asyncio.wait([asking])
        assert (asking.cancelled(), table.models.cut, table.status().summarizer_usage) == (True, 1, Usage(1))
