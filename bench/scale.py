"""How much is measured: all of it, enough to say something, or just enough to see that it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of chats in messages (`…_turns` in turns), rounds of measurements and calls in each.

    `waiting_turns` fold with a model that answers in `latency_s` seconds, one at a time too. `marker_settings` are the
    layered settings of the marker test: in a short story only small layers fill up.
    """

    tiny: int
    small: int
    middle: int
    large: int
    imported: int
    backlog_turns: int
    waiting_turns: int
    latency_s: float
    marker_turns: int
    busy_chats: int
    busy_turns: int
    prefix_turns: int
    memory_turns: int
    rounds: int
    calls: int
    marker_settings: Mapping[str, int] = field(default_factory=dict)


USUAL = Scale(
    tiny=100,
    small=1_000,
    middle=10_000,
    large=100_000,
    imported=20_000,
    backlog_turns=3_000,
    waiting_turns=600,
    latency_s=1.0,
    marker_turns=3_000,
    busy_chats=50,
    busy_turns=200,
    prefix_turns=1_000,
    memory_turns=11_000,
    rounds=21,
    calls=20,
)

FULL = replace(USUAL, waiting_turns=3_000)

QUICK = Scale(
    tiny=40,
    small=60,
    middle=80,
    large=120,
    imported=200,
    backlog_turns=40,
    waiting_turns=40,
    latency_s=0.05,
    marker_turns=30,
    busy_chats=2,
    busy_turns=150,
    prefix_turns=24,
    memory_turns=60,
    rounds=3,
    calls=3,
    marker_settings={"snippets_per_layer": 3, "snippets_per_promotion": 2},
)
