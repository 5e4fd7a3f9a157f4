"""Times with their spread, taken in turns with a floor: what slows the machine down slows both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Spread:
    """A median between its quartiles."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """The quartiles of some values; of a single one, that value."""
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(low, median(values), high)


def quotients(values: Sequence[float], floors: Sequence[float]) -> Spread:
    """Each value against the floor of the same round."""
    return spread([value / floor for value, floor in zip(values, floors, strict=True)])


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    began = perf_counter()
    call()
    return perf_counter() - began


def in_turns(subjects: Mapping[str, Callable[[], object]], rounds: int, calls: int) -> dict[str, list[float]]:
    """The median seconds of each subject in each round; within a round their calls alternate."""
    medians: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        took: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(calls):
            for name, call in subjects.items():
                took[name].append(seconds(call))
        for name, times in took.items():
            medians[name].append(median(times))
    return medians
