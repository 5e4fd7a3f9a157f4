from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.placement import Placement, parse_placement


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
