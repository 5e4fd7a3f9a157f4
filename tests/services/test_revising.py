"""Editing, deleting, writing and regenerating snippets, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.core.summary import SummaryRequest
from app.errors import Conflict, NotFound, PreconditionFailed
from tests.support.hands import SMALL, Hands
from tests.support.table import Table, laid, turn_drafts


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.services.keeping.put("c", {"settings": {"on_backlog": "all", "layered": SMALL}})
        yield table


@pytest.fixture
def hands(table: Table) -> Hands:
    return Hands(table)


async def test_an_edited_text_is_sent_and_the_old_one_kept(table: Table, hands: Hands) -> None:
    """The new text takes the old one's place in the prompt, and what was there before can be read."""
    await table.say(1, 2, 3)
    [old], version = hands.listed(), table.status().memory_version
    table.sql("UPDATE snippets SET stale = true, degraded = true")
    new = hands.edit(old, "The gate is open.")
    assert (new.text, new.stale, new.degraded, new.revision) == ("The gate is open.", False, False, old.revision + 1)
    assert (new.kind, new.covers) == (old.kind, old.covers)
    assert new.edited_at is not None
    assert new.tokens > 0
    assert "The gate is open." in table.services.reporting.preview("c").text
    assert table.status().memory_version == version + 1
    [kept] = hands.versions(new)
    assert (kept.text, kept.why, kept.edited, kept.stale, kept.degraded) == (old.text, "edit", False, True, True)


async def test_the_same_text_changes_nothing(table: Table, hands: Hands) -> None:
    """Saving what is there already is no edit."""
    await table.say(1, 2, 3)
    [old], version = hands.listed(), table.status().memory_version
    assert hands.edit(old, old.text) == old
    assert hands.versions(old) == []
    assert table.status().memory_version == version
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()


async def test_an_edited_part_makes_what_it_went_into_stale(table: Table, hands: Hands) -> None:
    """What is sent stays as it is until the merged snippet is made anew, in the background, from the new text."""
    await table.say(*range(1, 9))
    part = hands.listed("absorbed")[0]
    assert part.parent_id is not None
    version, calls = table.status().memory_version, len(table.models.requests)
    table.models.hold()
    hands.edit(part, "A key of brass.")
    await table.models.arrived(calls + 1)
    assert hands.shown(part.parent_id).stale
    assert table.status().memory_version == version
    assert "A key of brass." in table.models.requests[-1].user
    table.models.let_go()
    await table.settled()
    assert not hands.shown(part.parent_id).stale
    assert hands.shown(part.id).text == "A key of brass."
    hands.check()


async def test_nobody_rewrites_a_persons_words(table: Table, hands: Hands) -> None:
    """A snippet that a person edited is marked when its messages change, and left as it is."""
    await table.say(1, 2, 3)
    mine = hands.edit(hands.over("u1"), "Mine.")
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    await table.settled()
    await table.say(4, 5)
    assert (hands.shown(mine.id).text, hands.shown(mine.id).stale) == ("Mine.", True)


