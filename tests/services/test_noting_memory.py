"""Every change of a memory is told, and told once: `memory`, unless `summarized` or `promoted` tells more of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.services.rehearsing import TrialQuery
from app.store import events
from tests.support.chained import Chained
from tests.support.hands import SMALL, Hands
from tests.support.table import Table, laid

KINDS = frozenset({"memory", "summarized", "promoted"})


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


@pytest.fixture
def hands(table: Table) -> Hands:
    table.services.keeping.put("c", {"settings": {"on_backlog": "all", "layered": SMALL}})
    return Hands(table)


class Told:
    """What is told of memories after one look and before the next."""

    def __init__(self, table: Table) -> None:
        self._table, self._seen = table, 0

    def __call__(self) -> list[tuple[str, str | None]]:
        """Kind and reason of each; the newest names the version that the chat has."""
        with self._table.server.db.read() as session:
            stretch = events.of_all(session, self._seen, 1000)
        self._seen = stretch.through
        found = [one for one in stretch.found if one.kind in KINDS]
        if found and "memory_version" in found[-1].data:
            assert found[-1].data["memory_version"] == self._table.status().memory_version
        return [(one.kind, one.data.get("why")) for one in found]


@pytest.mark.usefixtures("hands")
async def test_layered_folds_are_told_once(table: Table) -> None:
    """A fold is `summarized` and a promotion `promoted`; neither is `memory` too."""
    told = Told(table)
    await table.say(1, 2, 3)
    assert told() == [("summarized", None)]
    await table.say(*range(4, 9))
    assert {kind for kind, _ in told()} == {"summarized", "promoted"}


async def test_a_part_that_is_edited_and_what_heals_by_it(table: Table, hands: Hands) -> None:
    """Editing a part, the healing of what absorbed it, undoing it and the next healing are told one by one."""
    await table.say(*range(1, 9))
    part = hands.listed("absorbed")[0]
    told = Told(table)
    told()
    hands.edit(part, "A key of brass.")
    hands.edit(part, "A key of brass.")
    await table.settled()
    assert told() == [("memory", "edit"), ("memory", "heal")]
    hands.undo()
    await table.settled()
    assert told() == [("memory", "undo"), ("memory", "heal")]


@pytest.mark.parametrize("state", ["live", "absorbed"])
async def test_a_snippet_that_is_made_anew(table: Table, hands: Hands, state: str) -> None:
    """Making a snippet anew is told by its reason, whether it is sent or a part of what is."""
    await table.say(*range(1, 9))
    told = Told(table)
    told()
    hands.regenerate(hands.listed(state)[0])
    await table.settled()
    found = told()
    assert found[0] == ("memory", "regenerate")
    assert set(found[1:]) <= {("memory", "heal")}


@pytest.mark.parametrize("wanted", [False, True])
async def test_rolling_folds(table: Table, wanted: bool) -> None:
    """A fold of rolling memory is told once: with its text if that is wanted, else as `memory`."""
    Chained(table)
    table.services.keeping.patch("c", {"settings": {"rolling": {"notify_client": wanted}}})
    told = Told(table)
    await table.say(1, 2)
    assert told() == [("summarized", None) if wanted else ("memory", "fold")]


async def test_a_summary_buffer_is_told_like_layers(table: Table) -> None:
    """A summary buffer's fold is `summarized` and nothing else."""
    Chained(table, "summary_buffer")
    told = Told(table)
    await table.say(1, 2, 3, 4)
    table.services.steering.summarize("c")
    await table.settled()
    assert told() == [("summarized", None)]


@pytest.mark.usefixtures("hands")
async def test_settings_that_give_turns_back(table: Table) -> None:
    """Settings that let snippets give way are told; others, and the same again, are not."""
    await table.say(1, 2, 3)
    told = Told(table)
    told()
    for _ in range(2):
        table.settings(verbatim_turns=40)
    table.settings(turns_per_batch=2)
    assert told() == [("memory", "settings")]


@pytest.mark.usefixtures("hands")
async def test_dormant_memory_that_goes(table: Table) -> None:
    """Clearing tells of snippets that went although none of them was sent; where there are none, nothing is told."""
    await table.say(1, 2, 3)
    table.services.keeping.patch("c", {"strategy": "none"})
    told = Told(table)
    told()
    for _ in range(2):
        await table.services.steering.clear("c")
    assert told() == [("memory", "clear")]


@pytest.mark.usefixtures("hands")
async def test_a_trial_tells_of_what_it_cost(table: Table) -> None:
    """A trial that asked a model is told as a change of the chat; one that only shows its prompt is not."""
    await table.say(1)
    with table.server.db.read() as session:
        newest = events.newest_of_all(session)
    for run in (False, True):
        await table.services.rehearsing.rehearse("c", TrialQuery(run=run))
    with table.server.db.read() as session:
        [told] = events.of_all(session, newest, 10).found
    assert (told.kind, told.data) == ("chat", {"why": "changed"})
