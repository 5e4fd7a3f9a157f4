"""app.core.window: what a view keeps, and when it begins afresh."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.blocks import BEGINNING, Mark
from app.core.model import Message
from app.core.prefix import Beginning
from app.core.projection import Choice, Costs, project
from app.core.turns import outline
from app.core.window import Coverage, Window, newer, reopened, window_from_json
from tests.support.builders import turns

FOLDED = Coverage("layered", 1, 6, 5)
WINDOW = Window(FOLDED, Mark(11, 10), Beginning("Speak.", "", 6, 2, 0, ("a",)).prefix())


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        (FOLDED, True),
        (Coverage("layered", 2, 6, 5), True),
        (Coverage("layered", 1, 5, 4), True),
        (Coverage("layered", 2, 9, 8), False),
        (Coverage("layered", 2, 3, 2), False),
        (Coverage("layered", 2, 0, None), False),
        (Coverage("rolling", 1, 6, 5), False),
        (Coverage("none", 1, 0, None), False),
    ],
)
def test_only_another_coverage_opens_the_window_anew(now: Coverage, kept: bool) -> None:
    """A fold, an unwinding, a clear, another strategy; not a merge, an edited snippet or a deleted message."""
    assert WINDOW.mark_now(now) == (WINDOW.mark if kept else BEGINNING)


def test_json_gives_back_what_was_kept() -> None:
    """With its prefix or without; and nothing is nothing."""
    for window in (WINDOW, replace(WINDOW, prefix=None), Window(Coverage("none", 0, 0, None))):
        assert window_from_json(json.loads(json.dumps(window.as_json()))) == window
    assert window_from_json(None) is None


def test_a_window_begun_afresh_knows_its_last_prompt() -> None:
    """So that the next request learns why the prompt is another one."""
    assert reopened(WINDOW) == replace(WINDOW, mark=BEGINNING)


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, {}),
        ({"mark": Mark(21, 20)}, {"mark": Mark(21, 20)}),
        ({"mark": BEGINNING}, {}),
        ({"mark": Mark(21, 8, 19)}, {"mark": Mark(21, 8, 19)}),
        ({"coverage": Coverage("layered", 2, 9, 8), "mark": BEGINNING}, None),
        ({"coverage": Coverage("layered", 0, 0, None), "mark": Mark(31, 30)}, {}),
        ({"coverage": Coverage("none", 1, 0, None), "mark": BEGINNING}, None),
    ],
)
def test_of_two_requests_at_once_neither_takes_the_window_back(change: Any, kept: Any) -> None:
    """The further start stays, and the newer memory; None: as the later request says."""
    made = replace(WINDOW, **change)
    assert newer(None, made) == made
    assert newer(WINDOW, made) == (made if kept is None else replace(WINDOW, **kept))


@given(st.lists(st.integers(8, 300), max_size=20), st.integers(100, 1500), st.data())
@settings(max_examples=60, deadline=None)
def test_between_folds_a_window_only_moves_on(sizes: list[int], budget: int, data: st.DataObject) -> None:
    """Appended turns, other budgets and deletions never bring a dropped turn back, nor take one away unasked."""
    window, gone = Window(FOLDED), set[int]()
    present = turns(0)
    for number, size in enumerate(sizes):
        pair = [m._replace(key=1 + 2 * number + i, tokens=size) for i, m in enumerate(turns(1))]
        present = [*present, *pair]
        if len(present) > 2 and data.draw(st.booleans()):
            place = 2 * data.draw(st.integers(0, len(present) // 2 - 1))
            del present[place : place + 2]
        history = [message._replace(index=index) for index, message in enumerate(present)]
        choice = Choice(window=window.mark_now(FOLDED))
        room = budget - 50 * data.draw(st.integers(0, 1))
        plan = project(outline(history, len(history)), history, len(history), Costs(system=50), room, choice)
        sent = {message.key for message in plan.history}
        assert not gone & sent
        gone |= {message.key for message in history} - sent
        window = newer(window, Window(FOLDED, plan.window))


@given(st.lists(st.integers(8, 40), min_size=6, max_size=16), st.integers(150, 500), st.data())
@settings(max_examples=80, deadline=None)
def test_what_a_window_dropped_stays_away_whatever_happens_to_it(
    sizes: list[int], budget: int, data: st.DataObject
) -> None:
    """Single messages are hidden, shown, deleted and brought back: turns join and part, and none returns."""
    window, gone = Window(FOLDED), set[int]()
    stored: list[Message] = []
    for number, size in enumerate(sizes):
        stored += [m._replace(key=1 + 2 * number + i, tokens=size) for i, m in enumerate(turns(1))]
        place = len(stored) - data.draw(st.integers(1, min(14, len(stored))))
        line = stored[place]
        flips = [line._replace(hidden=not line.hidden), line._replace(skipped=not line.skipped), line]
        stored[place] = data.draw(st.sampled_from(flips))
        history = [m._replace(index=i) for i, m in enumerate(m for m in stored if not m.skipped)]  # skipped: deleted
        view, choice = outline(history, len(history)), Choice(window=window.mark_now(FOLDED))
        plan = project(view, history, len(history), Costs(), budget, choice)
        assert not gone & {message.key for message in plan.history}
        trimmed = [part for part in plan.left_out if part.reason == "trimmed"]
        gone |= {m.key for m in history for part in trimmed if part.first_index <= m.index <= part.last_index}
        gone -= {message.key for message in plan.current}  # once a turn is open again, the next reply closes it anew
        window = Window(FOLDED, plan.window)
