"""What a promotion is checked for before it is stored."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Snippet
from app.core.promotion import Merge, plan_promotion
from app.core.settings import LayeredSettings
from app.core.summary import SummaryRequest
from app.services.committing import may_leave
from tests.support.builders import layered, layers
from tests.support.checks import assert_promises
from tests.support.table import Table, laid

FOLDS = [f"Fold {number}." for number in range(1, 6)]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.settings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3)
        yield table


async def merged_while(table: Table, change: str) -> None:
    """Turns until the first merge, of folds 2 and 3, is asked for; the change happens while the model answers."""

    def answer(request: SummaryRequest) -> str:
        assert request.kind == "merge"
        table.sql(change)
        return "The merge that came too late."

    table.models.script(*FOLDS, answer)
    for turn in range(1, 29):
        await table.say(turn)


async def test_merges(table: Table) -> None:
    """Without a change the merge is stored."""
    await merged_while(table, "SELECT 1")
    assert "The merge that came too late." in table.services.reporting.preview("c").text


async def test_turns_that_came_between_spoil_a_merge(table: Table) -> None:
    """A merge is dropped, and its cost counted, if turns to fold came to lie between its sources meanwhile."""
    await table.say(*range(1, 8), fold="none")
    table.sql("UPDATE messages SET hidden = 1 WHERE id IN ('u7', 'a7')")

    def answer(_: SummaryRequest) -> str:
        table.sql("UPDATE messages SET hidden = 0 WHERE id IN ('u7', 'a7')")
        return "The merge that came too late."

    table.models.script(*FOLDS, answer)
    for turn in range(8, 30):
        await table.say(turn)
    assert "The merge that came too late." not in table.services.reporting.preview("c").text
    assert table.status().summarizer_usage.calls == len(table.models.requests)
    assert_promises(table.database, "c")


async def test_what_does_not_lead_its_layer_stays(table: Table) -> None:
    """A merge is dropped if an older snippet came back to its sources' layer meanwhile."""
    await merged_while(table, "UPDATE snippets SET layer = 0, position = -1 WHERE layer = 1")
    assert "The merge that came too late." not in table.services.reporting.preview("c").text
    assert_promises(table.database, "c")


def keyed(live: Sequence[Snippet], *keys: int) -> list[Snippet]:
    """The snippets with these keys."""
    return [snippet for snippet in live if snippet.key in keys]


LIVE = layers(3, 2)  # keys 1 and 2 in layer 1, then 3, 4 and 5 in layer 0


@pytest.mark.parametrize(
    ("keys", "layer", "apart", "may"),
    [
        ((3, 4), 1, (), True),
        ((3, 4), 1, (3,), True),
        ((3, 4), 1, (4,), False),
        ((4, 5), 1, (), False),
        ((3, 5), 1, (), False),
        ((1, 2), 1, (), True),
        ((1,), 2, (), True),
        ((2,), 2, (), False),
        ((3,), 1, (), False),
        ((3,), 1, (4,), True),
    ],
)
def test_what_may_leave(keys: tuple[int, ...], layer: int, apart: tuple[int, ...], may: bool) -> None:
    """The oldest neighbours of a layer leave it together; one alone only for an empty layer, or without a neighbour."""
    assert may_leave(LIVE, apart, keyed(LIVE, *keys), layer) is may


@given(st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sets(st.integers(1, 30)), layered())
def test_whatever_is_planned_may_be_done(counts: list[int], apart: set[int], settings: LayeredSettings) -> None:
    """A promotion that was just planned passes the check."""
    live = layers(*counts)
    plan = plan_promotion(live, settings, apart=apart)
    if plan is not None:
        sources = plan.sources if isinstance(plan, Merge) else (plan.snippet,)
        assert may_leave(live, apart, sources, plan.layer)
