"""Taking back what a person did to snippets, on a real database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import Conflict, NotFound
from app.services.browsing import SnippetView
from app.store.versions import MOST_STEPS
from tests.support.hands import SMALL, Hands
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.services.keeping.put("c", {"settings": {"on_backlog": "all", "layered": SMALL}})
        yield table


@pytest.fixture
def hands(table: Table) -> Hands:
    return Hands(table)


def facts(snippet: SnippetView) -> tuple[object, ...]:
    """What is to come back."""
    return snippet.id, snippet.text, snippet.layer, snippet.covers, snippet.stale, snippet.children


async def merged(table: Table, hands: Hands) -> SnippetView:
    """The first merge of a chat of eight turns, in layer 1 behind a seed."""
    await table.say(*range(1, 9))
    [found] = [snippet for snippet in hands.listed() if snippet.kind == "merge"]
    return found


async def test_step_by_step(table: Table, hands: Hands) -> None:
    """The last step goes first, whatever it was, until there is none."""
    await table.say(*range(1, 6))
    oldest, middle, newest = hands.listed()
    hands.edit(oldest, "One.")
    hands.delete(middle)
    mine = hands.write("u2", "a2")
    hands.regenerate(newest)
    await table.settled()
    undone = [hands.undo() for _ in range(4)]
    assert [(step.kind, step.snippet_id) for step in undone] == [
        ("regenerate", newest.id),
        ("manual", mine.id),
        ("delete", middle.id),
        ("edit", oldest.id),
    ]
    assert [facts(snippet) for snippet in hands.listed()] == [facts(snippet) for snippet in (oldest, middle, newest)]
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()
    hands.check()


async def test_undone_texts_are_kept_too(table: Table, hands: Hands) -> None:
    """The text that an undo takes away can be read; the memory is another one, the ETag too."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    edited, version = hands.edit(old, "Mine."), table.status().memory_version
    hands.undo()
    [now] = hands.listed()
    assert (now.text, now.edited_at, now.revision) == (old.text, None, edited.revision + 1)
    assert [(kept.text, kept.why, kept.edited) for kept in hands.versions(now)] == [
        ("Mine.", "undo", True),
        (old.text, "edit", False),
    ]
    assert table.status().memory_version == version + 1


async def test_a_text_from_before_a_change_is_stale(table: Table, hands: Hands) -> None:
    """A text that comes back is out of date if what is under it changed meanwhile, even if it was healed since."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    hands.regenerate(old)
    await table.settled()
    table.services.editing.edit("c", "u1", {"content": "Changed."})
    await table.settled()
    assert [version.why for version in hands.versions(old)] == ["heal", "regenerate"]
    await table.services.steering.pause("c")
    hands.undo()
    assert (hands.shown(old.id).text, hands.shown(old.id).stale) == (old.text, True)


async def test_an_undone_edit_of_a_part_reaches_upward(table: Table, hands: Hands) -> None:
    """What the part went into is made anew from the text that came back."""
    part = hands.shown((await merged(table, hands)).children[0])
    hands.edit(part, "Mine.")
    await table.settled()
    hands.undo()
    await table.settled()
    assert table.models.requests[-1].passage[0].text == part.text
    assert not hands.shown(str(part.parent_id)).stale


async def test_an_undone_edit_withdraws_a_request(table: Table, hands: Hands) -> None:
    """A snippet that is being made anew keeps the text that an undo brings back."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    hands.edit(old, "Mine.")
    table.models.hold()
    hands.regenerate(old)
    await table.models.arrived(2)
    assert hands.undo().kind == "edit"
    table.models.let_go()
    await table.settled()
    assert hands.texts() == [old.text]


async def test_a_merged_snippet_comes_back_whole(table: Table, hands: Hands) -> None:
    """With its parts, its layer and its place."""
    before = (await merged(table, hands), hands.listed(), hands.listed("absorbed"))
    hands.delete(before[0])
    hands.undo()
    assert [facts(snippet) for snippet in hands.listed()] == [facts(snippet) for snippet in before[1]]
    assert hands.listed("absorbed") == before[2]
    hands.check()


async def test_what_folded_again_gives_way(table: Table, hands: Hands) -> None:
    """A deletion can be taken back after the next append too; what was folded from the same turns goes."""
    await table.say(*range(1, 6))
    deleted = hands.listed()[1]
    hands.delete(deleted)
    await table.say(6)
    again = hands.over("u2")
    assert again.id != deleted.id
    hands.undo()
    assert hands.over("u2").id == deleted.id
    assert facts(hands.shown(deleted.id)) == facts(deleted)
    with pytest.raises(NotFound):
        hands.shown(again.id)
    hands.check()


async def test_it_comes_back_over_what_is_left(table: Table, hands: Hands) -> None:
    """Changed, deleted and new messages make it stale; pinned ones stay out, and it is healed from the rest."""
    await table.say(1, 2, 3, 4)
    await table.services.steering.pause("c")
    oldest, second = hands.listed()
    hands.delete(second)
    hands.delete(oldest)
    editing = table.services.editing
    editing.edit("c", "a1", {"pinned": True})
    editing.edit("c", "u2", {"content": "Changed."})
    hands.undo()
    hands.undo()
    assert (hands.shown(oldest.id).stale, hands.shown(second.id).stale) == (False, True)
    assert not table.services.recording.get("c", "a1").ghosted
    assert table.services.recording.get("c", "u1").ghosted
    table.services.steering.resume("c")
    await table.settled()
    assert table.models.requests[-1].passage[0].text == "Changed."
    hands.check()


