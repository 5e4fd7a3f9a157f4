"""app.core.growth: the course of a chat."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.growth import Line, Point, Recent, Step, grow

KEEP = 2


@dataclass
class Played:
    """A chat as it was really played: a turn of two messages at a time, folded at once, merged when a layer is full."""

    steps: list[Step] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    under: dict[int, Step] = field(default_factory=dict)
    seen: list[tuple[int, int]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    layers: list[list[int]] = field(default_factory=lambda: [[] for _ in range(9)])

    def say(self, tokens: int, written: int) -> None:
        """A turn; what the memory and the prompt hold after it is noted."""
        index = 2 * len(self.steps) + 1
        self.steps.append(Step(index, 1, tokens, tokens))
        self.waiting.append(len(self.steps) - 1)
        if len(self.waiting) > KEEP:
            oldest = self.steps[self.waiting.pop(0)]
            self.under[self._write(0, written)] = oldest
            self._merge(written)
        memory = sum(line[2] for line in self.lines if line[1] is None)
        self.seen.append((memory, memory + sum(self.steps[place].raw for place in self.waiting)))

    def _write(self, layer: int, tokens: int) -> int:
        key = len(self.lines) + 1
        self.lines.append((key, None, tokens))
        self.layers[layer].append(key)
        return key

    def _merge(self, tokens: int) -> None:
        for layer, keys in enumerate(self.layers[:-1]):
            if len(keys) > 3:
                sources, self.layers[layer] = keys[:2], keys[2:]
                merged = self._write(layer + 1, tokens)
                self.lines = [(key, merged if key in sources else up, size) for key, up, size in self.lines]


def at_ends(points: list[Point]) -> list[tuple[int, int]]:
    return [(point.memory_tokens, point.sent_tokens) for point in points]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), max_size=40))
def test_a_chat_that_was_played_turn_by_turn_is_drawn_as_it_was(turns: list[tuple[int, int]]) -> None:
    """After each turn: the memory and the prompt that there were then, through all layers."""
    played = Played()
    for tokens, written in turns:
        played.say(tokens, written)
    points = grow(played.steps, played.lines, played.under, Recent(turns=KEEP), 100)
    assert at_ends(points) == played.seen
    assert [point.turns for point in points] == list(range(1, len(turns) + 1))


@st.composite
def memories(draw: st.DrawFn) -> tuple[list[Step], list[Line], dict[int, Step]]:
    """Any history, and any memory over it: folds in any order, trees of any shape, older parents than children."""
    sizes = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 50), st.booleans()), min_size=1, max_size=30))
    steps = [Step(place, turn, raw, raw if sent else 0) for place, (turn, raw, sent) in enumerate(sizes)]
    free = [step for step in steps if step.raw == step.shown]
    covered = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    count = len(covered) + draw(st.integers(0, 6))
    keys = draw(st.permutations(range(1, count + 1)))
    above = {key: draw(st.one_of(st.none(), st.sampled_from(keys[:at]))) if at else None for at, key in enumerate(keys)}
    lines = [(key, above[key], draw(st.integers(0, 40))) for key in range(1, count + 1)]
    return steps, lines, dict(zip(draw(st.permutations(keys)), covered, strict=False))


@settings(max_examples=150, deadline=None)
@given(memories(), st.integers(0, 8), st.integers(0, 8), st.integers(1, 12))
def test_the_last_point_is_the_chat_as_it_stands(
    memory: tuple[list[Step], list[Line], dict[int, Step]], turns: int, messages: int, points: int
) -> None:
    """Whatever was made in whatever order; no point is sent more than there is, and raw tokens never fall."""
    steps, lines, under = memory
    found = grow(steps, lines, under, Recent(turns, messages), points)
    assert len(found) == min(points, len(steps))
    last, live = found[-1], sum(tokens for _, parent, tokens in lines if parent is None)
    shown = sum(step.shown for step in steps) - sum(step.raw for step in under.values())
    assert (last.raw_tokens, last.memory_tokens) == (sum(step.raw for step in steps), live)
    assert (last.index, last.sent_tokens) == (steps[-1].last, live + shown)
    assert [point.raw_tokens for point in found] == sorted(point.raw_tokens for point in found)
    assert all(0 <= point.memory_tokens <= point.sent_tokens for point in found)
    assert all(point.sent_tokens <= point.raw_tokens + point.memory_tokens for point in found)


def test_without_memory_all_that_is_shown_is_sent() -> None:
    """Strategy none: the two lines of the chart are one, but for what is omitted."""
    steps = [Step(place, 1, 10, 10 if place else 0) for place in range(5)]
    found = grow(steps, [], {}, Recent(turns=1), 5)
    assert [(point.raw_tokens, point.sent_tokens) for point in found] == [(10 * n, 10 * n - 10) for n in range(1, 6)]


def test_an_empty_chat_has_no_course() -> None:
    """Not a single point."""
    assert grow([], [], {}, Recent(), 9) == []


def test_a_summary_that_is_written_anew_takes_the_place_of_the_one_before() -> None:
    """Only one counts at a time, each from the fold that wrote it; recent messages are counted one by one."""
    steps = [Step(place, place % 2, 10, 10) for place in range(12)]
    lines = [(1, 2, 7), (2, 3, 8), (3, None, 9)]
    under = {key: Step(4 * key - 1, 2, 40, 40) for key in (1, 2)} | {3: Step(9, 1, 20, 20)}
    found = grow(steps, lines, under, Recent(messages=2), 12)
    assert [point.memory_tokens for point in found] == [0] * 5 + [7] * 4 + [8] * 2 + [9]
    assert found[-1].sent_tokens == 9 + 120 - 100
