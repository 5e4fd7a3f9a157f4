"""app.core.notices: what there is to know about a prompt's sizes."""

from dataclasses import replace

import pytest

from app.core.notices import LABEL, Tokens, notices, trigger_above_budget
from app.core.settings import RollingSettings

SIZES = Tokens(system=208, tools=0, memory=0, history=0, current=48, budget=3584)
ROLLING = RollingSettings(trigger_tokens=1024, keep_recent_turns=3, max_summary_tokens=256)


@pytest.mark.parametrize(
    ("sizes", "codes"),
    [
        (SIZES, ()),
        (replace(SIZES, system=1792), ()),
        (replace(SIZES, system=1793), ("system_over_half",)),
        (replace(SIZES, tools=3328), ()),
        (replace(SIZES, tools=3329), ("over_budget",)),
        (replace(SIZES, system=9999, budget=None), ()),
    ],
)
def test_sizes_are_compared_with_the_budget(sizes: Tokens, codes: tuple[str, ...]) -> None:
    """Exactly half and exactly the budget are no news; without a budget nothing is."""
    assert notices(sizes, ()) == codes


def test_reasons_become_warnings() -> None:
    """Orphans always, dropped turns where there is a budget."""
    assert notices(SIZES, {"orphan", "trimmed", "hidden"}) == ("orphaned_tool_messages", "uncovered_turns_dropped")


def test_the_sizing_rule() -> None:
    """T1's chat: the trigger may be as large as what is left beside a full summary and one turn more than is kept."""
    most = 3584 - 208 - 48 - (256 + LABEL) - 4 * 196
    assert not trigger_above_budget(replace(ROLLING, trigger_tokens=most), SIZES, [196] * 5)
    assert trigger_above_budget(replace(ROLLING, trigger_tokens=most + 1), SIZES, [196] * 5)


def test_a_longer_summary_counts_as_it_is() -> None:
    """A summary over its own limit leaves less."""
    most = 3584 - 208 - 48 - 900
    full = replace(SIZES, memory=900)
    assert not trigger_above_budget(replace(ROLLING, trigger_tokens=most), full, [])
    assert trigger_above_budget(replace(ROLLING, trigger_tokens=most + 1), full, [])


def test_without_a_token_trigger_or_a_budget_it_says_nothing() -> None:
    """Turns are no tokens, and without a window nothing is dropped."""
    assert not trigger_above_budget(replace(ROLLING, trigger_tokens=0, trigger_turns=4), SIZES, [2000] * 5)
    assert not trigger_above_budget(replace(ROLLING, trigger_tokens=9999), replace(SIZES, budget=None), [196])
