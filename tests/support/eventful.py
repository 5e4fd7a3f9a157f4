"""Chats to which everything happens that can happen: talk, tools, changes by hand of messages and snippets, undoing."""

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from app.core.model import Role
from app.errors import Conflict, NotFound
from app.services.browsing import SnippetView
from app.services.recording import Draft, MessageView
from tests.support.table import Table

SMALL = {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}

_MARKS: dict[str, dict[str, Any]] = {
    "hide": {"hidden": True},
    "show": {"hidden": False, "pinned": False, "omitted": False},
    "pin": {"pinned": True},
    "omit": {"omitted": True},
    "name": {"name": "Ann \u4e2d \U0001f600"},
    "note": {"extra": {"sillytavern": {"swipes": ["a", "b"], "swipe_id": 1, "extra": {"x": [1.5, None]}}, "n": 2}},
}
_SNIPPETS = ("rewrite", "forget", "renew", "compose")
_MESSAGES = (*_MARKS, "reword", "remove")

Event = tuple[str, int]

events: st.SearchStrategy[list[Event]] = st.lists(
    st.tuples(
        st.sampled_from(
            ["talk", "talk", "talk", "tools", "note_to_self", "undo", "bring_back", *_SNIPPETS, *_MESSAGES]
        ),
        st.integers(0, 1000),
    ),
    max_size=25,
)


class Life:
    """What happens to the chat `c` of a table. Whatever the stored state does not allow does not happen."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._said = 0
        self._removed: list[str] = []

    async def begin(self, turns: int) -> None:
        self.table.settings(**SMALL)
        await self._talk(turns)

    async def go_on(self, found: list[Event]) -> None:
        """Let it all happen, and wait until nothing runs any more."""
        for kind, number in found:
            with suppress(Conflict, NotFound):
                await self._happen(kind, number)
        await self.table.settled()

    async def _happen(self, kind: str, number: int) -> None:
        if kind == "talk":
            await self._talk(1 + number % 3)
        elif kind == "tools":
            await self._use_tools()
        elif kind == "note_to_self":
            await self._say(Draft(Role.SYSTEM, "Night falls.\n\u0007\u2028"))
        elif kind == "undo":
            self.table.services.undoing.undo("c")
        elif kind == "bring_back" and self._removed:
            self.table.services.recovering.restore("c", self._removed[number % len(self._removed)])
        elif kind in _MESSAGES:
            self._change(kind, self._message(number))
        elif kind in _SNIPPETS:
            await self._change_memory(kind, number)

    async def _talk(self, turns: int) -> None:
        for _ in range(turns):
            self._said += 1
            await self._say(
                Draft(Role.USER, f"Mira asks about gate {self._said}.", id=f"u{self._said}"),
                Draft(Role.ASSISTANT, f"Tom opens gate {self._said}.", id=f"a{self._said}", name="Tom"),
            )

    async def _use_tools(self) -> None:
        self._said += 1
        calls = [{"id": f"c{self._said}", "type": "function", "function": {"name": "look", "arguments": "{}"}}]
        await self._say(
            Draft(Role.ASSISTANT, None, tool_calls=calls),
            Draft(Role.TOOL, "It is shut.", tool_call_id=f"c{self._said}"),
            Draft(Role.ASSISTANT, f"Shut, says gate {self._said}."),
        )

    async def _say(self, *drafts: Draft) -> None:
        await self.table.services.recording.append("c", drafts, "wait", 20)

    def _change(self, kind: str, message: MessageView) -> None:
        editing = self.table.services.editing
        if kind == "remove":
            editing.delete("c", message.id)
            self._removed.append(message.id)
        elif kind == "reword":
            self._said += 1
            editing.edit("c", message.id, {"content": f"Other words {self._said}."})
        else:
            editing.edit("c", message.id, _MARKS[kind])

    async def _change_memory(self, kind: str, number: int) -> None:
        revising = self.table.services.revising
        if kind == "compose":
            first = self._message(number)
            last = self._message(first.index + 1)
            revising.write("c", first.id, last.id, "What Mira wrote herself.")
            return
        snippet = self._snippet(number, "all" if kind == "renew" else "live")
        if kind == "rewrite":
            revising.edit("c", snippet.id, f"A person's words {number}.")
        elif kind == "forget":
            revising.delete("c", snippet.id)
        else:
            revising.regenerate("c", snippet.id)
            await self.table.settled()

    def _message(self, number: int) -> MessageView:
        found = self.table.services.recording.page("c", state="all", after=-1, limit=1000)
        return found[number % len(found)] if found else _nothing()

    def _snippet(self, number: int, state: str) -> SnippetView:
        found = self.table.services.browsing.snippets(
            "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
        )
        return found[number % len(found)] if found else _nothing()


def _nothing() -> Any:
    raise NotFound("There is none.")
