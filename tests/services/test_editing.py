"""Editing and deleting messages under a memory, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.model import Role
from app.errors import ModelError, ModelUnavailable, NotFound
from app.services.browsing import SnippetView
from app.services.projection_query import ProjectionQuery
from app.services.recording import Draft
from app.services.syncing import Line
from tests.support.checks import assert_promises
from tests.support.table import Table, laid, turn_drafts
from tests.support.waiting import until

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


async def test_what_is_blank_leaves_memory(table: Table) -> None:
    """A snippet whose messages were all made blank says nothing true any more and goes."""
    await table.say(*range(1, 9))
    old = leaf_of(table, "u1").id
    for message_id in ("u1", "a1", "u2", "a2"):
        table.services.editing.edit("c", message_id, {"content": " "})
    await table.settled()
    assert old not in [snippet.id for snippet in snippets(table)]
    check(table)


async def test_a_system_prompt_that_came_to_light(table: Table) -> None:
    """A note that is first by now is the chat's own system prompt: no snippet covers it, and it is sent."""
    note = Draft(Role.SYSTEM, "Speak in rhymes.", id="s1")
    first, reply = turn_drafts(1)
    await table.services.recording.append("c", [first, note, reply], "none", 0)
    await table.say(*range(2, 9))
    assert leaf_of(table, "s1").id == leaf_of(table, "a1").id
    table.services.editing.delete("c", "u1")
    assert table.services.recording.get("c", "s1").ghosted is False
    await table.settled()
    prompt = table.services.projecting.project("c", ProjectionQuery())
    assert "Speak in rhymes." in prompt.messages[0]["content"]
    check(table)


async def test_a_blank_message_that_says_something(table: Table) -> None:
    """One that came in blank inside a range joins the leaf before it when it gets its text."""
    await table.say(*range(1, 9))
    await table.services.steering.pause("c")
    lines = [draft for turn in range(1, 9) for draft in turn_drafts(turn)]
    lines.insert(1, Draft(Role.USER, " ", id="x"))
    table.services.syncing.sync("c", [Line(draft, frozenset({"id", "role", "content"})) for draft in lines])
    assert table.status().stale_snippets == 0
    table.services.editing.edit("c", "x", {"content": "Wait for me!"})
    assert table.status().stale_snippets == 1
    table.services.steering.resume("c")
    await table.settled()
    assert leaf_of(table, "x").id == leaf_of(table, "u1").id
    check(table)


async def test_the_beginning_of_a_first_turn_comes_back(table: Table) -> None:
    """With no leaf before it, it joins the one in which its turn ends."""
    await table.say(*range(1, 9))
    home = leaf_of(table, "a1").id
    table.services.editing.edit("c", "u1", {"hidden": True})
    await table.settled()
    table.services.editing.edit("c", "u1", {"hidden": False})
    await table.settled()
    assert leaf_of(table, "u1").id == home
    check(table)


async def test_a_regeneration_outlives_an_outage(table: Table) -> None:
    """What a person asked for is taken up again by itself, paused or not; stopping withdraws it."""
    await table.say(*range(1, 9))
    snippet = snippets(table)[0]
    await table.services.steering.pause("c")
    table.models.script(ModelUnavailable("Away.", connection="default", calls=1), "Anew.")
    table.services.revising.regenerate("c", snippet.id)
    await until(lambda: table.services.browsing.snippet("c", snippet.id), lambda shown: shown.text == "Anew.")
    table.models.hold()
    calls = len(table.models.requests)
    table.services.revising.regenerate("c", snippet.id)
    await table.models.arrived(calls + 1)
    await table.services.steering.stop("c")
    table.models.let_go()
    table.services.steering.resume("c")
    await table.settled()
    assert table.services.browsing.snippet("c", snippet.id).text == "Anew."
