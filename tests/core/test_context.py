"""app.core.context: which snippets a model sees before a passage."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.context import cap_context, share_of_memory
from app.core.model import Snippet
from tests.support.builders import layers

# Keys 1–2 are layer 2, 3–4 layer 1, 5–7 layer 0; ten tokens each.
LIVE = layers(3, 2, 2)


def _kept(limit: int) -> list[int]:
    return [snippet.key for snippet in cap_context(LIVE, limit)]


def test_no_limit_keeps_all() -> None:
    """0 means all."""
    assert _kept(0) == [1, 2, 3, 4, 5, 6, 7]


def test_what_fits_is_kept_whole() -> None:
    """Exactly at the limit nothing goes."""
    assert _kept(70) == [1, 2, 3, 4, 5, 6, 7]


def test_the_deepest_layer_comes_first() -> None:
    """It is kept whole before anything else."""
    assert _kept(20) == [1, 2]


def test_the_newest_of_a_deepest_layer_over_the_limit() -> None:
    """If it alone is over, its newest stay, and nothing else does."""
    assert _kept(19) == [2]
    assert _kept(9) == []


def test_then_layer_0_newest_first_then_upward() -> None:
    """The room left goes to the newest of layer 0, then of layer 1."""
    assert _kept(30) == [1, 2, 7]
    assert _kept(40) == [1, 2, 6, 7]
    assert _kept(50) == [1, 2, 5, 6, 7]
    assert _kept(60) == [1, 2, 4, 5, 6, 7]


def test_nothing_is_kept_across_a_hole() -> None:
    """What is too long ends its layer and the search: an older shorter one would stand without its successor."""
    live = [Snippet(1, 1, 10), Snippet(2, 0, 5), Snippet(3, 0, 50), Snippet(4, 0, 10)]
    assert [snippet.key for snippet in cap_context(live, 30)] == [1, 4]


def test_one_layer_is_the_deepest() -> None:
    """Memory without deeper layers keeps its newest."""
    assert [snippet.key for snippet in cap_context(layers(4), 25)] == [3, 4]
    assert cap_context([], 5) == ()


@given(
    tokens=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 40)), max_size=20),
    limit=st.integers(1, 400),
)
def test_a_capped_context_fits_in_order(tokens: list[tuple[int, int]], limit: int) -> None:
    """Never over the limit, in reading order, the newest of every layer it touches, all if all fit."""
    ordered = sorted(tokens, key=lambda pair: -pair[0])
    live = [Snippet(key, layer, size) for key, (layer, size) in enumerate(ordered)]
    kept = cap_context(live, limit)
    assert sum(snippet.tokens for snippet in kept) <= limit
    assert [snippet for snippet in live if snippet in kept] == list(kept)
    for layer in {snippet.layer for snippet in kept}:
        of_layer = [snippet for snippet in live if snippet.layer == layer]
        here = [snippet for snippet in kept if snippet.layer == layer]
        assert of_layer[-len(here) :] == here
    if sum(snippet.tokens for snippet in live) <= limit:
        assert list(kept) == live


def test_the_share_keeps_the_deepest_layer_and_the_newest_of_each() -> None:
    """Memory over its share of a budget keeps its deepest layer whole, then the newest of each shallower one."""
    live = [
        Snippet(1, 2, 10),
        Snippet(2, 2, 10),
        Snippet(3, 1, 10),
        Snippet(4, 1, 10),
        Snippet(5, 0, 10),
        Snippet(6, 0, 10),
    ]
    assert [s.key for s in share_of_memory(live, 40)] == [1, 2, 4, 6]
    assert [s.key for s in share_of_memory(live, 45)] == [1, 2, 4, 6]
    assert [s.key for s in share_of_memory(live, 10)] == [2]
    assert share_of_memory(live, 60) == tuple(live)
    assert share_of_memory([], 10) == ()
