"""Calls that are withdrawn, and jobs that wait for frontends: nobody has failed."""

from pathlib import Path

import pytest

from app.core.summary import Connection, SummaryRequest
from app.errors import ModelWithdrawn
from app.services.trying import Trying
from tests.support.scripted import ScriptedModels
from tests.support.table import Table, laid

WITHDRAWN = ModelWithdrawn("What was asked was changed.", connection="front")
FRONT = {
    **{"provider": "client", "base_url": None, "model": None, "context_size": None, "temperature": None},
    **{"max_tokens": None, "timeout_s": None, "concurrency": None, "extra_body": None},
}


def _front(table: Table, **settings: object) -> None:
    table.services.connections.put("front", FRONT, keep_key=False, api_key=None)
    values = {"connection": "front", "layered": {"verbatim_turns": 1, "turns_per_batch": 1}, **settings}
    table.services.keeping.put("c", {"settings": values})


async def test_a_withdrawn_call_is_planned_anew(tmp_path: Path) -> None:
    """The job goes on as if it had not been made; status shows no error, and the fallback is not asked."""
    models = ScriptedModels()
    async with laid(tmp_path, models) as table:
        _front(table, fallback_connection="extractive")
        models.script(WITHDRAWN)
        await table.say(1, 2)
        status = table.status()
        assert (table.layers(), status.last_error, status.summarizer_usage.calls) == ([1], None, 1)
        assert [request.connection.name for request in models.requests] == ["front", "front"]
        [(_, job)] = table.services.working.page("c", None, None, 10)
        assert (job.state, job.progress.failed) == ("succeeded", 0)


async def test_trying_asks_nobody_else() -> None:
    """A withdrawn call is not asked of the next connection."""
    models = ScriptedModels()
    models.script(WITHDRAWN)
    request = SummaryRequest("fold", Connection("front", "client"), "", "", (), (), 20, 100)
    with pytest.raises(ModelWithdrawn):
        await Trying(models).summarize(request, [Connection("other", "openai")])
    assert len(models.requests) == 1


async def test_waiting_is_not_limited(tmp_path: Path) -> None:
    """A job may wait for a frontend for longer than TURNFOLD_JOB_MAX_S; one that calls a server may not."""
    async with laid(tmp_path, job_max_s=0.000_001) as table:
        _front(table)
        await table.say(1, 2)
        assert (table.layers(), table.status().last_error) == ([1], None)
        table.services.keeping.put("c", {"settings": {"connection": "default"}})
        await table.say(3)
        found = table.status().last_error
        assert found is not None
        assert found.code == "limit_reached"
