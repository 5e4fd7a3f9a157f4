"""The pace of a job, told by when its lines came."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.pace import Finished, pace, span_of, time_left


def _in_order(width: int, lasting: list[float]) -> list[Finished]:
    """Calls of these lengths, `width` at once, each begun when the one `width` before it is stored; stored in order."""
    stored: list[float] = []
    for place, seconds in enumerate(lasting):
        begun = stored[place - width] if place >= width else 0.0
        stored.append(max(begun + seconds, stored[-1] if stored else 0.0))
    return [Finished(at) for at in stored]


@pytest.mark.parametrize("width", [1, 4, 16])
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_rounds_of_equal_calls(width: int, calls: int) -> None:
    """When calls take two seconds, `width` at once, the pace is two seconds in `width`, from the first round on."""
    finished = _in_order(width, [2.0] * width * calls)
    assert pace(0, finished, width) == pytest.approx(2 / width)


@given(st.integers(1, 16), st.integers(0, 2**16))
def test_uneven_calls(width: int, seed: int) -> None:
    """Over calls of uneven length the pace is near what the newest of them took in all."""
    chance = Random(seed)
    finished = _in_order(width, [chance.uniform(0.5, 1.5) for _ in range(40 * width)])
    newest = finished[-span_of(width) - 1 :]
    told = pace(newest[0].at, newest[1:], width)
    assert told == pytest.approx((newest[-1].at - newest[0].at) / (len(newest) - 1), rel=0.35)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("place", [1, 5, 17])
def test_a_long_wait_does_not_count(width: int, place: int) -> None:
    """A minute's wait before one of many calls changes nothing."""
    lasting = [2.0] * 40
    lasting[place] = 62.0
    finished = [Finished(call.at, waited=number == place) for number, call in enumerate(_in_order(width, lasting))]
    assert pace(0, finished, width) == pytest.approx(2 / width, rel=0.1)


def test_a_first_call_that_waited_tells_nothing() -> None:
    """The next one does."""
    assert pace(0, []) is None
    assert pace(0, [Finished(62, waited=True)]) is None
    assert pace(0, [Finished(62, waited=True), Finished(64)]) == 2


def test_a_model_that_is_always_asked_twice_has_a_pace() -> None:
    """Where every call is tried again, that is how long calls take."""
    assert pace(0, [Finished(4.0 * number, waited=True) for number in range(1, 9)]) == 4


def test_a_model_that_has_become_slower_is_told_by_its_newest_calls() -> None:
    """After forty calls at five seconds the two seconds of before are forgotten."""
    finished = _in_order(1, [2.0] * 100 + [5.0] * 40)
    newest = finished[-span_of(1) - 1 :]
    assert pace(newest[0].at, newest[1:]) == 5


def test_time_goes_on_between_two_lines() -> None:
    """What is left shrinks while a call is on its way, and not any more when it is late."""
    assert [time_left(10, 2.0, waited) for waited in (0, 1, 2, 60)] == [20, 19, 18, 18]
    assert time_left(0, 2.0, 1.0) == 0
    assert time_left(8, 0.5, 60, width=4) == 2