async def test_who_was_slower_reads_again(table: Table, hands: Hands) -> None:
    """An ETag that no longer holds refuses an edit and a deletion."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    revising = table.services.revising
    new = revising.edit("c", old.id, "First.", old.etag)
    with pytest.raises(PreconditionFailed):
        revising.edit("c", old.id, "Second.", old.etag)
    with pytest.raises(PreconditionFailed):
        revising.delete("c", old.id, old.etag)
    revising.delete("c", old.id, new.etag)


async def test_an_edit_while_the_snippet_is_being_merged(table: Table, hands: Hands) -> None:
    """The answer that was made from the old text is dropped, and the merge asked for anew."""
    await table.say(*range(1, 7))
    folded = len(table.models.requests)

    def answer_and_hold(_request: SummaryRequest) -> str:
        table.models.hold()
        return "The fifth gate."

    table.models.script(answer_and_hold)
    await table.say(7, fold="background")
    await table.models.arrived(folded + 2)
    merge = table.models.requests[-1]
    assert merge.kind == "merge"
    source = next(snippet for snippet in hands.listed() if snippet.text == merge.passage[0].text)
    hands.edit(source, "As I remember it.")
    table.models.let_go()
    await table.settled()
    assert table.models.requests[-1].passage[0].text == "As I remember it."
    hands.check()


async def test_a_deleted_snippet_folds_again_in_its_place(table: Table, hands: Hands) -> None:
    """What it covered is visible at once, nothing runs by itself, and the next append folds it between the others."""
    await table.say(1, 2, 3, 4, 5)
    starts, middle = hands.starts(), hands.listed()[1]
    hands.delete(middle)
    assert table.status().job is None
    assert not table.services.recording.get("c", "u2").ghosted
    assert hands.starts() == [0, 4]
    with pytest.raises(NotFound, match="undo"):
        hands.shown(middle.id)
    hands.check()
    await table.say(6)
    assert hands.over("u2").text != middle.text
    assert hands.starts()[:3] == starts
    hands.check()


async def test_a_merged_snippet_is_deleted_with_its_parts(table: Table, hands: Hands) -> None:
    """Everything under it is visible again, whatever the layer, and none of its parts stands for anything."""
    await table.say(*range(1, 9))
    [merged] = [snippet for snippet in hands.listed() if snippet.kind == "merge"]
    assert merged.covers is not None
    ghosted, parts = table.status().counts.ghosted, [hands.shown(part) for part in merged.children]
    hands.delete(merged)
    assert table.status().counts.ghosted == ghosted - merged.covers.messages
    hands.check()
    assert hands.listed("absorbed") == []
    for part in parts:
        for act in (hands.regenerate, lambda part: hands.edit(part, "x"), lambda part: hands.shown(part.id)):
            with pytest.raises(NotFound, match="deleted"):
                act(part)


async def test_only_live_ones_are_deleted(table: Table, hands: Hands) -> None:
    """A part names the snippet it is in; what is gone, or belongs to a strategy of before, is refused too."""
    await table.say(*range(1, 9))
    part, newest = hands.listed("absorbed")[0], hands.listed()[-1]
    with pytest.raises(Conflict, match=str(part.parent_id)):
        hands.delete(part)
    hands.delete(newest)
    with pytest.raises(NotFound, match="deleted"):
        hands.delete(newest)
    with pytest.raises(NotFound, match="deleted"):
        hands.edit(newest, "x")
    table.services.keeping.put("c", {"strategy": "none"})
    with pytest.raises(Conflict, match="strategy"):
        hands.delete(hands.listed("dormant")[0])


async def test_a_deletion_under_a_fold_that_runs(table: Table, hands: Hands) -> None:
    """The fold is stored as if nothing had happened; what was deleted folds after it, and stands before it."""
    await table.say(1, 2, 3, 4)
    table.models.hold()
    calls = len(table.models.requests)
    await table.say(5, fold="background")
    await table.models.arrived(calls + 1)
    hands.delete(hands.listed()[0])
    table.models.let_go()
    await table.settled()
    assert hands.starts() == [0, 2, 4]
    hands.check()


async def test_by_hand_takes_its_place_among_the_others(table: Table, hands: Hands) -> None:
    """A snippet over turns between covered ones stands between theirs, and is sent at once."""
    await table.say(1, 2, 3, 4, 5)
    hands.delete(hands.listed()[1])
    version = table.status().memory_version
    mine = hands.write("u2", "a2", "The second gate.")
    assert (mine.kind, mine.layer, mine.text) == ("manual", 0, "The second gate.")
    assert mine.covers == hands.over("u2").covers
    assert (mine.connection, mine.usage.calls) == (None, 0)
    assert hands.starts() == [0, 2, 4]
    assert table.status().memory_version == version + 1
    assert "The second gate." in table.services.reporting.preview("c").text
    hands.check()


@pytest.mark.parametrize(
    ("first", "last", "says"),
    [
        ("a3", "u3", "other way round"),
        ("u1", "a2", "under a snippet already"),
        ("a3", "a3", "from 'u3' to 'a3'"),
        ("u3", "a4", "the newest 2"),
        ("u6", "u6", "end before it"),
    ],
)
async def test_by_hand_says_what_is_in_the_way(table: Table, hands: Hands, first: str, last: str, says: str) -> None:
    """Every range that cannot be covered is refused in words that say what to do, and nothing changes."""
    await table.say(1, 2, 3)
    await table.say(4, 5, fold="none")
    drafts = [draft for draft in turn_drafts(6) if draft.id == "u6"]
    await table.services.recording.append("c", drafts, "none", 0)
    before = table.status()
    with pytest.raises(Conflict, match=says):
        hands.write(first, last)
    assert table.status() == before


async def test_by_hand_needs_messages_and_a_memory(table: Table, hands: Hands) -> None:
    """Unknown messages are not found, and a chat without a strategy has no snippets."""
    await table.say(1, 2, 3, 4, fold="none")
    with pytest.raises(NotFound, match="'x'"):
        hands.write("u1", "x")
    table.services.keeping.put("c", {"strategy": "none"})
    with pytest.raises(Conflict, match="strategy"):
        hands.write("u1", "a1")


async def test_by_hand_over_a_backlog(table: Table, hands: Hands) -> None:
    """A chat with a snippet of a person's own is not asked what to do with its backlog any more."""
    table.services.keeping.put("c", {"settings": {"on_backlog": "ask"}})
    await table.say(*range(1, 10), fold="none")
    assert table.status().backlog.choice_needed
    hands.write("u2", "a3")
    assert not table.status().backlog.choice_needed
    await table.say(10)
    assert hands.starts() == sorted(hands.starts())
    assert table.status().counts.visible == 4
    hands.check()


