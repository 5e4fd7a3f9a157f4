"""Damage to rolling memory and summary buffers is found and mended, whether a chat uses them now or not."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.chained import Chained
from tests.support.damage import hurt
from tests.support.table import Table, laid

KEYS = "(SELECT key FROM snippets WHERE strategy = 'rolling' ORDER BY key LIMIT 1 OFFSET {})"
DAMAGES = {
    "a gap": ("summary_broken", ["UPDATE messages SET rolling_leaf = NULL WHERE position = 2"], 2),
    "two are live": (
        "summary_broken",
        [f"UPDATE snippets SET state = 'live', parent_key = NULL, position = 7 WHERE key = {KEYS.format(1)}"],
        4,
    ),
    "none is live": ("leaf_dead", [f"UPDATE snippets SET state = 'deleted' WHERE key = {KEYS.format(2)}"], 0),
    "under one that is gone": (
        "leaf_dead",
        [
            f"UPDATE snippets SET state = 'deleted' WHERE key = {KEYS.format(2)}",
            f"UPDATE snippets SET state = 'live', parent_key = NULL WHERE key = {KEYS.format(1)}",
        ],
        4,
    ),
    "hidden under one": ("covered_not_plain", ["UPDATE messages SET hidden = true WHERE position = 3"], 2),
    "elsewhere": ("summary_broken", [f"UPDATE snippets SET layer = 3 WHERE key = {KEYS.format(2)}"], 6),
}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


@pytest.mark.parametrize("sleeps", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
async def test_damage_is_mended(table: Table, damage: str, sleeps: bool) -> None:
    """It is told in a dry run and mended otherwise: the newest summary without a gap before it stands again."""
    chat = Chained(table)
    await table.say(1)
    for turn in (2, 3, 4):
        await table.say(turn)
    assert chat.ghosted() == 6
    if sleeps:
        chat.switch("none")
    else:
        await table.services.steering.pause("c")
    code, statements, left = DAMAGES[damage]
    hurt(table.database, *statements)
    repairing = table.services.repairing
    assert code in {finding.code for finding in repairing.repair("c")}
    assert {finding.code for finding in repairing.repair("c", dry_run=False) if not finding.fixed} == set()
    chat.check()
    if sleeps:
        chat.switch("rolling")
    assert chat.ghosted() == left


async def test_other_memory_stays(table: Table) -> None:
    """A message under a summary that is gone stays under its snippet of layered memory."""
    chat = Chained(table, "layered")
    await table.say(1, 2, 3, 4)
    layered = chat.ghosted()
    chat.switch("rolling")
    table.services.steering.summarize("c")
    await table.settled()
    assert layered
    hurt(table.database, "UPDATE snippets SET state = 'deleted' WHERE strategy = 'rolling'")
    table.services.repairing.repair("c", dry_run=False)
    await table.settled()
    chat.switch("layered")
    assert chat.ghosted() == layered
