"""app.core.underway: what may be planned beside what is under way."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.folding import DRAIN, Fold
from app.core.model import Turn
from app.core.promotion import Merge, Seed
from app.core.settings import LayeredSettings
from app.core.underway import Underway, first_to_commit, newest_within, promote_beside, raw_before
from tests.support.builders import chat, layers, reply, user
from tests.support.flight import Flight
from tests.support.replay import Chat

SMALL = LayeredSettings(
    verbatim_turns=4,
    turns_per_batch=2,
    snippets_per_layer=4,
    snippets_per_promotion=2,
    max_layers=4,
    memory_tokens=0,
)
WIDTHS = st.integers(1, 8)
TURNS = st.integers(4, 70)


def _story(turns: int) -> Chat:
    story = Chat(SMALL)
    story.append([line for _ in range(turns) for line in (user(), reply())])
    return story


def _shape(story: Chat) -> list[tuple[int, tuple[int, ...]]]:
    """Each live snippet's layer and the messages under it, in reading order."""
    under: dict[int, list[int]] = {}
    for message, snippet in story.under.items():
        under.setdefault(snippet, []).append(message)
    return [(snippet.layer, tuple(sorted(under[snippet.key]))) for snippet in story.memory.live]


def _assert_ordered(story: Chat) -> None:
    ranges = story.ranges()
    ends = [ranges[snippet.key] for snippet in story.memory.live]
    assert all(one[1] < two[0] for one, two in pairwise(ends))


@given(WIDTHS, TURNS, st.randoms(use_true_random=False))
def test_makes_the_same_merges_in_any_order(width: int, turns: int, random: object) -> None:
    """However the answers come back, the memory has the shape it gets one call at a time."""
    alone, together = _story(turns), _story(turns)
    alone.run(lambda _: 10, DRAIN)
    flight = Flight(together, width)
    flight.run(random.randrange)  # type: ignore[attr-defined]  # hypothesis types it as object
    assert _shape(together) == _shape(alone)
    assert flight.most_at_once <= width


@given(WIDTHS, TURNS, st.integers(0, 60), st.randoms(use_true_random=False))
def test_a_cut_leaves_a_clean_prefix(width: int, turns: int, answers: int, random: object) -> None:
    """Whenever it is cut, what is covered is the oldest turns without a gap, in order."""
    story = _story(turns)
    Flight(story, width).cut(random.randrange, answers)  # type: ignore[attr-defined]  # as above
    covered = sorted(message.index for message in story.messages if message.key in story.under)
    assert covered == list(range(len(covered)))
    _assert_ordered(story)


@given(st.integers(2, 8), TURNS, st.sets(st.integers(0, 30)), st.randoms(use_true_random=False))
def test_a_failing_batch_stops_nothing_else(width: int, turns: int, bad: set[int], random: object) -> None:
    """Batches that fail stay visible; every other batch is folded, and order holds."""
    story, planned = _story(turns), _story(turns)
    planned.run(lambda _: 10, DRAIN)

    def fails(fold: Fold) -> bool:
        return fold.covers[0].index // 4 in bad

    Flight(story, width).run(random.randrange, fails)  # type: ignore[attr-defined]  # as above
    missing = set(planned.under) - set(story.under)
    assert {(key - 1) // 4 for key in missing} <= bad
    _assert_ordered(story)


@pytest.mark.parametrize("width", [2, 16])
def test_merges_run_beside_folds(width: int) -> None:
    """While a merge is under way the next folds are planned, up to the width."""
    story = _story(60)
    flight = Flight(story, width)
    flight.run(lambda _: 0)
    assert flight.most_at_once == width
    assert flight.merges


def test_a_merge_waits_for_its_sources() -> None:
    """What is still being merged is no source of another merge."""
    live = layers(10, 1, 1)
    settings = LayeredSettings(snippets_per_layer=3, snippets_per_promotion=2, max_layers=4, memory_tokens=0)
    merges = tuple(Merge(tuple(live[place : place + 2]), 1) for place in (2, 4, 6, 8))
    for under_way in range(4):
        beside = promote_beside(live, settings, Underway(promotions=merges[:under_way]), shrink=True, apart=())
        assert beside == merges[under_way]
    # Four merges fill layer 1 beyond its limit; what it would promote is not there yet.
    assert promote_beside(live, settings, Underway(promotions=merges), shrink=True, apart=()) is None


def test_nothing_beside_a_seed_move() -> None:
    """A seed move is a commit away; until then no promotion is planned."""
    live = layers(5)
    settings = LayeredSettings(snippets_per_layer=3, snippets_per_promotion=2, memory_tokens=0)
    assert promote_beside(live, settings, Underway(promotions=(Seed(live[0], 1),)), shrink=True, apart=()) is None
    assert promote_beside(live, settings, Underway(promotes=False), shrink=True, apart=()) is None


def test_raw_turns_before_a_fold() -> None:
    """What other folds are still to cover is told as it is, as far as no snippet tells of it already."""
    messages = chat(*[line for _ in range(5) for line in (user(), reply())])
    fold = Fold((Turn((messages[6], messages[7])),))
    taken = {message.key for message in messages[:6]}
    assert raw_before(messages, fold, taken) == tuple(messages[:6])
    assert raw_before([*messages[:2], *messages[4:]], fold, taken) == tuple(messages[4:6])
    assert raw_before(messages, fold, {messages[4].key}) == (messages[4],)


def test_the_newest_that_fit() -> None:
    """Whole messages, newest first, and never more than the limit."""
    messages = chat(user(10), reply(20), user(30))
    assert newest_within(messages, 100) == tuple(messages)
    assert newest_within(messages, 50) == tuple(messages[1:])
    assert newest_within(messages, 29) == ()


def test_commits_in_order_within_a_chain() -> None:
    """A fold waits for the folds before it, and not for merges."""
    assert first_to_commit([("fold", False), ("fold", True)]) is None
    assert first_to_commit([("promotion", False), ("fold", True)]) == 1
    assert first_to_commit([("fold", True), ("promotion", True)]) == 0
    assert first_to_commit([]) is None