async def test_parts_with_nothing_left_stay_away(table: Table, hands: Hands) -> None:
    """A merged snippet whose part has lost all messages comes back without that part, stale."""
    deleted = await merged(table, hands)
    await table.services.steering.pause("c")
    hands.delete(deleted)
    for message_id in ("u2", "a2"):
        table.services.editing.delete("c", message_id)
    hands.undo()
    back = hands.shown(deleted.id)
    assert (back.state, back.stale, back.children) == ("live", True, deleted.children[1:])
    hands.check()


async def test_what_is_gone_is_passed_over(table: Table, hands: Hands) -> None:
    """Steps on what is not there any more are forgotten; the one before them is taken back."""
    await table.say(*range(1, 6))
    first, second, third = hands.listed()
    hands.edit(first, "Mine.")
    hands.edit(third, "Gone with its messages.")
    hands.delete(second)
    for message_id in ("u2", "a2", "u3", "a3"):
        table.services.editing.delete("c", message_id)
    assert hands.undo().snippet_id == first.id
    hands.check()


async def test_a_snippet_by_hand_that_was_merged(table: Table, hands: Hands) -> None:
    """It cannot be taken out of the merged text: that is said once, and the next undo takes the step before it."""
    await table.say(1, 2, 3)
    [oldest] = hands.listed()
    hands.edit(oldest, "The beginning.")
    await table.say(4, 5, fold="none")
    mine = hands.write("u2", "a2")
    await table.say(6, 7, 8)
    assert hands.shown(mine.id).state == "absorbed"
    with pytest.raises(Conflict, match="merged"):
        hands.undo()
    assert hands.undo().snippet_id == oldest.id
    assert hands.over("u2").id == mine.id
    hands.check()


async def test_a_deletion_under_a_wider_merge(table: Table, hands: Hands) -> None:
    """Where the same turns went into a merge that reaches further, the deletion stands, and is not offered again."""
    await table.say(*range(1, 7))
    deleted = hands.listed()[1]
    hands.delete(deleted)
    await table.say(7)
    root = hands.shown(str(hands.over("u2").parent_id))
    assert root.kind == "merge"
    with pytest.raises(Conflict, match=root.id):
        hands.undo()
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()
    assert hands.shown(root.id).state == "live"
    hands.check()


async def test_the_window_comes_first(table: Table, hands: Hands) -> None:
    """A deletion is not taken back while too few turns would be left word for word, but once there are more."""
    await table.say(1, 2, 3)
    [deleted] = hands.listed()
    await table.services.steering.pause("c")
    hands.delete(deleted)
    for turn in (2, 3):
        for message_id in (f"u{turn}", f"a{turn}"):
            table.services.editing.delete("c", message_id)
    with pytest.raises(Conflict, match="newest 2 turns"):
        hands.undo()
    hands.check()
    await table.say(4, 5, fold="none")
    assert hands.undo().snippet_id == deleted.id
    hands.check()


async def test_what_came_to_lie_inside_another(table: Table, hands: Hands) -> None:
    """Where the neighbours were merged while the messages were hidden, the snippet does not come back between them."""
    table.settings(max_layers=1)
    await table.say(*range(1, 6))
    hands.delete(hands.listed()[1])
    for message_id in ("u2", "a2"):
        table.services.editing.edit("c", message_id, {"hidden": True})
    await table.say(6, 7)
    root = hands.shown(str(hands.over("u1").parent_id))
    assert hands.over("u3").parent_id == root.id
    await table.services.steering.pause("c")
    for message_id in ("u2", "a2"):
        table.services.editing.edit("c", message_id, {"hidden": False})
    with pytest.raises(Conflict, match=f"lies inside snippet '{root.id}'"):
        hands.undo()
    hands.check()


async def test_the_steps_of_another_strategy_wait(table: Table, hands: Hands) -> None:
    """Only what concerns the present memory is taken back."""
    await table.say(1, 2, 3)
    [old] = hands.listed()
    hands.edit(old, "Mine.")
    table.services.keeping.put("c", {"strategy": "none"})
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()
    table.services.keeping.put("c", {"strategy": "layered"})
    assert hands.undo().snippet_id == old.id


async def test_a_hundred_steps(table: Table, hands: Hands) -> None:
    """Of very many steps the newest hundred can be taken back; forgetting the memory forgets them."""
    await table.say(1, 2, 3)
    [snippet] = hands.listed()
    for number in range(MOST_STEPS + 5):
        hands.edit(snippet, f"Text {number}.")
    for _ in range(MOST_STEPS):
        hands.undo()
    assert hands.texts() == ["Text 4."]
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()
    hands.edit(snippet, "The last one.")
    await table.services.steering.clear("c")
    with pytest.raises(Conflict, match="nothing left"):
        hands.undo()
