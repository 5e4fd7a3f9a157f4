"""How fast calls to a model come back, from when the newest snippets were stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_LEAST = 9
"""Calls in a row that are measured together: of three folds one is followed by a merge, of nine one by a second."""

_WINDOWS = 4
"""So many times as many calls are looked at: in the median of these, one long wait does not show."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A call whose line was stored: when (any unit of time), and whether it was tried again, so that it waited."""

    at: float
    waited: bool = False


def span_of(width: int) -> int:
    """Of how many of the newest calls the pace is told, if `width` run at once."""
    return _WINDOWS * _lag(width, _WINDOWS * _LEAST * width) + 1


def pace(began: float, finished: Sequence[Finished], width: int = 1) -> float | None:
    """Time per call, several at once counted as such; None before the first, or while all there were had to wait.

    `began`: when the run did; `finished`: its calls, oldest first, all of them or the newest `span_of(width)`;
    `width`: how many calls may run at once. Lines are stored in bursts of up to `width`, so what is measured is how
    long after a line the one stands that may have begun with it.

    >>> pace(0, [Finished(2), Finished(4), Finished(600, waited=True), Finished(602)])
    2.0
    """
    if len(finished) < max(2, width):
        return _mean(began, finished)
    marks = [Finished(began), *finished]
    lag = _lag(width, len(finished))
    spans = [marks[place : place + lag + 1] for place in range(len(marks) - lag)]
    smooth = [span for span in spans if not any(call.waited for call in span[1:])]
    return median((span[-1].at - span[0].at) for span in smooth or spans) / lag


def time_left(calls: int, a_call: float, since_last: float, width: int = 1) -> float:
    """What so many calls still take, `since_last` after the newest line was stored.

    >>> time_left(10, 2.0, 0.5)
    19.5
    """
    return max(0.0, calls * a_call - min(since_last, a_call * width))


def _lag(width: int, calls: int) -> int:
    """A multiple of `width`, as large as half of the calls allow."""
    most = -(-_LEAST // width)
    return width * min(most, max(1, calls // (2 * width)))


def _mean(began: float, finished: Sequence[Finished]) -> float | None:
    if not finished or any(call.waited for call in finished):
        return None
    return (finished[-1].at - began) / len(finished)
