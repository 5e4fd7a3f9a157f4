"""Bringing back what was deleted or overwritten, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.model import Role
from app.errors import Conflict, NotFound
from app.services.recording import Draft
from app.services.syncing import Line
from tests.support.checks import assert_promises
from tests.support.table import Table, laid, turn_drafts

SMALL = {"verbatim_turns": 4, "turns_per_batch": 2, "snippets_per_layer": 3, "snippets_per_promotion": 2}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.settings(**SMALL)
        yield table


def check(table: Table) -> None:
    assert_promises(table.database, "c", 4, shrunk=True)


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
    assert [text.content for text in table.services.recovering.earlier_texts("c", "u1", 0, 10)] == [before]
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


async def test_every_kept_text_can_be_restored(table: Table) -> None:
    """Not the last one alone: each has a version that a restore may name."""
    await table.say(1, 2)
    for content in ("Two.", "Three.", "Four."):
        table.services.editing.edit("c", "u1", {"content": content})
    versions = {text.content: text.version for text in table.services.recovering.earlier_texts("c", "u1", 0, 10)}
    assert table.services.recovering.restore("c", "u1", versions["Two."]).content == "Two."
    with pytest.raises(Conflict):
        table.services.recovering.restore("c", "u1", "nothing")


async def test_said_anew_under_the_same_id(table: Table) -> None:
    """What a deleted message said comes back although its id says something else by now."""
    await table.say(1, 2)
    table.services.editing.delete("c", "a2")
    await table.services.recording.append("c", [Draft(Role.ASSISTANT, "Something else.", id="a2")], "none", 0)
    assert table.services.recovering.restore("c", "a2").content == "Tom opens gate 2."


async def test_what_went_earlier_stands_between(table: Table) -> None:
    """A message that went before its neighbours did comes back between them."""
    await table.say(1, 2)
    table.services.editing.delete("c", "a1")
    lines = [Line(draft, frozenset({"id", "role", "content"})) for draft in turn_drafts(2)[1:]]
    table.services.syncing.sync("c", lines)
    for message_id in ("u1", "a1", "u2"):
        table.services.recovering.restore("c", message_id)
    shown = table.services.recording.page("c", state="all", after=-1, limit=10)
    assert [message.id for message in shown] == ["u1", "a1", "u2", "a2"]


async def test_skipped_turns_come_back_skipped(table: Table) -> None:
    """A person chose not to fold them, and deleting and restoring is no other choice."""
    table.settings(verbatim_turns=2, turns_per_batch=1)
    await table.say(*range(1, 12), fold="none")
    assert table.services.steering.skip("c") == 9
    for message_id in ("u1", "a1"):
        table.services.editing.delete("c", message_id)
        table.services.recovering.restore("c", message_id)
    assert (await table.settled()).counts.skipped == 9


async def test_an_edit_that_changes_nothing(table: Table) -> None:
    """The same text again is no change: nothing is stale, nothing is kept."""
    await table.say(*range(1, 9))
    content = table.services.recording.get("c", "u1").content
    table.services.editing.edit("c", "u1", {"content": content, "hidden": False, "extra": {}})
    assert table.status().stale_snippets == 0
    assert table.services.recovering.earlier_texts("c", "u1", 0, 10) == []
