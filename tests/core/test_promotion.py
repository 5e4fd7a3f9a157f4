"""app.core.promotion: what moves when a layer is full or memory too big."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.estimate import count_merges
from app.core.model import Snippet
from app.core.promotion import Merge, Promotion, Seed, plan_promotion
from app.core.settings import LayeredSettings
from tests.support.builders import layers, vectors
from tests.support.replay import Memory

CASES = vectors("layered.json")["cases"]


def _of(case: dict[str, Any]) -> LayeredSettings:
    names = ("snippets_per_layer", "snippets_per_promotion", "max_layers")
    return LayeredSettings(deepest_layer="keep", memory_tokens=0, **{name: case[name] for name in names})


def _named(case: dict[str, Any]) -> str:
    return "{snippets_per_layer}/{snippets_per_promotion}/{max_layers} {folds}".format(**case)


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_worked_examples(case: dict[str, Any]) -> None:
    """Layers, merges and seeds after n folds, promoting after each until nothing is due."""
    memory = Memory(_of(case))
    for _ in range(case["folds"]):
        memory.add(Snippet(memory.next_key(), 0, 10))
        memory.settle()
    assert memory.counts() == case["layers"]
    assert (memory.merges, memory.seeds) == (case["merges"], case["seeds"])


@pytest.mark.parametrize("case", CASES, ids=_named)
def test_counting_ahead(case: dict[str, Any]) -> None:
    """The number of merges is known without making them."""
    assert count_merges([], case["folds"], _of(case)) == case["merges"]


LIMITS = [
    (30, [30], 0),
    (31, [30, 1], 0),
    (32, [28, 2], 1),
    (35, [28, 3], 2),
    (119, [28, 30, 1], 30),
    (122, [28, 28, 2], 32),
    (200, [28, 30, 10], 66),
    (500, [28, 28, 28, 6], 205),
    (1000, [30, 29, 29, 24], 444),
    (10000, [30, 29, 30, 29, 110], 4886),
]
SMALL = [(4, [3, 1], 0), (5, [2, 2], 1), (9, [2, 3, 1], 3), (15, [2, 2, 3], 8), (29, [2, 3, 6], 18)]


@pytest.mark.parametrize(("limits", "table"), [((30, 3, 5), LIMITS), ((3, 2, 3), SMALL)], ids=["30/3/5", "3/2/3"])
def test_the_table_of_the_spec(limits: tuple[int, int, int], table: Sequence[tuple[int, list[int], int]]) -> None:
    """Every line of layered.md's table, read off one growing memory."""
    per_layer, merge, depth = limits
    settings = LayeredSettings(
        snippets_per_layer=per_layer,
        snippets_per_promotion=merge,
        max_layers=depth,
        deepest_layer="keep",
        memory_tokens=0,
    )
    memory, folds = Memory(settings), 0
    for after, counts, merges in table:
        while folds < after:
            memory.add(Snippet(memory.next_key(), 0, 10))
            memory.settle()
            folds += 1
        assert (memory.counts(), memory.merges) == (counts, merges)


def _plan(live: Sequence[Snippet], **what: Any) -> Promotion | None:
    changed = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "max_layers": 3, "memory_tokens": 0} | what
    return plan_promotion(live, LayeredSettings(**changed))


def _merged(plan: Promotion | None) -> tuple[list[int], int]:
    assert isinstance(plan, Merge)
    return [source.key for source in plan.sources], plan.layer


def test_at_the_limit_nothing_moves() -> None:
    """A layer may hold as many as its limit."""
    assert _plan([]) is None
    assert _plan(layers(3, 3, 3)) is None


def test_the_first_of_an_empty_layer_is_a_seed() -> None:
    """The oldest moves on, unchanged."""
    assert _plan(layers(4)) == Seed(Snippet(1, 0, 10), 1)


def test_with_something_below_the_oldest_merge() -> None:
    """The oldest two become one in the next layer."""
    assert _merged(_plan(layers(4, 1))) == ([2, 3], 1)


def test_the_shallowest_full_layer_goes_first() -> None:
    """A cascade runs from layer 0 down."""
    assert _merged(_plan(layers(4, 4, 1))) == ([6, 7], 1)
    assert _merged(_plan(layers(3, 4, 1))) == ([2, 3], 2)


def test_a_cascade_ends_with_every_layer_within_its_limit() -> None:
    """One fold too many in layer 0 of a full memory moves something in every layer."""
    settings = LayeredSettings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=3, memory_tokens=0)
    memory = Memory(settings, layers(4, 3, 3))
    memory.settle()
    assert memory.counts() == [2, 2, 3]


def test_the_deepest_layer_merges_in_place() -> None:
    """Its oldest become one where they stand, so that memory is bounded."""
    assert _merged(_plan(layers(1, 1, 4))) == ([1, 2], 2)
    assert _merged(_plan(layers(4), max_layers=1)) == ([1, 2], 0)


def test_the_deepest_layer_can_be_kept() -> None:
    """With `keep` it grows without limit."""
    assert _plan(layers(1, 1, 40), deepest_layer="keep") is None
    assert _plan(layers(40), deepest_layer="keep", max_layers=1) is None


