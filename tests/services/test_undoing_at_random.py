"""Whatever a person does to snippets and messages: no promise breaks, and no text is untrue unmarked."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.errors import Conflict
from app.services.browsing import SnippetView
from tests.support.checks import assert_promises
from tests.support.honest import HonestModels, assert_truthful
from tests.support.table import Table, laid

SMALL = {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
places = st.integers(0, 1000)


class Hands(RuleBasedStateMachine):
    """A chat with a small memory, and a person who changes it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.table: Table = self.run(self.stack.enter_async_context(laid(self.folder, HonestModels())))
        self.said = self.edits = 0
        self.pinned: set[str | None] = set()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(work)

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize(layers=st.integers(1, 3), turns=st.integers(3, 12))
    def begin(self, layers: int, turns: int) -> None:
        self.table.settings(**SMALL, max_layers=layers)
        self.talk(turns, "wait")

    # What a person does to snippets

    @rule(place=places)
    def edit(self, place: int) -> None:
        snippet = self.pick(place, "live", "absorbed")
        if snippet is not None and self.allowed(lambda: self.hands.edit("c", snippet.id, self.words())):
            shown = self.shown(snippet.id)
            assert (shown.stale, shown.revision) == (False, snippet.revision + 1)

    @rule(place=places)
    def delete(self, place: int) -> None:
        snippet = self.pick(place, "live")
        if snippet is not None:
            self.hands.delete("c", snippet.id)

    @rule(first=places, turns=st.integers(1, 3))
    def write(self, first: int, turns: int) -> None:
        found = [m for m in self.messages() if not (m.hidden or m.ghosted)]
        starts = [i for i, message in enumerate(found) if message.role == "user"]
        if starts:
            start = starts[first % len(starts)]
            last = found[min(len(found), start + 2 * turns) - 1]
            self.allowed(lambda: self.hands.write("c", found[start].id, last.id, self.words()))

    @rule(place=places)
    def regenerate(self, place: int) -> None:
        snippet = self.pick(place, "live", "absorbed")
        if snippet is not None:
            self.allowed(lambda: self.hands.regenerate("c", snippet.id))
            self.settle()

    @rule()
    def undo(self) -> None:
        self.allowed(lambda: self.table.services.undoing.undo("c"))

    @rule(place=places, kind=st.sampled_from(["edit", "delete"]))
    def change_and_undo(self, place: int, kind: str) -> None:
        """Taken back at once, everything is as it was."""
        snippet, before = self.pick(place, "live"), self.prompt()
        if snippet is not None:
            if kind == "edit":
                self.hands.edit("c", snippet.id, self.words())
            else:
                self.hands.delete("c", snippet.id)
            undone = self.table.services.undoing.undo("c")
            assert (undone.kind, undone.snippet_id) == (kind, snippet.id)
            assert self.prompt() == before

    # What else happens

    @rule(turns=st.integers(1, 4), fold=st.sampled_from(["wait", "wait", "none"]))
    def talk(self, turns: int, fold: str) -> None:
        self.run(self.table.say(*range(self.said + 1, self.said + turns + 1), fold=fold))
        self.said += turns
        self.settle()

    @rule(choice=st.sampled_from(["summarize", "skip", "all"]))
    def steer(self, choice: str) -> None:
        steering = self.table.services.steering
        if choice == "skip":
            steering.skip("c")
        else:
            _ = steering.summarize("c") if choice == "summarize" else steering.backlog("c", "all")
        self.settle()

    @rule(place=places, what=st.sampled_from(["content", "hide", "pin", "plain", "delete", "restore"]))
    def change_message(self, place: int, what: str) -> None:
        found = self.messages()
        editing = self.table.services.editing
        if not found:
            return
        message = found[place % len(found)]
        fields: dict[str, dict[str, Any]] = {
            "content": {"content": self.words()},
            "hide": {"hidden": True},
            "pin": {"pinned": True},
            "plain": {"hidden": False, "pinned": False},
        }
        if what in fields:
            editing.edit("c", message.id, fields[what])
        elif what == "delete":
            editing.delete("c", message.id)
        else:
            gone = [f"u{turn}" for turn in range(1, self.said + 1) if f"u{turn}" not in {m.id for m in found}]
            for message_id in gone[:1]:
                self.table.services.recovering.restore("c", message_id)
        self.settle()
        self.pinned |= {message.content for message in self.messages() if message.pinned}

    @invariant()
    def keeps_its_promises(self) -> None:
        if self.said:
            self.settle()
            assert_promises(self.table.database, "c", SMALL["verbatim_turns"], shrunk=True)
            assert_truthful(self.table.database, "c", self.pinned)

    # Helpers

    @property
    def hands(self) -> Any:
        return self.table.services.revising

    def settle(self) -> None:
        self.run(self.table.settled())

    def words(self) -> str:
        self.edits += 1
        return f"Words of a person {self.edits}."

    def allowed(self, act: Callable[[], object]) -> bool:
        """Whether it was; what is not, changes no memory."""
        before = self.prompt()
        try:
            act()
        except Conflict:
            refused = True
        else:
            refused = False
        assert not refused or self.prompt() == before
        return not refused

    def messages(self) -> list[Any]:
        return self.table.services.recording.page("c", state="all", after=-1, limit=1000)

    def listed(self, state: str) -> list[SnippetView]:
        return self.table.services.browsing.snippets(
            "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
        )

    def pick(self, place: int, *states: str) -> SnippetView | None:
        found = [snippet for state in states for snippet in self.listed(state)]
        return found[place % len(found)] if found else None

    def shown(self, snippet_id: str) -> SnippetView:
        return self.table.services.browsing.snippet("c", snippet_id)

    def prompt(self) -> tuple[object, ...]:
        """What the model is sent, as far as memory makes it."""
        live = [(snippet.id, snippet.text, snippet.stale, snippet.covers) for snippet in self.listed("live")]
        return (*live, [message.ghosted for message in self.messages()])


@pytest.mark.timeout(300)
def test_whatever_a_person_does() -> None:
    """In any order of changes the promises hold, and every text that is not marked says what is under it."""
    run_state_machine_as_test(
        Hands,
        settings=settings(
            max_examples=6,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
