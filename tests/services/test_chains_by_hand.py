"""What a person does to the one summary of rolling memory or a summary buffer: read, edit, delete, regenerate, undo."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import Conflict, ModelUnavailable, NotFound
from tests.support.chained import Chained
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path, retry_attempts=1, resume_jobs=False) as table:
        yield table


@pytest.fixture
async def chat(table: Table) -> Chained:
    """Four turns, three of them under a summary each that went on from the one before."""
    chat = Chained(table)
    for turn in range(1, 5):
        await table.say(turn)
    return chat


def said(chat: Chained, number: int = -1) -> str:
    """What the model was told in a call."""
    return chat.table.models.requests[number].user


async def test_what_there_is_to_read(chat: Chained) -> None:
    """The live summary tells of all that its predecessors do; each leads to the messages under it."""
    live, before = chat.live, chat.before()
    assert [one.covers.messages for one in (*before, live) if one.covers] == [2, 4, 6]
    assert [(one.kind, one.layer, one.position, one.state) for one in (*before, live)] == [
        ("rolling", 0, 0, "superseded"),
        ("rolling", 0, 0, "superseded"),
        ("rolling", 0, 0, "live"),
    ]
    assert [one.parent_id for one in (*before, live)] == [before[1].id, live.id, None]
    assert [one.children for one in (*before, live)] == [[], [before[0].id], [before[1].id]]
    under = chat.table.services.browsing.messages_under("c", live.id, after=-1, limit=10)
    assert [message.id for message in under] == ["u1", "a1", "u2", "a2", "u3", "a3"]
    assert {one.id for one in chat.listed("all")} == {live.id, *(one.id for one in before)}
    assert chat.listed("absorbed") == []
    assert chat.over("u2").id == before[1].id


async def test_finding_what_it_says(chat: Chained) -> None:
    """The summary and its predecessors are found, and a message leads to the one that folded it."""
    hits = chat.table.services.searching.search("c", "story", 10)
    assert {hit.snippet_id for hit in hits if hit.kind == "snippet"} == {one.id for one in chat.listed("all")}
    [hit] = [hit for hit in chat.table.services.searching.search("c", "asks gate 2", 10) if hit.message_id == "u2"]
    assert hit.snippet_id == chat.before()[1].id


async def test_deleting_it(chat: Chained) -> None:
    """Its predecessor stands again, what it alone covered is visible and folds with the next append."""
    live, before, version = chat.live, chat.before(), chat.table.status().memory_version
    chat.delete(live)
    assert chat.live.id == before[1].id
    assert chat.live.text == before[1].text
    assert (chat.ghosted(), chat.table.status().memory_version) == (4, version + 1)
    with pytest.raises(NotFound):
        chat.shown(live.id)
    chat.check()
    await chat.table.say(5)
    assert chat.ghosted() == 8
    assert before[1].text in said(chat)
    assert "gate 3" in said(chat)
    chat.check()


async def test_deleting_the_last_one(chat: Chained) -> None:
    """With no predecessor left there is no memory, and every message is visible."""
    for left in (4, 2, 0):
        chat.delete(chat.live)
        assert chat.ghosted() == left
        chat.check()
    assert chat.listed("all") == []
    assert [chat.undo().kind for _ in range(3)] == ["delete"] * 3
    assert (chat.ghosted(), len(chat.before())) == (6, 2)
    chat.check()


async def test_a_deletion_taken_back(chat: Chained) -> None:
    """The summary comes back as it was, over its predecessors, in one step."""
    live, before = chat.live, chat.before()
    chat.delete(live)
    version = chat.table.status().memory_version
    assert chat.undo().snippet_id == live.id
    assert (chat.live, chat.before()) == (live, before)
    assert chat.table.status().memory_version == version + 1
    chat.check()


async def test_a_deletion_taken_back_after_a_fold(chat: Chained) -> None:
    """What went on from its predecessor since gives way, unless a person has written it."""
    live = chat.live
    chat.delete(live)
    await chat.table.say(5)
    newer = chat.live
    chat.undo()
    assert (chat.live.id, chat.ghosted()) == (live.id, 6)
    with pytest.raises(NotFound):
        chat.shown(newer.id)
    chat.check()


@pytest.mark.parametrize(
    ("message_id", "change"), [("u3", {"content": "Changed."}), ("a3", {"hidden": True}), ("u1", {"content": "Other."})]
)
async def test_a_deletion_that_stays(chat: Chained, message_id: str, change: dict[str, object]) -> None:
    """A summary of what has changed since does not come back; nor one whose predecessor is gone."""
    chat.delete(chat.live)
    chat.change(message_id, **change)
    with pytest.raises(Conflict, match="Undo again"):
        chat.undo()
    with pytest.raises(Conflict, match="nothing left"):
        chat.undo()
    chat.check()


async def test_a_pinned_message_stays_pinned(chat: Chained) -> None:
    """A message that was pinned meanwhile is no hindrance: the summary comes back over the others."""
    chat.delete(chat.live)
    chat.change("u3", pinned=True)
    chat.undo()
    assert chat.ghosted() == 5
    chat.check()


async def test_an_insertion_keeps_it_away(chat: Chained) -> None:
    """Something was un-hidden between: the summary would leave it out."""
    chat.change("u3", hidden=True)
    await chat.table.settled()
    chat.table.services.steering.summarize("c")
    await chat.table.settled()
    chat.delete(chat.live)
    chat.change("u3", hidden=False)
    with pytest.raises(Conflict, match="Other messages stand among"):
        chat.undo()


async def test_editing_it(chat: Chained) -> None:
    """A person's text is sent, and what the next fold goes on from; the old one comes back with an undo."""
    old, version = chat.live, chat.table.status().memory_version
    chat.edit(old, "By hand.")
    assert chat.table.status().memory_version == version + 1
    assert "By hand." in chat.table.services.reporting.preview("c").text
    chat.undo()
    assert chat.live.text == old.text
    chat.edit(old, "By hand again.")
    await chat.table.say(5)
    assert "By hand again." in said(chat)
    assert not chat.live.stale
    with pytest.raises(Conflict, match="gone into a newer one"):
        chat.undo()
    assert [version.why for version in chat.versions(old)] == ["edit", "undo", "edit"]


