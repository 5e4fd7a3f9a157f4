"""A table whose chat keeps one summary, and what there is to see of it."""

from collections.abc import Mapping
from typing import Any

from app.services.browsing import SnippetView
from tests.support.chains import assert_chains
from tests.support.hands import Hands
from tests.support.table import Table

SETTINGS: Mapping[str, Any] = {
    "on_backlog": "all",
    "layered": {"verbatim_turns": 2, "turns_per_batch": 1},
    "rolling": {"trigger_tokens": 0, "trigger_turns": 1, "keep_recent_turns": 1},
    "summary_buffer": {"max_messages_before_summary": 6, "recent_messages_to_keep": 2},
}
"""Rolling memory folds the turn before the newest with every reply, a summary buffer all but two messages at six."""


class Chained(Hands):
    """What a person does to the summary of a table's chat."""

    def __init__(self, table: Table, strategy: str = "rolling") -> None:
        super().__init__(table)
        table.services.keeping.put("c", {"strategy": strategy, "settings": SETTINGS})

    @property
    def live(self) -> SnippetView:
        """The one summary."""
        [found] = self.listed()
        return found

    def before(self) -> list[SnippetView]:
        """Its predecessors, oldest first."""
        return sorted(self.listed("superseded"), key=lambda one: one.covers.last_index if one.covers else -1)

    def change(self, message_id: str, **fields: Any) -> None:
        """Edit, hide or pin a message."""
        self.table.services.editing.edit("c", message_id, fields)

    def switch(self, strategy: str) -> Any:
        """Use another kind of memory."""
        return self.table.services.keeping.patch("c", {"strategy": strategy}).switched

    def ghosted(self) -> int:
        """How many messages are covered."""
        return self.table.status().counts.ghosted

    def check(self) -> None:
        """The promises hold."""
        assert_chains(self.table.database, "c")
        assert self.table.services.repairing.repair("c") == []
