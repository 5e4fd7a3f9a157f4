"""Editing, deleting and bringing back messages under a memory, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import Conflict, ModelError, ModelUnavailable, NotFound
from app.services.browsing import SnippetView
from tests.support.checks import assert_promises
from tests.support.table import Table, laid

SMALL = {"verbatim_turns": 4, "turns_per_batch": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.settings(**SMALL)
        yield table


def snippets(table: Table, state: str = "live") -> list[SnippetView]:
    """The chat's snippets in a state, in reading order."""
    return table.services.browsing.snippets(
        "c", layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
    )


def leaf_of(table: Table, message_id: str) -> SnippetView:
    """The snippet that covers a message itself."""
    snippet_id = table.services.recording.get("c", message_id).snippet_id
    assert snippet_id is not None
    return table.services.browsing.snippet("c", snippet_id)


def check(table: Table) -> None:
    assert_promises(table.database, "c", 4, shrunk=True)


async def test_an_edit_of_a_covered_message_is_healed(table: Table) -> None:
    """The snippet is stale and still sent until a new text is made from the new message."""
    await table.say(*range(1, 9))
    old = leaf_of(table, "u1")
    table.models.hold()
    calls = len(table.models.requests)
    table.services.editing.edit("c", "u1", {"content": "Mira asks about the green gate."})
    await table.models.arrived(calls + 1)
    stale = leaf_of(table, "u1")
    assert (stale.id, stale.text, stale.stale) == (old.id, old.text, True)
    assert table.status().stale_snippets == 1
    assert old.text in table.services.reporting.preview("c").text
    assert "green gate" in table.models.requests[-1].user
    table.models.let_go()
    await table.settled()
    healed = leaf_of(table, "u1")
    assert (healed.id, healed.stale) == (old.id, False)
    assert healed.text != old.text
    assert healed.revision > old.revision
    check(table)


async def test_healing_goes_from_the_leaf_upward(table: Table) -> None:
    """A part of a merged snippet is made anew first, then what absorbed it, each with what precedes it alone."""
    for turn in range(1, 31):
        await table.say(turn)
    part = next(snippet for snippet in snippets(table, "absorbed")[::-1] if not snippet.children)
    assert part.covers
    message = table.services.recording.page("c", state="all", after=part.covers.first_index - 1, limit=1)[0]
    calls = len(table.models.requests)
    table.services.editing.edit("c", message.id, {"content": "Everything was different."})
    await table.settled()
    made = table.models.requests[calls:]
    assert [request.kind for request in made][:2] == ["fold", "merge"]
    assert all(request.kind == "merge" for request in made[1:])
    assert table.status().stale_snippets == 0
    assert not [snippet for snippet in snippets(table, "absorbed") if snippet.stale]
    older = [
        snippet.text for snippet in snippets(table) if snippet.covers and snippet.covers.last_index < message.index
    ]
    assert [text for text in made[0].prior if text in older] == older
    check(table)


async def test_the_newest_turns_are_no_memory(table: Table) -> None:
    """A swipe, an edit and a deletion in the window touch no snippet and start nothing."""
    await table.say(*range(1, 9))
    version, calls = table.status().memory_version, len(table.models.requests)
    table.services.editing.edit("c", "a8", {"content": "Another answer."})
    table.services.editing.delete("c", "a8")
    status = await table.settled()
    assert (status.memory_version, status.stale_snippets, len(table.models.requests)) == (version, 0, calls)
    check(table)


async def test_a_deleted_message_leaves_the_rest(table: Table) -> None:
    """The snippet stands for what is left and is made anew; emptied, it goes."""
    await table.say(*range(1, 9))
    first = leaf_of(table, "u1")
    table.services.editing.delete("c", "u1")
    await table.settled()
    healed = leaf_of(table, "a1")
    assert healed.id == first.id
    assert healed.covers
    assert (healed.covers.messages, healed.stale) == (3, False)
    for message_id in ("a1", "u2", "a2"):
        table.services.editing.delete("c", message_id)
    await table.settled()
    assert first.id not in [snippet.id for snippet in snippets(table)]
    with pytest.raises(NotFound):
        table.services.browsing.snippet("c", first.id)
    check(table)


