"""What may be stored, whichever way it comes in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.limits import (
    MAX_CONTENT_BYTES,
    MAX_INT,
    MIN_INT,
    UNSTORABLE,
    is_id,
    is_printable,
    is_storable_int,
    is_too_long,
)


@pytest.mark.parametrize("text", ["a", "می\u200cخواهم", "👩\u200d🚀", "龍\u3000一", "x" * 200, "...", "a:b%2F"])
def test_ids_hold_any_script(text: str) -> None:
    """Spaces, signs, joiners and any script may stand in an id."""
    assert is_id(text)


@pytest.mark.parametrize("text", ["", ".", "..", "a/b", "x" * 201, "a\n", "\0", "a\u202eb", "\ud800", "\x7f"])
def test_ids_that_no_path_can_hold(text: str) -> None:
    """Slashes, dots alone, control characters and invisible signs are in no id."""
    assert not is_id(text)


def test_a_header_may_hold_a_slash() -> None:
    """What only has to be printable may hold what a path may not."""
    assert is_printable("a/b")
    assert not is_printable("a\nb")


def test_the_limit_of_a_text_is_in_bytes() -> None:
    """A text of exactly 1 MiB in UTF-8 is within the limit, one byte more is not."""
    half = MAX_CONTENT_BYTES // 2
    found = [is_too_long("é" * half), is_too_long("é" * half + "e"), is_too_long("e" * (half + 1))]
    assert found == [False, True, False]


@pytest.mark.parametrize("number", [MIN_INT, MAX_INT, 0])
def test_whole_numbers_have_64_bits(number: int) -> None:
    """The first and the last 64-bit number are within, their neighbours are not."""
    assert is_storable_int(number)
    assert not is_storable_int(MAX_INT + 1)
    assert not is_storable_int(MIN_INT - 1)


@given(st.text(st.characters()))
def test_text_is_storable_if_utf_8_can_hold_it(text: str) -> None:
    """Whatever is not found unstorable survives UTF-8 and holds no NUL."""
    try:
        text.encode()
    except UnicodeEncodeError:
        assert UNSTORABLE.search(text)
    else:
        assert bool(UNSTORABLE.search(text)) == ("\0" in text)
