"""app.core.placement: where the memory stands in a prompt."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.placement import Placement, Slot, parse_placement, place


@pytest.mark.parametrize("text", ["system_end", "system_message", "user_message", "in_chat:0", "in_chat:12"])
def test_a_placement_is_written_as_it_was_read(text: str) -> None:
    """Reading and writing a placement gives the same text."""
    assert str(parse_placement(text)) == text


def test_the_depth_is_read() -> None:
    """Only in_chat has a depth."""
    assert parse_placement("in_chat:4") == Placement("in_chat", 4)
    assert parse_placement("user_message").depth == 0


@pytest.mark.parametrize(
    "text", ["", "in_chat", "in_chat:", "in_chat:-1", "in_chat:01", "in_chat:٣", "in_chat:1 ", "in_chat:1234567", "end"]
)
def test_anything_else_is_refused(text: str) -> None:
    """A text that is no placement raises ValueError."""
    with pytest.raises(ValueError, match="in_chat:DEPTH"):
        parse_placement(text)


@settings(max_examples=50)
@given(st.text(max_size=12))
def test_no_text_breaks_the_reader(text: str) -> None:
    """What is no placement is a ValueError and nothing worse."""
    with suppress(ValueError):
        assert str(parse_placement(text)) == text


def test_only_the_systems_end_is_no_message_of_its_own() -> None:
    """Every placement but the system's end costs the tokens of a message."""
    apart = [parse_placement(text).apart for text in ("system_end", "system_message", "user_message", "in_chat:0")]
    assert apart == [False, True, True, True]


SYSTEM, PLAIN = Slot(system=True), Slot()
ASKING, ANSWER = Slot(calls=("a", "b")), Slot(answers="b")


@pytest.mark.parametrize(
    ("slots", "text", "at"),
    [
        ([], "in_chat:3", 0),
        ([SYSTEM, PLAIN, PLAIN], "system_message", 0),
        ([SYSTEM, SYSTEM, PLAIN, SYSTEM], "user_message", 2),
        ([SYSTEM, SYSTEM], "user_message", 2),
        ([PLAIN, PLAIN, PLAIN], "in_chat:0", 3),
        ([PLAIN, PLAIN, PLAIN], "in_chat:2", 1),
        ([PLAIN, PLAIN, PLAIN], "in_chat:9", 0),
        ([PLAIN, ASKING, ANSWER, PLAIN, Slot(answers="a"), PLAIN], "in_chat:1", 5),
        ([PLAIN, ASKING, ANSWER, PLAIN, Slot(answers="a"), PLAIN], "in_chat:2", 1),
        ([PLAIN, ASKING, ANSWER, PLAIN, Slot(answers="a"), PLAIN], "in_chat:4", 1),
        ([PLAIN, ASKING, ANSWER, ASKING, ANSWER], "in_chat:0", 5),
        (
            [PLAIN, Slot(current=True), Slot(calls=("a",), current=True), Slot(answers="a", current=True)],
            "in_chat:0",
            2,
        ),
        ([PLAIN, Slot(current=True), Slot(calls=("a",), current=True)], "in_chat:0", 2),
        ([PLAIN, Slot(current=True)], "in_chat:0", 2),
    ],
)
def test_a_memory_finds_its_place(slots: list[Slot], text: str, at: int) -> None:
    """Before whole tool pairs, and before all of the current turn's."""
    assert place(slots, parse_placement(text)) == at