async def test_hiding_is_a_deletion_and_pinning_is_not(table: Table) -> None:
    """A hidden message leaves its snippet stale, a pinned one leaves it fresh; neither is covered."""
    table.services.steering.resume("c")
    await table.say(*range(1, 9))
    await table.services.steering.pause("c")
    table.services.editing.edit("c", "u1", {"pinned": True})
    assert table.status().stale_snippets == 0
    table.services.editing.edit("c", "u2", {"hidden": True})
    assert table.status().stale_snippets == 1
    for message_id in ("u1", "u2"):
        assert table.services.recording.get("c", message_id).snippet_id is None
    check(table)


async def test_what_comes_in_joins_the_leaf_before_it(table: Table) -> None:
    """An un-hidden and an un-pinned message inside a range are sent at once, and covered once the leaf is anew."""
    await table.say(*range(1, 9))
    home = leaf_of(table, "a1").id
    table.services.editing.edit("c", "u2", {"hidden": True})
    table.services.editing.edit("c", "a1", {"pinned": True})
    await table.settled()
    await table.services.steering.pause("c")
    table.services.editing.edit("c", "u2", {"hidden": False})
    table.services.editing.edit("c", "a1", {"pinned": False})
    assert leaf_of(table, "u1").stale
    assert table.services.recording.get("c", "u2").ghosted is False
    table.services.steering.resume("c")
    await table.settled()
    assert {leaf_of(table, message_id).id for message_id in ("u1", "a1", "u2", "a2")} == {home}
    assert not leaf_of(table, "u1").stale
    check(table)


async def test_deleting_the_newest_turns_takes_memory_back(table: Table) -> None:
    """Fewer than half of the window left: the newest snippets give way until it is whole, without a model call."""
    await table.say(*range(1, 9))
    calls = len(table.models.requests)
    for turn in (8, 7, 6):
        table.services.editing.delete("c", f"a{turn}")
        table.services.editing.delete("c", f"u{turn}")
    status = await table.settled()
    assert len(table.models.requests) == calls
    assert status.counts.visible >= 8
    check(table)


async def test_healing_that_fails_three_times_waits(table: Table) -> None:
    """It is tried three times, then left stale until the next change under it."""
    await table.say(*range(1, 9))
    failure = ModelUnavailable("Away.", connection="default", calls=1)
    table.models.script(*[failure] * 5)
    calls = len(table.models.requests)
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    for _ in range(3):
        await table.settled()
        table.services.steering.resume("c")
    await table.settled()
    assert len(table.models.requests) == calls + 3
    assert leaf_of(table, "u1").stale
    assert table.status().job is None
    table.models.forget_script()
    table.services.editing.edit("c", "u1", {"content": "Changed again."})
    await table.settled()
    assert not leaf_of(table, "u1").stale
    check(table)


async def test_a_failed_healing_keeps_no_turn_from_folding(table: Table) -> None:
    """Folding comes first, so that a snippet that cannot be healed holds nothing up."""
    await table.say(*range(1, 9))
    refused: ModelError = ModelUnavailable("Away.", connection="default", calls=1)
    table.models.script(refused)
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    await table.settled()
    table.models.script("A fold.", refused)
    await table.say(9, 10, 11, 12)
    assert "A fold." in [snippet.text for snippet in snippets(table)]
    check(table)


async def test_a_change_under_a_running_healing(table: Table) -> None:
    """An answer made from what has changed again meanwhile is dropped, and asked for anew."""
    await table.say(*range(1, 9))
    table.models.hold()
    calls = len(table.models.requests)
    table.services.editing.edit("c", "u1", {"content": "First change."})
    await table.models.arrived(calls + 1)
    table.services.editing.edit("c", "u1", {"content": "Second change."})
    table.models.let_go()
    await table.settled()
    assert "Second change." in table.models.requests[-1].user
    assert not leaf_of(table, "u1").stale
    check(table)


