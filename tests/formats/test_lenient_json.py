"""app.formats.lenient_json: JSON read piece by piece."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.limits import MAX_DEPTH, MAX_INT, MIN_INT
from app.formats.lenient_json import BrokenJson, JsonCursor, decode, storable
from app.formats.parsed import MAX_RECORD_CHARS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(MIN_INT, MAX_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Dripping(io.StringIO):
    """Text that comes a few characters at a time."""

    def __init__(self, text: str, step: int) -> None:
        super().__init__(text)
        self._step = step

    def read(self, size: int | None = -1, /) -> str:
        del size
        return super().read(self._step)


class Endless(io.StringIO):
    """A string that is opened and never closed."""

    chars_read = 0

    def read(self, size: int | None = -1, /) -> str:
        assert size is not None
        self.chars_read += size
        return super().read(size) or "x" * size


def elements(text: str) -> list[Any]:
    return [value for value, _ in JsonCursor(io.StringIO(text)).each_element()]


@given(values=st.lists(VALUES), step=st.integers(1, 9), indent=st.none() | st.integers(0, 2))
def test_elements_do_not_depend_on_where_the_text_is_cut(values: list[Any], step: int, indent: int | None) -> None:
    """However few characters come at a time, the elements are those of the whole text, with their sources."""
    text = json.dumps(values, indent=indent)
    found = list(JsonCursor(Dripping(text, step)).each_element())
    assert [value for value, _ in found] == values
    assert [json.loads(source) for _, source in found] == values


@given(members=st.dictionaries(st.text(), VALUES), step=st.integers(1, 9))
def test_keys_are_walked_without_their_values(members: dict[str, Any], step: int) -> None:
    """An object's keys come in order, whatever their values hold."""
    assert list(JsonCursor(Dripping(json.dumps(members), step)).each_key()) == list(members)


def test_the_walk_stops_before_a_value() -> None:
    """Who stops at a key finds the cursor before its value."""
    cursor = JsonCursor(io.StringIO('{"a": [0], "b": [1, 2]}'))
    assert next(key for key in cursor.each_key() if key == "b")
    assert [value for value, _ in cursor.each_element()] == [1, 2]


@pytest.mark.parametrize("text", ["[1, 2", "[1, ?]", '["open', "[" * 100_000, "", "[1" + " " * 99, '[{"a" 1}]', "]"])
def test_broken_text_is_told_after_what_can_be_read(text: str) -> None:
    """Text that is no array, or none to its end, ends in BrokenJson and in nothing worse."""
    with pytest.raises(BrokenJson):
        elements(text)


def test_a_value_without_end_is_not_read_whole() -> None:
    """A string longer than the limit ends reading soon after the limit."""
    text = Endless('["')
    with pytest.raises(BrokenJson, match="16 MiB"):
        list(JsonCursor(text).each_element())
    assert text.chars_read < 2.1 * MAX_RECORD_CHARS


def test_numbers_no_database_takes_are_null() -> None:
    """NaN, infinities, overflowing and absurdly long numbers become null, as JavaScript writes them."""
    assert elements(f"[NaN, -Infinity, 1e999, {'9' * 5000}, 1.5, 7]") == [None, None, None, None, 1.5, 7]


@pytest.mark.parametrize("number", [MAX_INT + 1, MIN_INT - 1, 10**20, 10**399])
def test_numbers_the_api_refuses_are_null(number: int) -> None:
    """Whole numbers beyond 64 bits come in by neither way; the longest within them do."""
    assert elements(f"[{number}, {MAX_INT}, {MIN_INT}]") == [None, MAX_INT, MIN_INT]


def test_raw_control_characters_in_strings_are_taken() -> None:
    """A raw tab or line break inside a string is read, though JSON forbids it."""
    assert elements('["a\tb\nc"]') == ["a\tb\nc"]


@pytest.mark.parametrize(
    ("source", "clean"),
    [
        (r'"a\u0000b"', "a\ufffdb"),
        ('"a\x00b"', "a\ufffdb"),
        (r'"\ud83d"', "\ufffd"),
        ('"\udcff"', "\ufffd"),
        (r'{"\ud800": ["\udc00"]}', {"\ufffd": ["\ufffd"]}),
    ],
)
def test_what_no_database_takes_is_replaced(source: str, clean: object) -> None:
    """NUL and lone surrogates become U+FFFD, in keys and at any depth, and it is told."""
    assert storable(decode(source), source) == (clean, True)


@pytest.mark.parametrize(
    "source", [r'"\ud83d\ude00"', '"é😀"', r'"\u00e9"', '"\ufffd"', "[" * MAX_DEPTH + "]" * MAX_DEPTH]
)
def test_good_text_is_left_alone(source: str) -> None:
    """Surrogate pairs, any script, and nesting within the limit are no cause for a warning."""
    assert storable(decode(source), source) == (json.loads(source), False)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 100_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    """More levels than the API takes would break whoever writes the value as JSON again."""
    source = "[" * depth + "]" * depth
    with pytest.raises(BrokenJson):
        storable(decode(source), source)
