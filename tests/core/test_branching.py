"""Which memory a branch takes along."""

from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.branching import Carried, Node, Root, carry, last_to_cover
from app.core.model import Message
from app.core.turns import outline
from tests.support.builders import call, chat, histories, reply, result, system, turns, user

# A forest: 1 and 2 merged into 3, which was merged with 4 into 5; then 6 and 7 merged into 8; then 9.
MERGED = [
    Node(1, 0, 3, 0, 5),
    Node(2, 0, 3, 6, 11),
    Node(3, 1, 5),
    Node(4, 1, 5, 12, 17),
    Node(5, 2),
    Node(6, 0, 8, 18, 23),
    Node(7, 0, 8, 24, 29),
    Node(8, 1),
    Node(9, 0, None, 30, 35),
]


@pytest.mark.parametrize(
    ("last", "live", "absorbed"),
    [
        (-1, [], []),
        (4, [], []),
        (5, [1], []),
        (11, [3], [(1, 2)]),
        (16, [3], [(1, 2)]),
        (17, [5], [(3, 4), (1, 2)]),
        (24, [5, 6], [(3, 4), (1, 2)]),
        (29, [5, 8], [(3, 4, 6, 7), (1, 2)]),
        (99, [5, 8, 9], [(3, 4, 6, 7), (1, 2)]),
    ],
)
def test_what_reaches_further_gives_way_to_its_parts(
    last: int, live: list[int], absorbed: list[tuple[int, ...]]
) -> None:
    """A snippet goes along if all under it lies within, else those of its parts that do."""
    found = carry(MERGED, last)
    assert ([root.key for root in found.live], list(found.absorbed)) == (live, absorbed)


def test_places_are_counted_anew_in_each_layer() -> None:
    """Live snippets stand in their own layers, from position 0 on."""
    more = [Node(10, 0, None, 36, 40)]
    assert carry(MERGED + more, 99).live == (Root(5, 2, 0), Root(8, 1, 0), Root(9, 0, 0), Root(10, 0, 1))


def test_no_layer_rises_in_reading_order() -> None:
    """A part that was absorbed in a deeper layer than its neighbour has stands in the neighbour's."""
    trees = [Node(1, 0, None, 0, 3), Node(2, 1, 4, 4, 7), Node(3, 0, 4, 8, 11), Node(4, 2)]
    assert carry(trees, 7).live == (Root(1, 0, 0), Root(2, 0, 1))


def test_what_covers_nothing_stays() -> None:
    """A snippet with nothing under it, and what a deleted one had absorbed, are in no tree of the branch."""
    assert carry([Node(1, 0), Node(2, 0, 77, 0, 3)], 99) == Carried()


def test_a_summary_with_messages_of_its_own_gives_way_to_its_predecessor() -> None:
    """A snippet may cover messages beside what it absorbed: its range is that of both."""
    trees = [Node(1, 0, 2, 0, 3), Node(2, 0, None, 4, 7)]
    assert carry(trees, 6) == Carried((Root(1, 0, 0),))
    assert carry(trees, 7) == Carried((Root(2, 0, 0),), ((1,),))


@pytest.mark.parametrize(
    ("last", "live", "absorbed"),
    [(2, [], []), (3, [1], []), (8, [2], [1]), (11, [4], [3, 2, 1]), (14, [4], [3, 2, 1]), (15, [5], [4, 3, 2, 1])],
)
def test_a_chain_is_carried_up_to_the_newest_summary_inside(last: int, live: list[int], absorbed: list[int]) -> None:
    """One with nothing of its own, because all of that is pinned by now, ends where its predecessor does."""
    trees = [Node(1, 0, 2, 0, 3), Node(2, 0, 3, 4, 7), Node(3, 0, 4, 8, 11), Node(4, 0, 5), Node(5, 0, None, 12, 15)]
    found = carry(trees, last)
    assert [root.key for root in found.live] == live
    assert [key for level in found.absorbed for key in level] == absorbed


def test_trees_may_be_deep() -> None:
    """Merges in place make a tree as deep as they are many."""
    leaves = [Node(n, 0, 10_000 + n, 2 * n, 2 * n + 1) for n in range(5_000)]
    chain = [Node(10_000 + n, 1, 10_001 + n) for n in range(4_999)] + [Node(14_999, 1)]
    found = carry(leaves + chain, 4_001)
    assert ([root.key for root in found.live], sum(map(len, found.absorbed))) == ([12_000], 4_001)


