"""Clients that rewrite a chat at once while it folds: the promises hold after every step, and nothing is a 500.

The steps of one process are interleaved here, each between the planning and the commit of another one's; that two
transactions of several processes never overlap is the database's own promise (tests/store/test_engine.py).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from app.services.syncing import Line
from tests.support.checks import assert_promises
from tests.support.handwork import now
from tests.support.provenance import assert_fresh
from tests.support.rewritten import RewrittenChat, draft_of

GIVEN = frozenset({"id", "role", "content", "hidden", "pinned", "history"})
PLACE = st.integers(0, 200)
MARKS = st.sampled_from(["hidden", "pinned", "omitted"])


class Chat(RewrittenChat):
    """What may happen to it, in any order."""

    # What clients do

    @rule(turns=st.integers(1, 3))
    def append(self, turns: int) -> None:
        """A client appends whole turns."""
        fresh = [said for _ in range(turns) for said in (self.new("user"), self.new("assistant"))]
        self.services.recording.store("c", [draft_of(said) for said in fresh], fold="background")
        self.history += fresh

    @rule()
    def append_half_a_turn(self) -> None:
        """A user's line that nobody has answered yet."""
        fresh = self.new("user")
        self.services.recording.store("c", [draft_of(fresh)], fold="background")
        self.history.append(fresh)

    @precondition(lambda self: self.history)
    @rule(place=PLACE)
    def delete(self, place: int) -> None:
        said = self.at(place)
        self.services.editing.delete("c", said.id)
        self.history.remove(said)
        self.gone.append(said.id)

    @precondition(lambda self: self.history)
    @rule(place=PLACE, blank=st.integers(0, 9))
    def edit(self, place: int, blank: int) -> None:
        said = self.at(place)
        content = " " if blank == 0 else self.word()
        self.change(said, self.services.editing.edit, content=content)

    @precondition(lambda self: self.history)
    @rule(place=PLACE, mark=MARKS)
    def mark(self, place: int, mark: str) -> None:
        """Hide, pin or omit a message, or take that back."""
        said = self.at(place)
        self.change(said, self.services.editing.edit, **{mark: not getattr(said, mark)})

    @precondition(lambda self: self.gone)
    @rule(place=PLACE)
    def restore(self, place: int) -> None:
        """A deleted message comes back; where, its neighbours say, and the next read."""
        message_id = self.gone[place % len(self.gone)]
        self.attempt(lambda: self.services.recovering.restore("c", message_id))
        self.gone.remove(message_id)
        before = {said.id for said in self.history}
        found = self.read()
        assert [said for said in found if said.id in before] == self.history
        self.history = found

    @rule(client=st.integers(0, 1))
    def look(self, client: int) -> None:
        """A client reads the chat; what it sends later may be old by then."""
        self.views[client] = list(self.history)

    @rule(
        client=st.integers(0, 1),
        changes=st.lists(st.tuples(st.sampled_from("deimsh"), PLACE), max_size=4),
        ids=st.booleans(),
    )
    def sync(self, client: int, changes: list[tuple[str, int]], ids: bool) -> None:
        """A client changes what it saw and sends all of it, with or without its ids."""
        view = self.changed_view(self.views[client], changes)
        lines = [Line(draft_of(said) if ids else replace(draft_of(said), id=None), GIVEN) for said in view]
        if not self.attempt(lambda: self.services.syncing.sync("c", lines, allow_shrink=True)):
            return
        found = self.read()
        if ids:
            assert found == view
        else:
            assert [replace(said, id="") for said in found] == [replace(said, id="") for said in view]
        left = {said.id for said in found}
        self.gone = [m for m in dict.fromkeys([*self.gone, *(said.id for said in self.history)]) if m not in left]
        self.history = found
        self.views[client] = list(found)
        again = [Line(draft_of(said), GIVEN) for said in found]
        version = self.version()
        assert self.services.syncing.sync("c", again).unchanged == len(found)
        assert self.version() == version

    @rule(place=PLACE)
    def reset(self, place: int) -> None:
        """A client starts over with a part of the history."""
        if place % 5:
            return
        view = self.history[: place // 4]
        self.services.syncing.sync("c", [Line(draft_of(said), GIVEN) for said in view], reset=True)
        self.gone += [said.id for said in self.history[len(view) :]]
        self.history = list(view)

    # What a person does to memory

    @rule(place=PLACE, absorbed=st.booleans())
    def rewrite(self, place: int, absorbed: bool) -> None:
        snippet_id = self.snippet(place, "absorbed" if absorbed else "live")
        if snippet_id:
            self.attempt(lambda: self.services.revising.edit("c", snippet_id, f"By hand: {self.word()}"))

    @rule(place=PLACE, absorbed=st.booleans())
    def regenerate(self, place: int, absorbed: bool) -> None:
        snippet_id = self.snippet(place, "absorbed" if absorbed else "live")
        if snippet_id:
            self.attempt(lambda: self.services.revising.regenerate("c", snippet_id))

    @rule(place=PLACE)
    def forget(self, place: int) -> None:
        snippet_id = self.snippet(place, "live")
        if snippet_id:
            self.services.revising.delete("c", snippet_id)

    @precondition(lambda self: self.history)
    @rule(first=PLACE, more=st.integers(0, 4))
    def write(self, first: int, more: int) -> None:
        start = first % len(self.history)
        ids = [said.id for said in self.history[start : start + more + 1]]
        self.attempt(lambda: self.services.revising.write("c", ids[0], ids[-1], f"By hand: {self.word()}"))

    @rule()
    def undo(self) -> None:
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

    @rule(turns=st.integers(1, 4))
    def choose_window(self, turns: int) -> None:
        self.services.keeping.put("c", {"settings": {"layered": {"verbatim_turns": turns}}})
        self.verbatim = turns

    @rule(calls=st.integers(1, 4))
    def choose_width(self, calls: int) -> None:
        self.services.keeping.put("c", {"settings": {"layered": {"backlog_concurrency": calls}}})

    @precondition(lambda self: self.history)
    @rule(place=PLACE)
    def fork(self, place: int) -> None:
        """A branch keeps the promises, whole window included."""
        self.services.branching.fork("c", "branch", self.at(place).id)
        try:
            assert_promises(self.database, "branch", self.verbatim)
            assert_fresh(self.database, "branch", self.worker.made, self.pinned)
        finally:
            now(self.services.keeping.delete("branch"))

    # What the worker does meanwhile

    @rule(steps=st.integers(1, 4))
    def work_begins(self, steps: int) -> None:
        for _ in range(steps):
            self.worker.begin()

    @precondition(lambda self: self.worker.is_asking)
    @rule(place=PLACE)
    def work_ends(self, place: int) -> None:
        """One of the questions that are out is answered, not always the oldest."""
        self.worker.finish(place)

    @precondition(lambda self: self.worker.is_asking)
    @rule()
    def work_fails(self) -> None:
        self.worker.fail()

    @rule()
    def worker_dies(self) -> None:
        self.worker.die()

    @rule()
    def work_is_done(self) -> None:
        """Everything that is due is done: nothing that may heal is stale."""
        self.worker.work_off()
        self.services.steering.resume("c")
        self.worker.work_off()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(4))  # side by side, where there are several processors
def test_any_order_of_steps(tmp_path: Path, part: int) -> None:
    """Hundreds of random interleavings of two clients, a person and a worker that fails and dies."""
    # In CI the examples follow from the name of the class: each part has its own.
    machine: type[Chat] = type(f"Chat{part}", (Chat,), {})
    machine.prepare(tmp_path)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=9,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
