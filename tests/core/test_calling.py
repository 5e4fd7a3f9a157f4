"""Who may take and answer a call that waits for a frontend, and what becomes of it."""

from dataclasses import replace

import pytest

from app.core.calling import Standing, course, lease_end, quiet_ms, refusal

NOW = 1_000_000
FREE = Standing("waiting", alive_until=NOW + 10_000, timeout_ms=120_000)
HELD = replace(FREE, leased_at=NOW - 1_000, lease_until=NOW + 60_000, client="a")
LAPSED = replace(HELD, lease_until=NOW)


def test_a_lease_is_no_longer_than_the_call_may_take() -> None:
    """It ends when it was asked to, or with the call's own time, renewed or not."""
    assert lease_end(NOW, NOW, 60_000, 120_000) == NOW + 60_000
    assert lease_end(NOW, NOW - 100_000, 60_000, 120_000) == NOW + 20_000


@pytest.mark.parametrize("client", ["a", None])
@pytest.mark.parametrize("standing", [FREE, HELD, LAPSED])
def test_who_may_answer(standing: Standing, client: str | None) -> None:
    """Whoever holds it, whoever held it last, and who does not say who it is."""
    assert refusal(standing, client, NOW) is None


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (HELD, "taken by another client"),
        (replace(FREE, alive_until=NOW - 1), "process that asked has ended"),
        (replace(LAPSED, state="answered"), "answered already"),
        (replace(LAPSED, state="timed_out"), "longer than its connection's timeout_s"),
        (replace(LAPSED, state="withdrawn"), "asked anew"),
        (replace(LAPSED, state="cut"), "job was stopped"),
    ],
)
def test_who_may_not(standing: Standing, words: str) -> None:
    """Another client while it is held, and anybody once it is over; the reason says which."""
    assert words in (refusal(standing, "b", NOW) or "")


@pytest.mark.parametrize(
    ("standing", "what"),
    [
        (FREE, "wait"),
        (HELD, "wait"),
        (LAPSED, "free"),
        (replace(HELD, leased_at=NOW - 120_000), "timed_out"),
        (replace(LAPSED, leased_at=NOW - 120_000), "timed_out"),
        (replace(HELD, state="answered"), "ended"),
    ],
)
def test_what_is_due(standing: Standing, what: str) -> None:
    """A lease that ran out frees a call; one that took too long is over, and a free one waits for ever."""
    assert course(standing, NOW) == what


def test_when_to_look_again() -> None:
    """At the end of the lease or of the call's time, whichever comes first; a free call asks for no look."""
    assert (quiet_ms(FREE, NOW), quiet_ms(HELD, NOW), quiet_ms(LAPSED, NOW)) == (None, 60_000, 0)
    assert quiet_ms(replace(HELD, timeout_ms=31_000), NOW) == 30_000