def test_layers_beyond_a_lowered_depth_count_as_the_deepest() -> None:
    """What lies deeper stays there, and makes the deepest layer full."""
    live = layers(1, 1, 2, 2)
    assert _merged(_plan(live, max_layers=2, snippets_per_layer=4)) == ([1, 2], 3)
    assert _plan(live, max_layers=3, snippets_per_layer=4) is None
    # Layer 1 is empty, but what counts as layer 1 is not: no seed.
    assert _merged(_plan(layers(4, 0, 1), max_layers=2)) == ([2, 3], 1)


def test_a_layer_between_that_is_empty_is_seeded() -> None:
    """Deeper snippets do not stand for an empty neighbour."""
    assert _plan(layers(4, 0, 1)) == Seed(Snippet(2, 0, 10), 1)


def test_too_many_tokens_take_from_the_heaviest_layer() -> None:
    """The layer with most tokens gives first, its oldest first."""
    assert _merged(_plan(layers(2, 3, 1), memory_tokens=59)) == ([2, 3], 2)
    assert _merged(_plan(layers(3, 2, 1), memory_tokens=59)) == ([4, 5], 1)
    assert _plan(layers(3, 2, 1), memory_tokens=60) is None


def test_a_merge_for_tokens_says_so() -> None:
    """Whoever carries it out can see whether it brought anything."""
    plan = _plan(layers(2, 1), memory_tokens=1)
    assert isinstance(plan, Merge)
    assert plan.for_tokens
    full = _plan(layers(4, 1), memory_tokens=1)
    assert isinstance(full, Merge)
    assert not full.for_tokens


def test_tokens_ask_for_nothing_once_a_merge_brought_nothing() -> None:
    """`shrink` False leaves the limits on counts only."""
    settings = LayeredSettings(memory_tokens=1)
    assert plan_promotion(layers(2, 1), settings, shrink=False) is None
    assert plan_promotion(layers(31, 1), settings, shrink=False) is not None


def test_a_lone_snippet_has_nobody_to_merge_with() -> None:
    """Over memory_tokens with one snippet per layer, nothing is due."""
    assert _plan(layers(1, 1, 1), memory_tokens=1) is None
    assert _plan(layers(1, 1, 9), memory_tokens=1, deepest_layer="keep", snippets_per_layer=20) is None


def test_only_neighbours_merge() -> None:
    """Snippets with uncovered turns between them do not become one; the first goes on alone."""
    settings = LayeredSettings(snippets_per_layer=3, snippets_per_promotion=3, max_layers=2, memory_tokens=0)
    live = layers(4, 1)
    assert plan_promotion(live, settings, apart={3}) == Seed(live[1], 1)
    assert _merged(plan_promotion(live, settings, apart={4})) == ([2, 3], 1)
    assert _merged(plan_promotion(live, settings, apart={2, 5})) == ([2, 3, 4], 1)


def test_in_the_deepest_layer_the_oldest_neighbours_merge() -> None:
    """Where no two stand together it grows."""
    settings = LayeredSettings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=1, memory_tokens=0)
    assert _merged(plan_promotion(layers(4), settings, apart={2})) == ([2, 3], 0)
    assert plan_promotion(layers(4), settings, apart={2, 3, 4}) is None


limits = st.builds(
    lambda per_layer, merge, depth, deepest: LayeredSettings(
        snippets_per_layer=per_layer,
        snippets_per_promotion=min(merge, per_layer - 1),
        max_layers=depth,
        deepest_layer=deepest,
        memory_tokens=0,
    ),
    st.integers(3, 8),
    st.integers(2, 6),
    st.integers(1, 5),
    st.sampled_from(["merge", "keep"]),
)


@given(counts=st.lists(st.integers(0, 12), max_size=7), folds=st.integers(1, 60), settings=limits)
def test_counting_ahead_is_what_happens(counts: list[int], folds: int, settings: LayeredSettings) -> None:
    """count_merges gives what promoting after every fold gives, whatever the layers held before."""
    memory = Memory(settings, layers(*counts))
    for _ in range(folds):
        memory.add(Snippet(memory.next_key(), 0, 10))
        memory.settle()
    assert count_merges(counts, folds, settings) == memory.merges


@given(
    counts=st.lists(st.integers(0, 12), max_size=7),
    settings=limits,
    apart=st.sets(st.integers(1, 60)),
    memory_tokens=st.integers(0, 300),
    growth=st.sampled_from([0.4, 1.0, 2.0]),
)
def test_promoting_ends(
    counts: list[int], settings: LayeredSettings, apart: set[int], memory_tokens: int, growth: float
) -> None:
    """Every promotion makes memory shorter or a snippet deeper, however long the model's answers are."""
    limited = LayeredSettings(
        snippets_per_layer=settings.snippets_per_layer,
        snippets_per_promotion=settings.snippets_per_promotion,
        max_layers=settings.max_layers,
        deepest_layer=settings.deepest_layer,
        memory_tokens=memory_tokens,
    )
    memory = Memory(limited, layers(*counts), growth=growth)
    before = list(memory.live)
    memory.settle(apart)
    assert memory.merges <= len(before)
    assert memory.seeds <= len(before) * settings.max_layers
    assert sorted(memory.live, key=lambda snippet: -snippet.layer) == memory.live
