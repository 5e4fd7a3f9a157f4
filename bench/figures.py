"""What a scenario finds out, and what was hoped for."""

from dataclasses import dataclass
from typing import Literal

from bench.measuring import Spread


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound on the ratio to the floor, or on the measured value itself."""

    of: Literal["ratio", "value"]
    bound: Literal["at most", "at least"]
    value: float


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `floor` is what `value` stands against, measured in the same run, in the same unit."""

    scenario: str
    what: str
    unit: str
    value: Spread
    floor_name: str
    floor: Spread
    ratio: Spread
    aim: Aim

    @property
    def met(self) -> bool:
        """Whether the median keeps the bound."""
        found = self.ratio.median if self.aim.of == "ratio" else self.value.median
        return found <= self.aim.value if self.aim.bound == "at most" else found >= self.aim.value
