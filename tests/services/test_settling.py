"""What changes of history leave behind in memory, on a real database."""

from pathlib import Path

import pytest

from tests.support.checks import assert_promises
from tests.support.table import laid

SMALL = {"verbatim_turns": 4, "turns_per_batch": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}


@pytest.mark.parametrize("change", [{"pinned": True}, {"hidden": True}, None], ids=["pin", "hide", "delete"])
async def test_a_joiner_whose_leaf_loses_what_stood_before_it(tmp_path: Path, change: dict[str, bool] | None) -> None:
    """A message that joined a leaf joins the leaf before it, once nothing of its own leaf stands before it."""
    async with laid(tmp_path) as table:
        services = table.services
        table.settings(**SMALL)
        for turn in range(1, 17):
            await table.say(turn)

        def leaf(message_id: str) -> str | None:
            return services.recording.get("c", message_id).snippet_id

        root = next(
            one
            for one in services.browsing.snippets(
                "c", layer=1, state="live", stale=None, degraded=None, offset=0, limit=9
            )
            if one.kind == "merge"
        )
        assert root.covers is not None
        first = root.covers.first_index // 2 + 3  # the first turn under its second part
        before, own = leaf(f"a{first - 1}"), leaf(f"u{first}")
        assert None is not before != own
        services.editing.edit("c", f"a{first}", {"hidden": True})
        await table.settled()
        await services.steering.pause("c")
        services.editing.edit("c", f"a{first}", {"hidden": False})
        if change is None:
            services.editing.delete("c", f"u{first}")
        else:
            services.editing.edit("c", f"u{first}", change)
        assert before is not None
        assert services.browsing.snippet("c", before).stale
        services.steering.resume("c")
        await table.settled()
        assert leaf(f"a{first}") == before
        assert_promises(table.database, "c", 4, shrunk=True)
