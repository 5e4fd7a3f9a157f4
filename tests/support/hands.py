"""What a person does to the snippets of a table's chat, in a few words."""

from collections.abc import Sequence

from app.services.browsing import SnippetView
from app.services.revising import VersionView
from app.services.undoing import Undone
from app.services.working import JobView
from tests.support.checks import assert_promises
from tests.support.table import Table

SMALL = {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
"""At turn 3 the first fold; at turn 6 the first snippet of layer 1, at turn 7 the first merge."""


class Hands:
    """The calls that change snippets, and what there is to see of them."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def listed(self, state: str = "live") -> list[SnippetView]:
        """The chat's snippets in a state, in reading order."""
        return self.table.services.browsing.snippets(
            "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
        )

    def over(self, message_id: str) -> SnippetView:
        """The snippet that covers a message itself."""
        snippet_id = self.table.services.recording.get("c", message_id).snippet_id
        assert snippet_id is not None
        return self.shown(snippet_id)

    def shown(self, snippet_id: str) -> SnippetView:
        """A snippet."""
        return self.table.services.browsing.snippet("c", snippet_id)

    def edit(self, snippet: SnippetView, text: str) -> SnippetView:
        """Give it another text."""
        return self.table.services.revising.edit("c", snippet.id, text)

    def delete(self, snippet: SnippetView) -> None:
        """Delete it."""
        self.table.services.revising.delete("c", snippet.id)

    def write(self, first: str, last: str, text: str = "By hand.") -> SnippetView:
        """One over these messages and all between."""
        return self.table.services.revising.write("c", first, last, text)

    def regenerate(self, snippet: SnippetView) -> JobView:
        """Have it made anew."""
        return self.table.services.revising.regenerate("c", snippet.id)

    def versions(self, snippet: SnippetView) -> list[VersionView]:
        """Its earlier texts."""
        return [version for _, version in self.table.services.revising.earlier_texts("c", snippet.id, None, 100)]

    def undo(self) -> Undone:
        """Take the last step back."""
        return self.table.services.undoing.undo("c")

    def starts(self) -> list[int]:
        """Where what the live snippets cover begins, in reading order."""
        return [snippet.covers.first_index for snippet in self.listed() if snippet.covers]

    def texts(self, state: str = "live") -> Sequence[str]:
        """The texts of the snippets in a state."""
        return [snippet.text for snippet in self.listed(state)]

    def check(self) -> None:
        """The promises hold."""
        assert_promises(self.table.database, "c", SMALL["verbatim_turns"], shrunk=True)
