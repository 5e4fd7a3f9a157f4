"""docs/coherent-conversations.md: its table follows its rule, and what follows the rule is never trimmed."""

import pytest

from app.core.settings import RollingSettings
from app.core.trim import replay, resolve_budget
from tests.docs.pages import ROOT, table

PAGE = ROOT / "docs" / "coherent-conversations.md"
_ROWS = {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in table(PAGE, "tokens", "small")}
COLUMNS = [{name: values[place] for name, values in _ROWS.items()} for place in range(3)]


@pytest.mark.parametrize("column", COLUMNS, ids=["small", "usual", "large"])
def test_the_table_follows_the_rule(column: dict[str, int]) -> None:
    """Budget, room and trigger are what the formulas above the table come to."""
    budget = resolve_budget(column["`context_size`"], column["`max_tokens`"])
    assert column["budget"] == budget
    turn, fixed = column["usual turn"], _fixed(column)
    assert column["room"] == column["budget"] - fixed - (column["`keep_recent_turns`"] + 1) * turn
    assert column["largest `trigger_tokens`"] == column["room"] * column["of it text"] // turn


@pytest.mark.parametrize("column", COLUMNS, ids=["small", "usual", "large"])
def test_what_follows_the_rule_is_never_trimmed(column: dict[str, int]) -> None:
    """Just before a fold the prompt is as large as the table says, and no turn is dropped."""
    turn, fixed = column["usual turn"], _fixed(column)
    waiting = -(-column["largest `trigger_tokens`"] // column["of it text"])
    past = column["`keep_recent_turns`"] + waiting - 1
    assert column["largest prompt with it"] == fixed + past * turn <= column["budget"]
    current = column["current turn"]
    assert replay([turn] * past, [current] * (past + 1), fixed - current, column["budget"]) == 0


def _fixed(column: dict[str, int]) -> int:
    return sum(column[name] for name in ("system prompt", "`max_summary_tokens`", "label", "current turn"))


def test_the_default_is_too_large_for_the_first() -> None:
    """What the page says of the default trigger."""
    small, usual, _ = (column["largest `trigger_tokens`"] for column in COLUMNS)
    assert 2 * small < RollingSettings().trigger_tokens < usual
