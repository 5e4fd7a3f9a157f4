"""Whatever happens to a chat with a backlog: nobody is asked twice, nothing folds unasked, nothing is hidden."""

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.errors import ModelUnavailable
from tests.support.checks import assert_promises
from tests.support.scripted import ScriptedModels
from tests.support.table import Table, laid, turn_drafts

DOWN = ModelUnavailable("The model is away.", connection="default")
SMALL = {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}


class Questions(RuleBasedStateMachine):
    """A chat, and a person who may answer or not.

    `settled`: an answer was carried out, or something was folded; `grows`: all its turns come one by one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.models = ScriptedModels()
        self.table: Table = self.run(self.stack.enter_async_context(laid(self.folder, self.models)))
        self.turns, self.settled, self.grows, self.window = 0, False, False, 2

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(work)

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()
        shutil.rmtree(self.folder)

    @initialize(turns=st.integers(0, 9), fold=st.sampled_from(["wait", "none"]), grows=st.booleans())
    def begin(self, turns: int, fold: str, grows: bool) -> None:
        """A young chat, or an old one that comes in at once."""
        self.table.settings(**SMALL)
        self.grows = grows
        self.talk(turns, fold)

    # What happens by itself

    @rule(turns=st.integers(1, 4), fold=st.sampled_from(["wait", "wait", "none"]))
    def talk(self, turns: int, fold: str) -> None:
        if self.grows:
            turns, fold = 1, "wait"
        before, calls = self.table.status(), len(self.models.requests)
        numbers = range(self.turns, self.turns + turns)
        self.turns += turns
        if turns:
            self.run(self.table.say(*numbers, fold=fold))
        status = self.run(self.table.settled())
        if before.backlog.choice_needed or before.paused:
            assert len(self.models.requests) == calls
        if status.memory_version > before.memory_version:
            self.settled = True

    @rule()
    def ask_the_model_something(self) -> None:
        """What a person says alone folds no batch of a backlog that goes reply by reply."""
        before = self.table.status()
        question = turn_drafts(self.turns + 1000)[0]
        self.turns += 1
        self.run(self.table.services.recording.append("c", [question], "wait", 20))
        status = self.run(self.table.settled())
        self.settled = self.settled or status.memory_version > before.memory_version

    @rule()
    def outage(self) -> None:
        """The model fails once; what it left is folded by itself."""
        self.models.script(DOWN)
        self.talk(1, "wait")
        self.models.forget_script()
        self.settled = self.settled or self.run(self.table.settled()).memory_version > 0

    # What a person does

    @rule(choice=st.sampled_from(["all", "one", "skip", "summarize"]))
    def choose(self, choice: Literal["all", "one", "skip", "summarize"]) -> None:
        steering = self.table.services.steering
        if choice == "skip":
            backlog = self.table.status().backlog.turns
            skipped = steering.skip("c")
            assert skipped in (0, backlog)
            self.settled = self.settled or skipped > 0
            return
        started = steering.summarize("c") if choice == "summarize" else steering.backlog("c", choice)
        self.settled = self.settled or started.job is not None
        status = self.run(self.table.settled())
        if choice == "all":
            assert (status.backlog.batches, status.counts.skipped) == (0, 0)

    @rule(what=st.sampled_from(["pause", "resume", "stop", "clear"]))
    def steer(self, what: str) -> None:
        before = self.table.status()
        answer = getattr(self.table.services.steering, what)("c")
        if asyncio.iscoroutine(answer):
            self.run(answer)
        status = self.run(self.table.settled())
        self.settled = self.settled or status.memory_version > before.memory_version

    @rule(turns=st.integers(2, 8))
    def choose_window(self, turns: int) -> None:
        """A backlog that new settings make is not asked about."""
        before = self.table.status().backlog
        self.table.settings(verbatim_turns=turns)
        self.window = turns
        assert before.choice_needed or not self.table.status().backlog.choice_needed or before.turns > 2

    # What always holds

    @invariant()
    def nobody_is_asked_twice(self) -> None:
        status = self.table.status()
        assert not ((self.settled or self.grows) and status.backlog.choice_needed)
        assert not (status.backlog.choice_needed and status.counts.ghosted)

    @invariant()
    def nothing_is_hidden(self) -> None:
        status = self.table.status()
        counts, backlog = status.counts, status.backlog
        assert (counts.hidden, counts.visible + counts.ghosted) == (0, counts.messages)
        assert backlog.estimated_calls >= backlog.batches
        assert_promises(self.table.database, "c", min(self.window, 2))


@pytest.mark.timeout(180)
def test_questions_at_random() -> None:
    """See the module."""
    run_state_machine_as_test(
        Questions,
        settings=settings(
            max_examples=6, stateful_step_count=10, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