async def test_a_change_under_what_was_edited(chat: Chained) -> None:
    """The person's text stays, and no call is spent on what stands below it; once that is sent again, it is made anew
    from what is true now, oldest first, and what a fold made of it meanwhile at last.
    """
    chat.edit(chat.live, "By hand.")
    calls = len(chat.table.models.requests)
    chat.change("u1", content="Ben waits at gate 9.")
    await chat.table.settled()
    assert [one.stale for one in (*chat.before(), chat.live)] == [True, True, True]
    assert (chat.live.text, len(chat.table.models.requests)) == ("By hand.", calls)
    chat.delete(chat.live)
    await chat.table.say(5)
    assert ["gate 9" in said(chat, calls + place) for place in range(4)] == [False, True, False, False]
    assert chat.before()[-1].text in said(chat)
    assert not any(one.stale for one in chat.listed("all"))
    chat.check()


async def test_a_fold_goes_on_from_what_was_edited(chat: Chained) -> None:
    """It takes one call: what stands below the person's text is still sent by nobody."""
    chat.edit(chat.live, "By hand.")
    chat.change("u1", content="Ben waits at gate 9.")
    calls = len(chat.table.models.requests)
    await chat.table.say(5)
    assert len(chat.table.models.requests) == calls + 1
    assert "By hand." in said(chat)
    chat.check()


async def test_what_is_superseded_stays_as_it_is(chat: Chained) -> None:
    """It can be read; changing it would change nothing that is sent. Nor is there a place for one by hand."""
    old = chat.before()[0]
    for call in (lambda: chat.edit(old, "Mine."), lambda: chat.delete(old), lambda: chat.regenerate(old)):
        with pytest.raises(Conflict, match="superseded"):
            call()
    with pytest.raises(Conflict, match="one summary"):
        chat.write("u4", "a4")


async def test_made_anew(chat: Chained) -> None:
    """From its predecessor's text and the turns it folded; the old text is sent until then, and kept."""
    live, before = chat.live, chat.before()
    chat.table.models.hold()
    calls = len(chat.table.models.requests)
    chat.regenerate(live)
    await chat.table.models.arrived(calls + 1)
    assert chat.live.text == live.text
    assert before[1].text in said(chat)
    assert live.text not in said(chat)
    assert "gate 3" in said(chat)
    assert "gate 2" not in said(chat)
    chat.table.models.let_go()
    await chat.table.settled()
    assert (chat.live.id, chat.live.covers, chat.before()) == (live.id, live.covers, before)
    assert [(version.text, version.why) for version in chat.versions(live)] == [(live.text, "regenerate")]
    assert chat.undo().kind == "regenerate"
    assert chat.live.text == live.text
    chat.check()


async def test_the_first_one_made_anew(table: Table) -> None:
    """It has no predecessor to go on from."""
    chat = Chained(table)
    await table.say(1)
    await table.say(2)
    old = chat.live
    chat.regenerate(old)
    await table.settled()
    assert old.text not in said(chat)
    assert "gate 1" in said(chat)
    assert chat.live.text != old.text


async def test_not_made_anew(chat: Chained) -> None:
    """A failure or a stop leaves the old text."""
    live = chat.live
    chat.table.models.script(ModelUnavailable("Away.", connection="default"))
    chat.regenerate(live)
    await chat.table.settled()
    assert (chat.live.text, chat.live.covers) == (live.text, live.covers)
    chat.table.models.hold()
    calls = len(chat.table.models.requests)
    chat.regenerate(live)
    await chat.table.models.arrived(calls + 1)
    await chat.table.services.steering.stop("c")
    chat.table.models.let_go()
    await chat.table.settled()
    assert (chat.live.text, chat.versions(live)) == (live.text, [])
    chat.check()


async def test_a_fold_that_was_under_way_does_not_bury_it(chat: Chained) -> None:
    """A summary that a person wants made anew is not superseded by one that goes on from its old text."""
    live = chat.live
    chat.table.models.hold()
    calls = len(chat.table.models.requests)
    await chat.table.say(5, fold="background")
    await chat.table.models.arrived(calls + 1)
    chat.regenerate(live)
    chat.table.models.let_go()
    await chat.table.settled()
    assert [version.why for version in chat.versions(live)] == ["regenerate"]
    assert chat.shown(live.id).text in said(chat)
    assert chat.ghosted() == 8
    assert not chat.live.stale
    chat.check()


async def test_skipped_turns_are_layered_memorys(table: Table) -> None:
    """Turns that a person skipped fold into the one summary like others, and stay skipped for layers."""
    chat = Chained(table, "layered")
    await table.say(*range(1, 8), fold="none")
    skipped = table.services.steering.skip("c")
    assert skipped
    chat.switch("rolling")
    table.services.steering.summarize("c")
    await table.settled()
    assert (chat.ghosted(), len(table.models.requests)) == (12, 1)
    chat.switch("layered")
    assert table.status().counts.skipped == skipped