async def test_a_fold_whose_messages_move_lands_where_they_are(table: Table) -> None:
    """Messages before a passage are deleted while the model reads it: its snippet covers what it was made from."""
    await table.say(*range(1, 9))
    table.models.hold()
    calls = len(table.models.requests)
    await table.say(9, 10, fold="background")
    await table.models.arrived(calls + 1)
    for message_id in ("u1", "a1"):
        table.services.editing.delete("c", message_id)
    table.models.let_go()
    await table.settled()
    assert leaf_of(table, "u5").id == leaf_of(table, "a6").id
    check(table)


async def test_deleted_messages_come_back_in_their_places(table: Table) -> None:
    """In whatever order they went and come, under their own ids, and with their marks."""
    await table.say(*range(1, 9))
    table.services.editing.edit("c", "u4", {"pinned": True})
    before = [message.id for message in table.services.recording.page("c", state="all", after=-1, limit=100)]
    for message_id in ("u3", "a3", "u4", "a4", "u1"):
        table.services.editing.delete("c", message_id)
    gone = [message.id for _, message in table.services.recovering.deleted("c", None, 100)]
    assert set(gone) == {"u3", "a3", "u4", "a4", "u1"}
    for message_id in ("a4", "u3", "u4", "u1", "a3"):
        table.services.recovering.restore("c", message_id)
    await table.settled()
    after = table.services.recording.page("c", state="all", after=-1, limit=100)
    assert [message.id for message in after] == before
    assert table.services.recording.get("c", "u4").pinned
    assert table.services.recovering.deleted("c", None, 100) == []
    check(table)


async def test_an_overwritten_text_comes_back(table: Table) -> None:
    """The last text before a change; restoring twice is where it began. What was never changed has nothing."""
    await table.say(*range(1, 9))
    before = table.services.recording.get("c", "u1").content
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    assert [text.content for text in table.services.recovering.earlier_texts("c", "u1")] == [before]
    assert table.services.recovering.restore("c", "u1").content == before
    assert table.services.recovering.restore("c", "u1").content == "Changed."
    with pytest.raises(Conflict, match="nothing to restore"):
        table.services.recovering.restore("c", "u2")
    with pytest.raises(NotFound):
        table.services.recovering.restore("c", "nobody")


async def test_what_is_kept_is_kept_for_thirty_days(table: Table) -> None:
    """After that it is neither listed nor restored, and the next change forgets it."""
    await table.say(1, 2)
    table.services.editing.delete("c", "u1")
    table.sql("UPDATE kept_messages SET kept_at = kept_at - 2592000001")
    assert table.services.recovering.deleted("c", None, 100) == []
    with pytest.raises(NotFound, match="30 days"):
        table.services.recovering.restore("c", "u1")
    table.services.editing.delete("c", "a1")
    assert [message.id for _, message in table.services.recovering.deleted("c", None, 100)] == ["a1"]


async def test_an_edit_that_changes_nothing(table: Table) -> None:
    """The same text again is no change: nothing is stale, nothing is kept."""
    await table.say(*range(1, 9))
    content = table.services.recording.get("c", "u1").content
    table.services.editing.edit("c", "u1", {"content": content, "hidden": False, "extra": {}})
    assert table.status().stale_snippets == 0
    assert table.services.recovering.earlier_texts("c", "u1") == []


async def test_what_is_blank_leaves_memory(table: Table) -> None:
    """A snippet whose messages were all made blank says nothing true any more and goes."""
    await table.say(*range(1, 9))
    old = leaf_of(table, "u1").id
    for message_id in ("u1", "a1", "u2", "a2"):
        table.services.editing.edit("c", message_id, {"content": " "})
    await table.settled()
    assert old not in [snippet.id for snippet in snippets(table)]
    check(table)