@st.composite
def forests(draw: st.DrawFn) -> list[Node]:
    """Leaves in order, some messages between them uncovered, and neighbours merged in whatever order."""
    nodes: dict[int, Node] = {}
    place = 0
    for key in range(1, draw(st.integers(1, 12)) + 1):
        place += draw(st.integers(0, 2))
        length = draw(st.integers(1, 4))
        nodes[key] = Node(key, 0, None, place, place + length - 1)
        place += length
    roots = list(nodes)
    for _ in range(draw(st.integers(0, 8))):
        first = draw(st.integers(0, len(roots) - 1))
        size = draw(st.integers(1, 3))
        sources = roots[first : first + size]
        key = len(nodes) + 1
        nodes[key] = Node(key, draw(st.integers(0, 3)))
        for source in sources:
            nodes[source] = replace(nodes[source], parent=key)
        roots[first : first + size] = [key]
    return draw(st.permutations(list(nodes.values())))


def leaves_under(nodes: dict[int, Node], key: int) -> list[Node]:
    """The nodes with messages under one, itself included."""
    parts = [leaf for node in nodes.values() if node.parent == key for leaf in leaves_under(nodes, node.key)]
    return parts + ([nodes[key]] if nodes[key].last is not None else [])


@given(forests(), st.integers(-1, 50))
def test_exactly_what_lies_inside_is_carried(forest: list[Node], last: int) -> None:
    """Carried is whatever has all under it within, live exactly if what absorbed it is not carried."""
    nodes = {node.key: node for node in forest}
    found = carry(forest, last)
    live, absorbed = {root.key for root in found.live}, set(chain.from_iterable(found.absorbed))
    inside = {key for key in nodes if all((leaf.last or 0) <= last for leaf in leaves_under(nodes, key))}
    assert live | absorbed == inside
    assert live == {key for key in inside if nodes[key].parent not in inside}
    assert sum(map(len, found.absorbed)) == len(absorbed)


@given(forests(), st.integers(-1, 50))
def test_places_are_in_order(forest: list[Node], last: int) -> None:
    """In reading order ranges ascend, layers never rise and positions count from 0; parents come before parts."""
    nodes = {node.key: node for node in forest}
    found = carry(forest, last)
    firsts = [min(leaf.first or 0 for leaf in leaves_under(nodes, root.key)) for root in found.live]
    layers = [root.layer for root in found.live]
    assert firsts == sorted(firsts)
    assert layers == sorted(layers, reverse=True)
    for layer in set(layers):
        places = [root.position for root in found.live if root.layer == layer]
        assert places == list(range(len(places)))
    above = {root.key for root in found.live}
    for level in found.absorbed:
        assert {nodes[key].parent for key in level} <= above
        above = set(level)


@pytest.mark.parametrize(
    ("messages", "last"),
    [
        ([], -1),
        (turns(1), -1),
        (turns(2), -1),
        (turns(3), 1),
        ([*turns(3), user()], 1),
        ([system(), *turns(2)], 0),
        ([*turns(2), user(pinned=True), reply(pinned=True), *turns(1)], 1),
        ([*turns(3), reply(hidden=True), user(omitted=True)], 1),
        ([*turns(3, skipped=True), *turns(1)], 3),
        ([*turns(3), user(), call("a"), reply()], 1),
        ([*turns(3), user(), call("a"), result("a"), reply()], 3),
    ],
)
def test_memory_ends_before_the_newest_turns(messages: list[Message], last: int) -> None:
    """With a window of two, memory may cover what stands before the last two closed turns that could be covered."""
    history = chat(*messages)
    assert last_to_cover(history, len(history), 2) == last


@given(histories, st.integers(1, 6), st.data())
def test_the_newest_messages_are_enough(messages: list[Message], window: int, data: st.DataObject) -> None:
    """A part of the history says the same as all of it, or that it is too short."""
    history = chat(*messages)
    whole = last_to_cover(history, len(history), window)
    part = history[data.draw(st.integers(0, len(history))) :]
    assert last_to_cover(part, len(history), window) in (whole, None)


@given(histories, st.integers(1, 6))
def test_all_messages_always_say(messages: list[Message], window: int) -> None:
    """The whole history leaves exactly the window's turns after that place, or all if there are fewer."""
    history = chat(*messages)
    last = last_to_cover(history, len(history), window)
    assert last is not None
    closed = [turn for turn in outline(history, len(history)).turns if turn.coverable]
    after = [turn for turn in closed if turn.messages[0].index > last]
    assert len(after) == min(window, len(closed))
