"""Whatever happens to a chat with rolling memory or a summary buffer: what is told and what is sent fit together."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test

from app.services.syncing import Line
from tests.support.chains import assert_chains
from tests.support.handwork import now
from tests.support.provenance import assert_fresh
from tests.support.rewritten import SMALL, RewrittenChat, draft_of

GIVEN = frozenset({"id", "role", "content", "hidden", "pinned", "history"})
PLACE = st.integers(0, 200)
MARKS = st.sampled_from(["hidden", "pinned", "omitted"])
STRATEGIES = st.sampled_from(["rolling", "rolling", "summary_buffer", "layered", "none"])
OWN = {
    "on_backlog": "all",
    "layered": SMALL,
    "rolling": {"trigger_tokens": 0, "trigger_turns": 2, "keep_recent_turns": 1},
    "summary_buffer": {"max_messages_before_summary": 6, "recent_messages_to_keep": 2},
}


class Chat(RewrittenChat):
    """What may happen to it, in any order. `alone`: the last rule was one transaction."""

    chat: ClassVar[Mapping[str, Any]] = {"strategy": "rolling", "settings": OWN}

    def __init__(self) -> None:
        super().__init__()
        self.alone, self.before = False, (0, "", [""])

    @initialize(dormant=st.booleans())
    def begin(self, dormant: bool) -> None:
        """The memory it begins with may be that of a strategy it does not use now."""
        if dormant:
            self.switch("summary_buffer")

    # What clients do

    @rule(turns=st.integers(1, 3))
    def append(self, turns: int) -> None:
        fresh = [said for _ in range(turns) for said in (self.new("user"), self.new("assistant"))]
        self.services.recording.store("c", [draft_of(said) for said in fresh], fold="background")
        self.history += fresh

    @rule()
    def append_half_a_turn(self) -> None:
        fresh = self.new("user")
        self.services.recording.store("c", [draft_of(fresh)], fold="background")
        self.history.append(fresh)

    @precondition(lambda self: self.history)
    @rule(place=PLACE)
    def delete(self, place: int) -> None:
        self.alone = True
        said = self.at(place)
        self.services.editing.delete("c", said.id)
        self.history.remove(said)
        self.gone.append(said.id)

    @precondition(lambda self: self.history)
    @rule(place=PLACE, blank=st.integers(0, 9))
    def edit(self, place: int, blank: int) -> None:
        self.alone = True
        self.change(self.at(place), self.services.editing.edit, content=" " if blank == 0 else self.word())

    @precondition(lambda self: self.history)
    @rule(place=PLACE, mark=MARKS)
    def mark(self, place: int, mark: str) -> None:
        """Hide, pin or omit a message, or take that back."""
        self.alone = True
        said = self.at(place)
        self.change(said, self.services.editing.edit, **{mark: not getattr(said, mark)})

    @precondition(lambda self: self.gone)
    @rule(place=PLACE)
    def restore(self, place: int) -> None:
        self.alone = True
        message_id = self.gone.pop(place % len(self.gone))
        self.attempt(lambda: self.services.recovering.restore("c", message_id))
        self.history = self.read()

    @rule(changes=st.lists(st.tuples(st.sampled_from("deimsh"), PLACE), max_size=3), ids=st.booleans())
    def sync(self, changes: list[tuple[str, int]], ids: bool) -> None:
        """A client sends all of the history, changed, with or without ids."""
        self.alone = True
        view = self.changed_view(self.history, changes)
        lines = [Line(draft_of(said) if ids else replace(draft_of(said), id=None), GIVEN) for said in view]
        if self.attempt(lambda: self.services.syncing.sync("c", lines, allow_shrink=True)):
            self.history = self.read()

    # What a person does

    @rule(strategy=STRATEGIES)
    def switch(self, strategy: str) -> None:
        self.services.keeping.put("c", {"strategy": strategy})

    @rule(place=PLACE)
    def rewrite(self, place: int) -> None:
        self.alone = True
        self.of_snippet(place, "live", lambda one: self.services.revising.edit("c", one, f"By hand: {self.word()}"))

    @rule(place=PLACE, superseded=st.booleans())
    def regenerate(self, place: int, superseded: bool) -> None:
        state = "superseded" if superseded else "live"
        self.of_snippet(place, state, lambda one: self.services.revising.regenerate("c", one))

    @rule(place=PLACE)
    def forget(self, place: int) -> None:
        self.alone = True
        self.of_snippet(place, "live", lambda one: self.services.revising.delete("c", one))

    @rule()
    def undo(self) -> None:
        self.alone = True
        self.attempt(lambda: self.services.undoing.undo("c"))

    @rule(what=st.sampled_from(["summarize", "all", "one", "skip", "pause", "resume", "stop", "clear"]), rare=PLACE)
    def steer(self, what: str, rare: int) -> None:
        steering = self.services.steering
        calls: dict[str, Callable[[], Any]] = {
            "summarize": lambda: steering.summarize("c"),
            "all": lambda: steering.backlog("c", "all"),
            "one": lambda: steering.backlog("c", "one"),
            "skip": lambda: steering.skip("c"),
            "pause": lambda: now(steering.pause("c")),
            "resume": lambda: steering.resume("c"),
            "stop": lambda: now(steering.stop("c")),
            "clear": lambda: now(steering.clear("c")) if rare % 8 == 0 else None,
        }
        calls[what]()

    @precondition(lambda self: self.history)
    @rule(place=PLACE)
    def fork(self, place: int) -> None:
        self.services.branching.fork("c", "branch", self.at(place).id)
        assert_chains(self.database, "branch")
        now(self.services.keeping.delete("branch"))

    # What the worker does meanwhile

    @rule(steps=st.integers(1, 3))
    def work_begins(self, steps: int) -> None:
        for _ in range(steps):
            self.worker.begin()

    @precondition(lambda self: self.worker.is_asking)
    @rule(place=PLACE)
    def work_ends(self, place: int) -> None:
        self.worker.finish(place)

    @precondition(lambda self: self.worker.is_asking)
    @rule()
    def work_fails(self) -> None:
        self.worker.fail()

    @rule()
    def work_is_done(self) -> None:
        self.worker.work_off()

    # What always holds

    @invariant()
    def promises_hold(self) -> None:
        assert_chains(self.database, "c")
        assert_fresh(self.database, "c", self.worker.made, self.pinned)

    @invariant()
    def nothing_is_broken(self) -> None:
        """A check of the chat finds nothing, but what a person may ask to have made anew."""
        found = {one.code for one in self.services.repairing.repair("c")}
        assert found <= {"degraded", "stale_waiting", "window_short"}

    @invariant()
    def memory_version_tells_of_every_change(self) -> None:
        """It rises where the live texts are others, and by one for what was one transaction."""
        live = self.services.browsing.snippets("c", **EVERYTHING, state="live")
        chat = self.services.keeping.get("c")
        seen = (chat.memory_version, chat.strategy, [one.text for one in live])
        if seen[1:] != self.before[1:]:
            assert seen[0] > self.before[0] or self.before[1] == ""
        if self.alone:
            assert seen[0] == self.before[0] + (seen[2] != self.before[2])
        self.alone, self.before = False, seen

    def of_snippet(self, place: int, state: str, call: Callable[[str], Any]) -> None:
        snippet_id = self.snippet(place, state)
        if snippet_id:
            self.attempt(lambda: call(snippet_id))


EVERYTHING: dict[str, Any] = {"layer": None, "stale": None, "degraded": None, "offset": 0, "limit": 1000}


@pytest.mark.timeout(120)
def test_any_order_of_steps(tmp_path: Path) -> None:
    """Random steps of a client, a person and a worker that fails, after each of which all of the above holds."""
    Chat.prepare(tmp_path)
    run_state_machine_as_test(
        Chat,
        settings=settings(
            max_examples=8, stateful_step_count=18, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
