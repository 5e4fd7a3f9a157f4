"""app.core.prefix: what a prompt's beginning was made of, and why it is another one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.prefix import Beginning, Cause, changed_by, following, from_json, line_of, parse_prefix

BEFORE = Beginning("Speak as Tom.", "The gate is shut.", 12, 4, 0, ("a", "b", "c"))

BEGINNINGS = st.builds(
    Beginning,
    system=st.sampled_from(["", "Speak as Tom.", "Speak as Mira."]),
    memory=st.sampled_from(["", "The gate is shut.", "The gate is open."]),
    covered=st.integers(0, 2),
    dropped=st.integers(0, 2),
    changes=st.integers(0, 2),
    past=st.lists(st.sampled_from("abc"), max_size=4),
)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({}, None),
        ({"past": ("a", "b", "c", "d", "e")}, None),
        ({"system": "Speak as Mira."}, "system_prompt"),
        ({"system": "Speak as Mira.", "memory": "It is open.", "covered": 18, "past": ()}, "system_prompt"),
        ({"memory": "It is open.", "covered": 18, "past": ("c",)}, "fold"),
        ({"memory": "It is open."}, "memory"),
        ({"memory": "", "covered": 0, "past": ("x", "a", "b", "c")}, "memory"),
        ({"covered": 18, "past": ("c",)}, "fold"),
        ({"dropped": 6, "past": ("c",)}, "trim"),
        ({"dropped": 2, "first": 3, "past": ("x", "a", "b", "c")}, "trim"),
        ({"dropped": 0, "first": 1, "past": ("w", "x", "a", "b", "c")}, "trim"),
        ({"dropped": 0, "first": 9, "past": ("b", "c")}, "edit"),
        ({"changes": 1, "past": ("a", "x", "c")}, "edit"),
        ({"past": ("a", "c")}, "edit"),
        ({"past": ("a", "b"), "behind": ("c", "d")}, "memory"),
        ({"past": ("a", "b"), "behind": ("x", "d")}, "edit"),
        ({"past": ("x", "a", "b", "c")}, "edit"),
    ],
)
def test_the_cause_is_the_first_one_in_the_prompt(change: dict[str, Any], cause: Cause | None) -> None:
    """System prompt, then memory (by a fold, or by itself), then the window's start, then what is in it."""
    assert changed_by(BEFORE.prefix(), replace(BEFORE, **change)) == cause


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"past": ("a", "b", "c", "d")}, None),
        ({"system": ""}, "system_prompt"),
        ({"memory": "It is open.", "covered": 18}, "fold"),
        ({"dropped": 6, "past": ("c",)}, "trim"),
        ({"changes": 1, "past": ("a", "x", "c")}, "edit"),
    ],
)
def test_the_string_alone_tells_the_cause_too(change: dict[str, Any], cause: Cause | None) -> None:
    """A client that keeps nothing but its last prefix_hash learns what changed."""
    known = parse_prefix(str(BEFORE.prefix()))
    assert known is not None
    assert changed_by(known, replace(BEFORE, **change)) == cause


def test_turns_that_join_leave_the_string_as_it_was() -> None:
    """Only the kept form knows how many messages there were."""
    grown = replace(BEFORE, past=(*BEFORE.past, "d")).prefix()
    assert str(grown) == str(BEFORE.prefix())
    assert grown != BEFORE.prefix()


@given(BEGINNINGS, BEGINNINGS)
@settings(max_examples=150, deadline=None)
def test_the_string_of_a_view_follows_its_beginning(before: Beginning, after: Beginning) -> None:
    """A change makes another string; without one it stays, whatever else changed in the chat."""
    kept = before.prefix()
    followed = following(kept, after)
    if changed_by(kept, after) is not None:
        assert str(followed) != str(kept)
    elif before.covered == after.covered:
        assert str(followed) == str(kept)
    assert changed_by(followed, after) is None
    assert following(followed, after) == followed


@pytest.mark.parametrize("text", ["", "abc", "e3b7bb32c164ba3766e601ba4001e044", f"{BEFORE.prefix()}-1", "-" * 5])
def test_a_string_of_others_is_no_prefix(text: str) -> None:
    """It says nothing."""
    assert parse_prefix(text) is None


@pytest.mark.parametrize("value", [None, 3, [], {}, {"prefix": 3}, {"prefix": "abc", "sent": 1, "history": "x"}])
def test_json_of_others_is_no_prefix(value: Any) -> None:
    """It says nothing either."""
    assert from_json(value) is None


def test_lines_tell_messages_apart() -> None:
    """Role, name, text and calls each make another line."""
    said: dict[str, Any] = {"role": "user", "content": "Hi."}
    others: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "name": "Mira", "content": "Hi."},
        {"role": "user", "content": "['Hi.']"},
        {"role": "tool", "content": "Hi.", "tool_call_id": "c1"},
        {"role": "assistant", "content": "Hi.", "tool_calls": [{"id": "c1"}]},
    ]
    assert len({line_of(message) for message in (said, *others)}) == 6


@given(BEGINNINGS, BEGINNINGS)
@settings(max_examples=150, deadline=None)
def test_kept_or_not_it_says_the_same(before: Beginning, after: Beginning) -> None:
    """JSON gives back what was kept; no cause means exactly that what was sent begins what is sent now."""
    kept = from_json(json.loads(json.dumps(before.prefix().as_json())))
    assert kept == before.prefix()
    grew = (before.system, before.memory) == (after.system, after.memory)
    grew = grew and list(after.past[: len(before.past)]) == list(before.past)
    assert (changed_by(kept, after) is None) == grew
