"""When a connection that keeps failing is left alone."""

from datetime import UTC, datetime, timedelta

import pytest

from app.core.breaker import Breaker, counts
from app.core.retry import Failure

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DOWN = Failure("connection")


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def opened() -> Breaker:
    breaker = Breaker()
    for _ in range(3):
        breaker = breaker.failed(DOWN, NOW)
    return breaker


@pytest.mark.parametrize(
    ("failure", "counted"),
    [
        *[(Failure("status", status), True) for status in (401, 403, 404, 429, 500, 502, 503, 504, 529)],
        *[(Failure("status", status), False) for status in (307, 400, 408, 409, 413, 422)],
        (Failure("connection"), True),
        (Failure("timeout"), True),
        (Failure("unusable"), False),
        (Failure("settings"), False),
    ],
)
def test_what_speaks_against_a_connection(failure: Failure, counted: bool) -> None:
    """Connection errors, time-outs, 401, 403, 404, 429 and 5xx count; the batch's own faults do not."""
    assert counts(failure) is counted


def test_three_failures_in_a_row_stop_the_calls() -> None:
    """Two failures only show; the third shuts the connection for the cool-down."""
    two = Breaker().failed(DOWN, NOW).failed(DOWN, NOW)
    assert (two.admits(NOW), two.state(NOW), two.retry_at(NOW)) == ("pass", "failing", None)
    three = two.failed(DOWN, NOW)
    assert (three.admits(NOW), three.state(NOW), three.retry_at(NOW)) == ("refuse", "cooling_down", after(60))


def test_a_success_between_them_starts_the_row_anew() -> None:
    """Only failures in a row count."""
    breaker = Breaker().failed(DOWN, NOW).failed(DOWN, NOW).succeeded(NOW).failed(DOWN, NOW)
    assert breaker.admits(NOW) == "pass"
    assert Breaker().failed(DOWN, NOW).failed(Failure("unusable"), NOW).state(NOW) == "ok"


def test_after_the_cool_down_comes_a_probe() -> None:
    """At the minute's end one call is let through; the state says that it is still failing."""
    breaker = opened()
    assert breaker.admits(after(59.9)) == "refuse"
    assert (breaker.admits(after(60)), breaker.state(after(60)), breaker.retry_at(after(60))) == (
        "probe",
        "failing",
        None,
    )


def test_a_failed_probe_doubles_the_cool_down_up_to_a_quarter_of_an_hour() -> None:
    """60, 120, 240, 480, 900, 900 seconds."""
    breaker, now, waits = opened(), NOW, []
    for _ in range(6):
        assert breaker.until is not None
        waits.append((breaker.until - now).total_seconds())
        now = breaker.until
        breaker = breaker.failed(DOWN, now)
    assert waits == [60, 120, 240, 480, 900, 900]


def test_a_dead_server_overflows_nothing() -> None:
    """A thousand failed probes are like five."""
    breaker = opened()
    for _ in range(1000):
        assert breaker.until is not None
        breaker = breaker.failed(DOWN, breaker.until)
    assert breaker.openings > 1000


def test_a_good_probe_resets_everything() -> None:
    """The next failure starts from nothing."""
    assert opened().failed(DOWN, after(60)).succeeded(after(180)) == Breaker()


def test_an_answer_that_comes_late_does_not_end_a_cool_down() -> None:
    """What was under way when the server asked to be left alone is no probe."""
    breaker = Breaker().cooled(NOW, 3600)
    assert breaker.succeeded(after(1)) == breaker


def test_wrong_settings_say_nothing_about_the_server() -> None:
    """They neither count nor end a row of failures."""
    breaker = Breaker().failed(DOWN, NOW)
    assert breaker.failed(Failure("settings"), NOW) == breaker


def test_batches_that_end_late_do_not_lengthen_the_cool_down() -> None:
    """Sixteen batches that fail together shut the connection once."""
    assert opened().failed(DOWN, after(1)) == opened()


def test_a_retry_after_cools_down_at_once() -> None:
    """One such answer is enough, and a shorter one takes nothing back."""
    breaker = Breaker().cooled(NOW, 3600).cooled(NOW, 100)
    assert (breaker.state(NOW), breaker.retry_at(NOW)) == ("cooling_down", after(3600))
    assert breaker.admits(after(3600)) == "probe"


def test_a_cool_down_longer_than_a_quarter_of_an_hour_may_be_configured() -> None:
    """BREAKER_COOLDOWN_S itself is never cut."""
    breaker = Breaker(cooldown_s=3600)
    for _ in range(3):
        breaker = breaker.failed(DOWN, NOW)
    assert breaker.until == after(3600)
