"""How much is measured: enough to say something, or just enough to see that it runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes of chats in messages (`…_turns` in turns), rounds of measurements and calls in each."""

    tiny: int
    small: int
    middle: int
    large: int
    imported: int
    backlog_turns: int
    prefix_turns: int
    memory_turns: int
    rounds: int
    calls: int


FULL = Scale(
    tiny=100,
    small=1_000,
    middle=10_000,
    large=100_000,
    imported=20_000,
    backlog_turns=3_000,
    prefix_turns=1_000,
    memory_turns=11_000,
    rounds=21,
    calls=20,
)

QUICK = Scale(
    tiny=40,
    small=60,
    middle=80,
    large=120,
    imported=200,
    backlog_turns=40,
    prefix_turns=24,
    memory_turns=60,
    rounds=3,
    calls=3,
)
