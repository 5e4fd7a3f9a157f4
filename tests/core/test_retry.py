"""How often and how long a failing call is tried again."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.retry import (
    CoolDown,
    Failure,
    FailureKind,
    GiveUp,
    RetryPolicy,
    Wait,
    backoff_s,
    decide,
    parse_retry_after,
)

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
POLICY = RetryPolicy()


def most() -> float:
    return 1.0


def least() -> float:
    return 0.0


@pytest.mark.parametrize(
    ("attempt", "low", "high"), [(2, 2, 4), (3, 4, 6), (4, 8, 10), (5, 16, 18), (6, 32, 34), (7, 60, 60)]
)
def test_the_waits_double(attempt: int, low: float, high: float) -> None:
    """2-4, 4-6, 8-10, 16-18, 32-34 seconds, never above the maximum."""
    assert (backoff_s(POLICY, attempt, least), backoff_s(POLICY, attempt, most)) == (low, high)


@given(st.integers(2, 10_000), st.floats(0, 1))
def test_no_wait_is_above_the_maximum(attempt: int, random: float) -> None:
    """However often it failed."""
    assert 0 < backoff_s(POLICY, attempt, lambda: random) <= POLICY.max_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:30 -0000"}, 30),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "0", "retry-after": "9"}, 9),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({}, None),
        ({"Retry-After": "0"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "Sun, 01 Mar 2026 11:59:59 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "Sun, 99 Foo 99999 99:99:99 GMT"}, None),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:30 +9999"}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds or a date; what is not above zero or unreadable counts as absent."""
    assert parse_retry_after(headers, NOW) == seconds


@given(st.text(max_size=40))
def test_no_header_breaks_the_reading(text: str) -> None:
    """Anything a server may send gives seconds above zero or nothing."""
    seconds = parse_retry_after({"Retry-After": text, "retry-after-ms": text}, NOW)
    assert seconds is None or seconds > 0


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_these_statuses_are_tried_again(status: int) -> None:
    """Faults that pass."""
    assert decide(POLICY, Failure("status", status), 1, most) == Wait(4)


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 403, 404, 413, 422, 501])
def test_these_statuses_are_not(status: int) -> None:
    """Asking again changes nothing; a Retry-After on them neither."""
    assert decide(POLICY, Failure("status", status, retry_after=5), 1, most) == GiveUp()


@pytest.mark.parametrize(
    ("kind", "retried"), [("connection", True), ("timeout", True), ("unusable", True), ("settings", False)]
)
def test_faults_without_a_status(kind: FailureKind, retried: bool) -> None:
    """Broken connections, time-outs and unusable answers are tried again, wrong settings are not."""
    assert isinstance(decide(POLICY, Failure(kind), 1, most), Wait) is retried


def test_the_attempts_end() -> None:
    """After the last attempt nothing waits."""
    decisions = [decide(POLICY, Failure("timeout"), attempt, least) for attempt in range(1, 7)]
    assert decisions == [Wait(2), Wait(4), Wait(8), Wait(16), Wait(32), GiveUp()]


def test_retry_after_takes_the_place_of_the_wait() -> None:
    """Up to the maximum the server's own figure holds."""
    assert decide(POLICY, Failure("status", 429, retry_after=60), 1, most) == Wait(60)
    assert decide(POLICY, Failure("status", 429, retry_after=0.5), 5, most) == Wait(0.5)


@pytest.mark.parametrize("attempt", [1, 6])
def test_a_longer_retry_after_cools_the_connection_down(attempt: int) -> None:
    """Above the maximum the attempts end, on the last attempt too."""
    assert decide(POLICY, Failure("status", 503, retry_after=60.1), attempt, most) == CoolDown(60.1)


def test_an_absurd_retry_after_is_bounded() -> None:
    """No server shuts a connection for more than a month."""
    assert decide(POLICY, Failure("status", 429, retry_after=1e14), 1, most) == CoolDown(30 * 86_400)
