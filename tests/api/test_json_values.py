"""What a value parsed from JSON may hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.json_values import Fault, Unstorable, json_fault, read_json
from app.core.limits import MAX_DEPTH


def fault_of(body: bytes) -> Fault | None:
    """What is found wrong with a body as it is read."""
    try:
        read_json(body)
    except Unstorable as found:
        return found.fault
    return None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, -(2**63) - 1, "\0", {"\ud800": 1}, [[["\0"]]]])
def test_json_that_cannot_be_stored(value: object) -> None:
    """JSON holds no NaN, no number beyond 64 bits, no unstorable text, at whatever depth."""
    assert json_fault(value) is not None
    assert fault_of(json.dumps({"a": [{"b": value}]}).encode()) is not None


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_depth_is_bounded() -> None:
    """JSON may be nested a hundred levels deep; ten thousand are refused without a RecursionError."""
    for levels, fine in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False), (500, False)):
        body = b'{"":' * levels + b"1" + b"}" * levels
        assert (json_fault(json.loads(body)) is None) is fine
        assert (fault_of(body) is None) is fine
    assert json_fault(nested(10_000)) is not None


@pytest.mark.parametrize(
    ("number", "msg"),
    [
        ("9223372036854775808", "Is a whole number beyond 64 bits."),
        ("-9223372036854775809", "Is a whole number beyond 64 bits."),
        ("1E+999", "Is no number that JSON knows: NaN and Infinity are not."),
        ("99999999999999999999e0999", "Is no number that JSON knows: NaN and Infinity are not."),
        ("9" * 400 + ".0", "Is no number that JSON knows: NaN and Infinity are not."),
        ("-Infinity", "Is no number that JSON knows: NaN and Infinity are not."),
        ("NaN", "Is no number that JSON knows: NaN and Infinity are not."),
    ],
)
def test_numbers_are_found_however_they_are_written(number: str, msg: str) -> None:
    """The search of the text misses no number that cannot be stored; the fault names its place."""
    assert fault_of(f'{{"a":[1,{number}]}}'.encode()) == Fault(("a", 1), msg)


@pytest.mark.parametrize("number", ["9223372036854775807", "-9223372036854775808", "999999999999999999e99", "1e-999"])
def test_numbers_up_to_the_limit_are_fine(number: str) -> None:
    """What looks suspicious, but can be stored, passes."""
    assert read_json(number.encode()) == json.loads(number)


@pytest.mark.parametrize(
    ("body", "fine"),
    [
        (rb'"\ud83d\ude80"', True),
        (rb'"\\ud83d"', True),
        (rb'"\\ud83d\ude80"', False),
        (rb'"\uD83D"', False),
        (rb'"\\\u0000"', False),
        (rb'"\\u0000"', True),
        (b'\xef\xbb\xbf"a"', True),
    ],
)
def test_escapes_are_told_from_what_looks_like_them(body: bytes, fine: bool) -> None:
    """A pair of surrogates, a backslash before a u and a byte order mark are fine; halves and NUL are not."""
    assert (fault_of(body) is None) is fine


@pytest.mark.parametrize("body", [b'"\xed\xa0\x80"', '"a"'.encode("utf-16")])
def test_other_encodings_are_refused(body: bytes) -> None:
    """A body is UTF-8, and surrogates have no form in it."""
    with pytest.raises(UnicodeDecodeError):
        read_json(body)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=1)), inner),
)


@given(PLAIN)
def test_whatever_can_be_stored_passes(value: object) -> None:
    """No storable value is refused, and every one survives JSON and UTF-8."""
    assert json_fault(value) is None
    assert json.loads(json.dumps(value, ensure_ascii=False).encode()) == value


@given(PLAIN, st.sampled_from(["\0", "\ud800", float("nan"), 2**64]))
def test_a_fault_is_found_where_it_is(value: object, bad: object) -> None:
    """One bad value among good ones is found, and its place is named."""
    fault = json_fault({"good": value, "list": [value, {"bad": bad}]})
    assert fault is not None
    assert fault.at == ("list", 1, "bad")


ANYTHING = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(st.characters()) | st.sampled_from([10**18, 10**19, 1e300]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)


@given(ANYTHING)
def test_reading_finds_what_a_walk_finds(value: object) -> None:
    """Whether every value is looked at is decided by the text alone, and never wrongly."""
    body = json.dumps(value).encode()
    assert fault_of(body) == json_fault(json.loads(body))
