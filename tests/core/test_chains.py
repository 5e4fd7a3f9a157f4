"""What must hold of one summary that is written anew, examined without a database."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.chains import examine_chain
from app.core.facts import FallBack, Finding, StoredMessage, StoredSnippet, Uncover
from app.core.model import Role


def messages(*leaves: int | None) -> list[StoredMessage]:
    """A user line at each even place and a reply at each odd one, under these leaves."""
    return [
        StoredMessage(100 + place, place, Role.ASSISTANT if place % 2 else Role.USER, closes=bool(place % 2), leaf=leaf)
        for place, leaf in enumerate(leaves)
    ]


def summary(key: int, parent: int | None = None, **what: Any) -> StoredSnippet:
    made = StoredSnippet(key, f"s{key}", 0, 0, "live" if parent is None else "absorbed", parent)
    return replace(made, **what)


CHAT = messages(1, 1, 2, 2, 3, 3, None, None)
CHAIN = [summary(1, 2), summary(2, 3), summary(3)]


def examined(chat: list[StoredMessage], chain: list[StoredSnippet]) -> list[Finding]:
    return examine_chain(chat, chain, "rolling")


def fixes(chat: list[StoredMessage], chain: list[StoredSnippet]) -> list[Any]:
    return [finding.fix for finding in examined(chat, chain)]


def fall_back(*gone: int, standing: int | None) -> FallBack:
    return FallBack("rolling", gone, standing)


def with_mark(place: int, **marks: Any) -> list[StoredMessage]:
    return [replace(one, **marks) if one.position == place else one for one in CHAT]


def test_a_chat_that_is_well() -> None:
    """Nothing is found in an empty chat, nor where summaries follow each other."""
    assert examined([], []) == []
    assert examined(CHAT, []) != []
    assert examined(CHAT, CHAIN) == []


@pytest.mark.parametrize("mark", [{"pinned": True}, {"hidden": True}, {"omitted": True}, {"empty": True}])
def test_what_is_not_told_is_no_gap(mark: dict[str, bool]) -> None:
    """Pinned, hidden, omitted and empty messages without a leaf may lie between covered ones."""
    assert examined(with_mark(2, leaf=None, **mark), CHAIN) == []


def test_the_system_prompt_is_no_gap() -> None:
    """What stands before the first user or assistant message is never covered."""
    prompt = StoredMessage(99, -1, Role.SYSTEM)
    assert examined([prompt, *CHAT], CHAIN) == []


def test_a_gap_in_the_newest() -> None:
    """Its predecessor stands again. What follows the last covered message is no gap, be it of the same turn."""
    assert examined(with_mark(5, leaf=None), CHAIN) == []
    assert fixes(with_mark(4, leaf=None), CHAIN) == [fall_back(3, standing=2)]


def test_a_gap_in_the_oldest() -> None:
    """None is left."""
    assert fixes(with_mark(0, leaf=None), CHAIN) == [fall_back(1, 2, 3, standing=None)]


def test_a_message_far_from_its_summary() -> None:
    """A summary that covers something out of order goes, with all after it."""
    assert fixes(with_mark(7, leaf=2), CHAIN) == [fall_back(2, 3, standing=1)]


@pytest.mark.parametrize("mark", [{"hidden": True}, {"omitted": True}])
def test_a_hidden_message_under_a_summary(mark: dict[str, bool]) -> None:
    """What the summary tells is not to be told: it goes."""
    assert fixes(with_mark(3, **mark), CHAIN) == [fall_back(2, 3, standing=1)]


def test_two_are_live() -> None:
    """The one over the oldest messages stays."""
    chain = [summary(1), summary(2, 3), summary(3, position=1)]
    assert fixes(CHAT, chain) == [fall_back(2, 3, standing=1)]


def test_two_went_into_one() -> None:
    """The older of both stands again."""
    assert fixes(CHAT, [summary(1, 3), summary(2, 3), summary(3)]) == [fall_back(2, 3, standing=1)]


def test_another_place() -> None:
    """There is one place: the first of layer 0."""
    assert fixes(CHAT, [*CHAIN[:2], summary(3, layer=1, position=2)]) == [fall_back(standing=3)]


def test_under_a_deleted_summary() -> None:
    """Messages under a summary that is gone become visible, in this strategy alone."""
    chain = [summary(1, 2), summary(2), summary(3, state="deleted")]
    assert fixes(CHAT, chain) == [Uncover((104, 105), (), "rolling")]


def test_a_summary_with_nothing_of_its_own_left() -> None:
    """All it folded was pinned since: it stays, wherever it stands among the others; not if nothing is left at all."""
    for key in (1, 2, 3):
        chat = [replace(one, leaf=None, pinned=True) if one.leaf == key else one for one in CHAT]
        assert examined(chat, CHAIN) == []
    pinned = [replace(one, leaf=None, pinned=True) for one in CHAT]
    assert fixes(pinned, CHAIN) == [fall_back(1, 2, 3, standing=None)]


def test_the_live_one_is_made_anew_on_request() -> None:
    """A degraded summary is asked for again; one that was superseded is not."""
    worn = [replace(one, degraded=True) for one in CHAIN]
    [finding] = examined(CHAT, worn)
    assert finding.code == "degraded"
    assert "s3" in finding.detail
    assert examine_chain(CHAT, worn, "rolling", present=False) == []