@pytest.mark.parametrize("layer", [0, 1])
async def test_regenerated_in_any_layer(table: Table, hands: Hands, layer: int) -> None:
    """The old text is sent until the new one is stored, and kept afterwards; a pause is no obstacle."""
    await table.say(*range(1, 9))
    await table.services.steering.pause("c")
    old = next(snippet for snippet in reversed(hands.listed()) if snippet.layer == layer)
    calls = len(table.models.requests)
    table.models.hold()
    job = hands.regenerate(old)
    assert job.kind == "regenerate"
    await table.models.arrived(calls + 1)
    assert hands.shown(old.id).text == old.text
    table.models.script("A new line.")
    table.models.let_go()
    await table.settled()
    assert (hands.shown(old.id).text, hands.shown(old.id).revision) == ("A new line.", old.revision + 1)
    assert [(version.text, version.why) for version in hands.versions(old)] == [(old.text, "regenerate")]
    hands.check()


async def test_an_edit_withdraws_a_request(table: Table, hands: Hands) -> None:
    """Who edits a snippet while it is made anew keeps the own words."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    table.models.hold()
    hands.regenerate(old)
    await table.models.arrived(2)
    hands.edit(old, "Mine.")
    table.models.let_go()
    await table.settled()
    assert hands.texts() == ["Mine."]


async def test_what_cannot_be_regenerated(table: Table, hands: Hands) -> None:
    """Memory that is off, or of no strategy, is not made anew, and the refusal says so."""
    await table.say(1, 2, 3)
    [snippet] = hands.listed()
    table.services.keeping.put("c", {"settings": {"enabled": False}})
    with pytest.raises(Conflict, match="enabled"):
        hands.regenerate(snippet)
    table.services.keeping.put("c", {"settings": {"enabled": None}, "strategy": "none"})
    with pytest.raises(Conflict, match="strategy"):
        hands.regenerate(snippet)


async def test_texts_page_by_page(table: Table, hands: Hands) -> None:
    """Earlier texts come newest first, and a page goes on where the one before ended."""
    await table.say(1, 2, 3)
    [snippet] = hands.listed()
    for text in ("one", "two", "three"):
        hands.edit(snippet, text)
    assert [version.text for version in hands.versions(snippet)] == ["two", "one", snippet.text]
    first = table.services.revising.earlier_texts("c", snippet.id, None, 2)
    rest = table.services.revising.earlier_texts("c", snippet.id, first[-1][0], 2)
    assert [version.text for _, version in first + rest] == ["two", "one", snippet.text]
