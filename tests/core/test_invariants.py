"""What must hold in a chat, examined without a database; tests/services/test_repairing.py damages real ones."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.facts import Finding, Rank, StoredMessage, StoredSnippet, listed
from app.core.invariants import examine
from app.core.model import Role


def messages(*leaves: int | None) -> list[StoredMessage]:
    """A user line at each even place and a reply at each odd one, under these leaves."""
    return [
        StoredMessage(
            key=100 + place,
            position=place,
            role=Role.ASSISTANT if place % 2 else Role.USER,
            closes=bool(place % 2),
            leaf=leaf,
        )
        for place, leaf in enumerate(leaves)
    ]


def snippet(key: int, **what: Any) -> StoredSnippet:
    return StoredSnippet(**{"key": key, "id": f"s{key}", "layer": 0, "position": key, **what})


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


CHAT = messages(1, 1, 2, 2, None, None)
MEMORY = [snippet(1), snippet(2)]


def test_a_chat_that_is_well() -> None:
    """Nothing is found in an empty chat, nor in one with covered and visible turns."""
    assert examine([], []) == []
    assert examine(CHAT, MEMORY) == []


def marked(message: StoredMessage, **marks: Any) -> StoredMessage:
    return replace(message, **marks)


def test_a_visible_message_inside_a_range_has_a_stale_home() -> None:
    """It joins the leaf before it, which must be stale; hidden, pinned, omitted and empty ones join nothing."""
    gap = messages(1, 1, 1, 1)
    gap[1] = replace(gap[1], leaf=None)
    assert codes(examine(gap, MEMORY[:1])) == ["snippet_not_stale"]
    for mark in ({"stale": True}, {"asked": True}, {"edited": True}):
        assert examine(gap, [snippet(1, **mark)]) == []
    for mark in ({"hidden": True}, {"pinned": True}, {"omitted": True}):
        assert examine([gap[0], marked(gap[1], **mark), *gap[2:]], MEMORY[:1]) == []
    assert examine([gap[0], replace(gap[1], empty=True, blank=True, closes=False), *gap[2:]], MEMORY[:1]) == []


def test_between_two_snippets_nothing_joins() -> None:
    """A visible message between the ranges of two live snippets makes neither stale."""
    assert examine(messages(1, None, 2, 2), MEMORY) == []


def test_a_stale_part_makes_the_whole_stale() -> None:
    """What absorbed a stale snippet is stale too, unless either text is a person's."""
    part = snippet(1, state="absorbed", parent=2, stale=True)
    chat = messages(1, 1)
    assert codes(examine(chat, [part, snippet(2, layer=1)])) == ["snippet_not_stale"]
    assert examine(chat, [part, snippet(2, layer=1, stale=True)]) == []
    assert examine(chat, [part, snippet(2, layer=1, edited=True)]) == []
    assert examine(chat, [replace(part, edited=True), snippet(2, layer=1)]) == []


@pytest.mark.parametrize("mark", [{"hidden": True}, {"omitted": True}])
def test_what_is_taken_out_leaves_its_snippet_stale(mark: dict[str, bool]) -> None:
    """A hidden or omitted message that is covered is uncovered, and its leaf is stale; a pinned one leaves it fresh."""
    for marks, stale in ((mark, (1,)), ({"pinned": True}, ())):
        [finding] = examine([marked(CHAT[0], **marks), *CHAT[1:]], MEMORY)
        assert finding.code == "covered_not_plain"
        assert (finding.fix.messages, finding.fix.stale) == ((100,), stale)  # type: ignore[union-attr]  # an Uncover


def test_a_snippet_over_empty_messages_alone_goes() -> None:
    """A leaf under which nothing with text is left is empty, and so is what absorbed nothing else."""
    empty = [replace(message, empty=True, blank=True, closes=False) for message in messages(1, 1)]
    found = examine(empty, [snippet(1, state="absorbed", parent=2), snippet(2, layer=1)])
    assert codes(found) == ["snippet_empty"]
    assert "s1, s2" in found[0].detail


def test_parts_go_down_with_the_whole() -> None:
    """A merged snippet that belongs in a lower layer takes its parts along, in the order of what they cover."""
    memory = [
        *(snippet(1), snippet(2)),
        snippet(3, state="absorbed", parent=5, layer=2, position=8),
        snippet(4, state="absorbed", parent=5, layer=1, position=3),
        *(snippet(5, layer=3, position=0), snippet(6, position=9)),
    ]
    found = examine(messages(1, 1, 2, 2, 3, 3, 4, 4, 6, 6), memory)
    assert codes(found) == ["layer_order", "parts_out_of_order"]
    assert found[0].fix == Rank(((1, 0, 0), (2, 0, 1), (5, 0, 2), (6, 0, 3)))
    assert found[1].fix == Rank(((3, 0, 0), (4, 0, 1)))


def test_long_lists_are_cut() -> None:
    """A finding names ten of many things, and says how many more there are."""
    assert listed(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert listed("ab") == "a, b"
