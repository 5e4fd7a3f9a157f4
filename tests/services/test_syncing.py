"""Making history equal to a frontend's, on a real database."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.core.model import Role
from app.errors import Conflict, InvalidRequest
from app.services.recording import Draft, MessageView
from app.services.syncing import Line, Synced
from tests.support.checks import assert_promises
from tests.support.table import Table, laid, turn_drafts

SMALL = {"verbatim_turns": 4, "turns_per_batch": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}
PLAIN = frozenset({"id", "role", "content"})


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.services.keeping.put("c", {"settings": {"on_backlog": "all", "layered": SMALL}})
        yield table


def drafts(*turns: int) -> list[Draft]:
    """The messages of these turns."""
    return [draft for turn in turns for draft in turn_drafts(turn)]


def sync(table: Table, history: Sequence[Draft], given: frozenset[str] = PLAIN, **options: Any) -> Synced:
    return table.services.syncing.sync("c", [Line(draft, given) for draft in history], **options)


def stored(table: Table, chat: str = "c") -> list[MessageView]:
    return table.services.recording.page(chat, state="all", after=-1, limit=1000)


def said(table: Table) -> list[tuple[str, str | None]]:
    return [(message.id, message.content) for message in stored(table)]


def check(table: Table) -> None:
    assert_promises(table.database, "c", 4, shrunk=True)


async def test_the_same_again_changes_nothing(table: Table) -> None:
    """Neither messages nor memory nor its version; everything is unchanged."""
    await table.say(*range(1, 11))
    before, version = stored(table), table.status().memory_version
    assert sync(table, drafts(*range(1, 11))) == Synced(0, 0, 0, 20, 0)
    assert stored(table) == before
    assert (await table.settled()).memory_version == version
    check(table)


async def test_a_first_sync_makes_the_chat_and_folds(table: Table) -> None:
    """A new chat takes the whole history and folds as after an append."""
    assert sync(table, drafts(*range(1, 9))) == Synced(16, 0, 0, 0, 0)
    status = await table.settled()
    assert (status.counts.messages, status.counts.ghosted) == (16, 8)
    check(table)


async def test_one_deleted_line_deletes_one_line(table: Table) -> None:
    """Every other message keeps its identity and its snippet."""
    await table.say(*range(1, 11))
    leaves = {message.id: message.snippet_id for message in stored(table)}
    history = [draft for draft in drafts(*range(1, 11)) if draft.id != "u3"]
    assert sync(table, history) == Synced(0, 0, 1, 19, 1)
    await table.settled()
    after = {message.id: message.snippet_id for message in stored(table)}
    assert after == {message_id: leaf for message_id, leaf in leaves.items() if message_id != "u3"}
    check(table)


async def test_without_ids_messages_are_known_by_what_they_say(table: Table) -> None:
    """A chat that was imported without ids and is synced with ids keeps its memory, and takes the ids."""
    await table.services.recording.append("c", [replace(draft, id=None) for draft in drafts(*range(1, 9))], "wait", 20)
    leaves = [message.snippet_id for message in stored(table)]
    history = [draft for draft in drafts(*range(1, 9)) if draft.id != "a2"]
    assert sync(table, history) == Synced(0, 0, 1, 15, 1)
    await table.settled()
    assert [message.id for message in stored(table)] == [draft.id for draft in history]
    assert [message.snippet_id for message in stored(table)] == leaves[:3] + leaves[4:]
    assert sync(table, history) == Synced(0, 0, 0, 15, 0)
    check(table)


async def test_a_swipe_is_an_edit_of_the_newest_message(table: Table) -> None:
    """It touches no snippet and calls no model."""
    await table.say(*range(1, 9))
    calls, version = len(table.models.requests), table.status().memory_version
    history = drafts(*range(1, 9))
    history[-1] = replace(history[-1], content="Tom says something else.")
    assert sync(table, history) == Synced(0, 1, 0, 15, 0)
    status = await table.settled()
    assert (len(table.models.requests), status.memory_version) == (calls, version)
    assert stored(table)[-1].content == "Tom says something else."


async def test_an_edit_under_a_snippet_heals_it(table: Table) -> None:
    """The snippet is counted, and made anew in the background."""
    await table.say(*range(1, 9))
    history = drafts(*range(1, 9))
    history[0] = replace(history[0], content="Mira asks about the harbour.")
    assert sync(table, history) == Synced(0, 1, 0, 15, 1)
    assert (await table.settled()).stale_snippets == 0
    assert "harbour" in table.models.requests[-1].user
    check(table)


async def test_an_insertion_under_a_snippet_joins_it(table: Table) -> None:
    """It is sent until the leaf before it is made anew with it."""
    await table.say(*range(1, 9))
    history = drafts(*range(1, 9))
    history[1:1] = [Draft(Role.ASSISTANT, "Wait.", id="x1"), Draft(Role.USER, "Why?", id="x2")]
    assert sync(table, history) == Synced(2, 0, 0, 16, 1)
    await table.settled()
    leaves = {message.id: message.snippet_id for message in stored(table)}
    assert leaves["x1"] == leaves["x2"] == leaves["u1"] is not None
    assert said(table) == [(draft.id, draft.content) for draft in history]
    check(table)


async def test_a_moved_message_is_a_deletion_and_an_insertion(table: Table) -> None:
    """It keeps its id, and is not listed as deleted."""
    await table.say(*range(1, 5))
    history = drafts(1, 3, 2, 4)
    found = sync(table, history)
    assert (found.appended, found.deleted, found.unchanged) == (2, 2, 6)
    assert said(table) == [(draft.id, draft.content) for draft in history]
    assert table.services.recovering.deleted("c", None, 10) == []


async def test_what_moves_keeps_its_marks(table: Table) -> None:
    """Hidden, pinned and extra go with a message to its new place where the frontend does not speak of them."""
    await table.say(*range(1, 5))
    table.services.editing.edit("c", "a2", {"hidden": True, "extra": {"mood": "calm"}})
    table.services.editing.edit("c", "u2", {"pinned": True})
    created = table.services.recording.get("c", "a2").created_at
    sync(table, drafts(1, 3, 2, 4))
    moved = table.services.recording.get("c", "a2")
    assert (moved.index, moved.hidden, moved.extra, moved.created_at) == (5, True, {"mood": "calm"}, created)
    assert table.services.recording.get("c", "u2").pinned


async def test_earlier_texts_follow_new_ids(table: Table) -> None:
    """A swipe under a new id keeps the text of before; what is deleted beside it finds its place again."""
    await table.say(1, 2, 3)
    history = drafts(1, 2, 3)
    history[3] = replace(history[3], id="swipe", content="Tom laughs.")
    assert sync(table, history).edited == 1
    assert table.services.recovering.restore("c", "swipe").content == "Tom opens gate 2."
    await table.services.recording.append("d", [replace(draft, id=None) for draft in drafts(1, 2, 3)], "none", 0)
    lines = [Line(draft, PLAIN) for draft in drafts(1, 2, 3) if draft.id not in ("u2", "a2")]
    table.services.syncing.sync("d", lines)
    gone = [message.id for _, message in table.services.recovering.deleted("d", None, 10)]
    for message_id in gone:
        table.services.recovering.restore("d", message_id)
    assert [message.content for message in stored(table, "d")] == [draft.content for draft in drafts(1, 2, 3)]


async def test_a_sync_is_one_step_of_the_version(table: Table) -> None:
    """Whatever goes and comes in one transaction, the version of the memory rises by one."""
    await table.say(*range(1, 11))
    version = table.status().memory_version
    sync(table, drafts(*range(3, 8)), allow_shrink=True)
    assert table.status().memory_version == version + 1
    sync(table, drafts(*range(4, 7)), reset=True)
    assert table.status().memory_version <= version + 2


async def test_marks_follow_where_the_frontend_speaks_of_them(table: Table) -> None:
    """Hidden, pinned and extra are as it says; what it does not mention stays as a person set it."""
    await table.say(*range(1, 9))
    table.services.editing.edit("c", "u1", {"pinned": True})
    history = drafts(*range(1, 9))
    assert sync(table, history).edited == 0
    assert table.services.recording.get("c", "u1").pinned
    history[2] = replace(history[2], hidden=True, extra={"mood": "calm"})
    assert sync(table, history, PLAIN | {"hidden", "extra"}).edited == 1
    shown = table.services.recording.get("c", "u2")
    assert (shown.hidden, shown.extra, shown.ghosted) == (True, {"mood": "calm"}, False)
    await table.settled()
    check(table)


@pytest.mark.parametrize("kept", [0, 4])
async def test_nobody_loses_a_chat_by_mistake(table: Table, kept: int) -> None:
    """An empty history, or one that loses more than half of 20 or more, is refused and changes nothing."""
    await table.say(*range(1, 11))
    before = stored(table)
    with pytest.raises(Conflict, match="reset"):
        sync(table, drafts(*range(1, 11))[:kept])
    assert stored(table) == before
    check(table)


async def test_shrinking_on_purpose(table: Table) -> None:
    """allow_shrink lets go, but never everything; what went can be restored."""
    await table.say(*range(1, 11))
    assert sync(table, drafts(1, 2), allow_shrink=True).deleted == 16
    await table.settled()
    assert len(table.services.recovering.deleted("c", None, 100)) == 16
    with pytest.raises(Conflict, match="reset"):
        sync(table, [], allow_shrink=True)
    check(table)


async def test_short_chats_shrink_freely(table: Table) -> None:
    """Below 20 messages a frontend may delete more than half."""
    await table.say(1, 2, 3)
    assert sync(table, drafts(1)).deleted == 4


async def test_a_reset_forgets_all_memory(table: Table) -> None:
    """History is replaced, no snippet is left, and what was being made is dropped."""
    await table.say(*range(1, 9))
    table.models.hold()
    calls = len(table.models.requests)
    await table.say(9, 10, fold="background")
    await table.models.arrived(calls + 1)
    version = table.status().memory_version
    found = sync(table, drafts(1, 2, 21), reset=True)
    assert (found.appended + found.edited, found.stale_snippets) == (2, 0)
    table.models.let_go()
    status = await table.settled()
    assert status.counts.ghosted == 0
    assert status.memory_version == version + 1
    assert sync(table, [], reset=True).deleted == 6
    assert stored(table) == []
    check(table)


async def test_ids_occur_once(table: Table) -> None:
    """Two messages with one id are refused whole."""
    await table.say(1, 2)
    before = stored(table)
    with pytest.raises(InvalidRequest, match="same id"):
        sync(table, [*drafts(1, 2), *drafts(1)])
    assert stored(table) == before


async def test_a_branch_brings_its_memory(table: Table) -> None:
    """A chat synced for the first time that names its parent has the memory of what both begin with."""
    for turn in range(1, 31):
        await table.say(turn)
    calls = len(table.models.requests)
    history = [*drafts(*range(1, 25)), *drafts(90, 91)]
    lines = [Line(draft, PLAIN) for draft in history]
    found = table.services.syncing.sync("branch", lines, parent_chat_id="c")
    assert (found.appended, found.unchanged) == (4, 48)
    assert len(table.models.requests) == calls
    status = table.services.reporting.status("branch")
    assert status.counts.ghosted > 20
    assert status.memory_version == 1
    chat = table.services.keeping.get("branch")
    assert (chat.parent_chat_id, chat.forked_at_message_id) == ("c", "a24")
    assert [message.id for message in stored(table, "branch")] == [draft.id for draft in history]
    assert_promises(table.database, "branch", 4)
    again = table.services.syncing.sync("branch", lines, parent_chat_id="c")
    assert again == Synced(0, 0, 0, 52, 0)


async def test_an_unknown_parent_brings_nothing(table: Table) -> None:
    """The frontend cannot know whether its parent was ever synced: the chat is made without memory."""
    lines = [Line(draft, PLAIN) for draft in drafts(1, 2)]
    assert table.services.syncing.sync("branch", lines, parent_chat_id="nobody").appended == 4
    assert table.services.keeping.get("branch").parent_chat_id == "nobody"


async def test_changed_roles_and_tool_calls(table: Table) -> None:
    """A role or a call that changed under the same id is an edit like any other."""
    await table.say(*range(1, 4))
    history = drafts(1, 2, 3)
    call = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history[1] = replace(history[1], tool_calls=[call])
    history[2] = replace(history[2], role=Role.SYSTEM)
    assert sync(table, history) == Synced(0, 2, 0, 4, 0)
    shown = stored(table)
    assert (shown[1].tool_calls, shown[2].role) == ([call], "system")
    assert sync(table, history).edited == 0
