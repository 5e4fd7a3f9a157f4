"""Forks and branches on a real database, with memory many layers deep."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.core.model import Role, Strategy
from app.errors import Conflict, NotFound
from app.services.branching import inherit
from app.services.browsing import SnippetView
from app.services.recording import Draft, MessageView
from app.store import chats
from app.store.tables import Chat
from tests.support.checks import assert_promises
from tests.support.table import Table, counts_of, laid, turn_drafts

SMALL = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "turns_per_batch": 1, "verbatim_turns": 3}


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        table.settings(**SMALL, max_layers=4)
        yield table


async def play(table: Table, first: int, last: int, chat: str = "c") -> None:
    """Say turns one by one."""
    for turn in range(first, last + 1):
        await table.services.recording.append(chat, turn_drafts(turn), "wait", 20)


def memory(table: Table, chat: str, state: str = "live") -> list[SnippetView]:
    """A chat's snippets in a state, in reading order."""
    return table.services.browsing.snippets(
        chat, layer=None, state=state, stale=None, degraded=None, offset=0, limit=1000
    )


def history(table: Table, chat: str) -> list[MessageView]:
    return table.services.recording.page(chat, state="all", after=-1, limit=1000)


def remembered(table: Table, chat: str) -> dict[str, SnippetView]:
    """All that is live or absorbed in a chat, by id; what is live comes first, in reading order."""
    return {snippet.id: snippet for state in ("live", "absorbed") for snippet in memory(table, chat, state)}


def expected(known: dict[str, SnippetView], last: int) -> dict[str, list[str]]:
    """The snippets that are to be live or absorbed where memory may cover messages up to `last`, in reading order."""
    within = [one for one in known.values() if one.covers and one.covers.last_index <= last]
    within.sort(key=lambda one: one.covers.first_index if one.covers else -1)
    inside = {one.id for one in within}
    return {
        "live": [one.id for one in within if one.parent_id not in inside],
        "absorbed": sorted(one.id for one in within if one.parent_id in inside),
    }


def assert_carried(table: Table, chat: str, last: int, known: dict[str, SnippetView] | None = None) -> None:
    """A fork of chat c carries exactly the memory up to `last`, as it is there but for its place among the others."""
    known = known or remembered(table, "c")
    copies = remembered(table, chat)
    states = {
        "live": [one.id for one in copies.values() if one.state == "live"],
        "absorbed": sorted(one.id for one in copies.values() if one.state == "absorbed"),
    }
    assert states == expected(known, last)
    for copy in copies.values():
        placed = replace(known[copy.id], layer=copy.layer, position=copy.position, state=copy.state)
        assert copy == replace(placed, parent_id=copy.parent_id)


def messages_of(table: Table, snippet_id: str, chat: str) -> list[str]:
    page = table.services.browsing.messages_under(chat, snippet_id, after=-1, limit=1000)
    return [message.id for message in page]


async def test_forks_at_every_message(table: Table) -> None:
    """Wherever a chat of sixty turns is forked, its history comes along and exactly the memory that lies inside it and
    outside its window, merged snippets that reach further replaced by their parts."""
    await play(table, 1, 60)
    assert len(table.layers()) == 4
    asked, said, known = len(table.models.requests), history(table, "c"), remembered(table, "c")
    for place, message in enumerate(said):
        fork = table.services.branching.fork("c", f"at-{place}", message.id)
        window_begins = (place + 1) // 2 * 2 - 2 * 3
        assert_promises(table.database, fork.id, 3)
        assert_carried(table, fork.id, window_begins - 1, known)
        assert (fork.parent_chat_id, fork.forked_at_message_id) == ("c", message.id)
        assert (counts_of(fork).messages, counts_of(fork).ghosted) == (place + 1, max(0, window_begins))
        assert fork.memory_version == (1 if window_begins > 0 else 0)
    assert len(table.models.requests) == asked
    assert history(table, "c") == said


async def test_what_is_said_comes_along_as_it_is(table: Table) -> None:
    """A fork holds the same messages in the same places, ghosted under the same snippets."""
    await play(table, 1, 8)
    fork = table.services.branching.fork("c")
    assert fork.forked_at_message_id == "a8"
    assert history(table, fork.id) == history(table, "c")
    for snippet in memory(table, fork.id):
        assert messages_of(table, snippet.id, fork.id) == messages_of(table, snippet.id, "c")


async def test_a_fork_folds_on_by_itself(table: Table) -> None:
    """Each of two lines of the story folds what is said in it, promotions included; the other notices nothing."""
    await play(table, 1, 30)
    table.services.branching.fork("c", "f", "u16")
    kept = memory(table, "c"), table.status().memory_version
    await table.services.recording.append("f", [Draft(Role.ASSISTANT, "Tom shrugs.", id="other")], "wait", 20)
    await play(table, 40, 60, "f")
    assert_promises(table.database, "f", 3)
    assert table.services.reporting.status("f").counts.visible == 2 * 3
    assert (memory(table, "c"), table.status().memory_version) == kept
    assert_promises(table.database, "c", 3)


async def test_a_fork_of_a_fork(table: Table) -> None:
    """A fork is a chat like any other: what is forked from it has what it has."""
    await play(table, 1, 30)
    table.services.branching.fork("c", "f", "a24")
    table.services.branching.fork("f", "g", "a20")
    table.services.keeping.put("g", {"title": "Third"})
    assert_carried(table, "g", 2 * 20 - 2 * 3 - 1)
    await play(table, 31, 36, "g")
    for chat in ("c", "f", "g"):
        assert_promises(table.database, chat, 3)


async def test_a_window_without_memory_is_whole(table: Table) -> None:
    """A fork takes the settings along: with a wider window than the snippets were made under, it carries fewer."""
    await play(table, 1, 20)
    table.settings(verbatim_turns=5, window="compat")
    fork = table.services.branching.fork("c", "f")
    assert counts_of(fork).visible == 2 * 5
    assert_carried(table, "f", 2 * 15 - 1)


async def test_a_chat_knows_what_was_decided_about_it(table: Table) -> None:
    """Title, names, strategy, settings, the answer about a backlog and what a file said come along; usage does not."""
    table.services.keeping.put("c", {"title": "Gate", "user_name": "Mira", "character_name": "Tom"})
    await play(table, 1, 5)
    table.sql("""UPDATE chats SET backlog_answer = 'one', held = true, extra = '{"sillytavern": {"a": 1}}'""")
    fork = table.services.branching.fork("c", "f")
    assert (fork.title, fork.user_name, fork.character_name) == ("Gate", "Mira", "Tom")
    assert fork.settings == table.services.keeping.get("c").settings
    status = table.services.reporting.status("f")
    assert (status.summarizer_usage.calls, status.last_error, status.job) == (0, None, None)
    with table.server.db.read() as session:
        chat = chats.find(session, "f")
        assert chat is not None
        assert (chat.backlog_answer, chat.held, chat.extra) == ("one", False, {"sillytavern": {"a": 1}})


async def test_marks_come_along(table: Table) -> None:
    """Pinned, hidden and omitted messages are so in the fork, and are in none of its snippets."""
    for turn in range(1, 21):
        user, reply = turn_drafts(turn)
        marked = replace(user, pinned=turn % 3 == 0, hidden=turn % 4 == 1, omitted=turn % 5 == 2)
        await table.services.recording.append("c", [marked, reply], "wait", 20)
    for place in range(0, 40, 3):
        fork = table.services.branching.fork("c", f"f{place}", history(table, "c")[place].id)
        assert_promises(table.database, fork.id, 3)
        assert_carried(table, fork.id, (place + 1) // 2 * 2 - 2 * 3 - 1)
        marks = [(m.pinned, m.hidden, m.history) for m in history(table, fork.id)]
        assert marks == [(m.pinned, m.hidden, m.history) for m in history(table, "c")[: place + 1]]


async def test_skipped_turns_stay_skipped(table: Table) -> None:
    """They are turns of the window like others, and are not folded unasked in the fork either."""
    await table.say(*range(1, 13), fold="none")
    table.services.steering.skip("c")
    await play(table, 13, 20)
    fork = table.services.branching.fork("c", "f", "a15")
    assert counts_of(fork).skipped == table.status().counts.skipped == 9
    await play(table, 30, 33, "f")
    assert table.services.reporting.status("f").counts.skipped == 9
    assert_promises(table.database, "f", 3)


@pytest.mark.parametrize(
    "name", ["Mira @ 2026-03-01 12:00:00", "100% #1?&x=y", "チャット・一", "🐉", 'o\'Hara "x" \\', " "]
)
async def test_ids_may_be_odd(table: Table, name: str) -> None:
    """Message ids of any script and sign stay what they are."""
    table.services.keeping.put("c", {"settings": {"on_backlog": "all"}})
    lines = [replace(draft, id=f"{name}{draft.id}") for turn in range(1, 7) for draft in turn_drafts(turn)]
    await table.services.recording.append("c", lines, "wait", 20)
    fork = table.services.branching.fork("c", f"{name}!", f"{name}a6")
    assert [message.id for message in history(table, fork.id)] == [line.id for line in lines]
    assert (fork.id, fork.forked_at_message_id, counts_of(fork).ghosted) == (f"{name}!", f"{name}a6", 6)


async def test_a_chat_without_memory(table: Table) -> None:
    """With strategy none only the history is copied; so it is from an empty chat, which has no newest message."""
    table.services.keeping.put("c", {"strategy": "none"})
    empty = table.services.branching.fork("c")
    await play(table, 1, 6)
    fork = table.services.branching.fork("c", "f", "u4")
    assert (empty.forked_at_message_id, counts_of(empty).messages, empty.memory_version) == (None, 0, 0)
    assert (fork.strategy, counts_of(fork).messages, counts_of(fork).ghosted, fork.memory_version) == ("none", 7, 0, 0)


async def test_memory_of_another_strategy_comes_along_asleep(table: Table) -> None:
    """A fork of a chat that was switched to none wakes the memory up when it is switched back."""
    await play(table, 1, 12)
    table.services.keeping.put("c", {"strategy": "none"})
    assert table.services.branching.fork("c", "f", "a10").memory_version == 0
    table.services.keeping.put("f", {"strategy": "layered"})
    assert counts_of(table.services.keeping.get("f")).ghosted == 2 * 7
    assert_promises(table.database, "f", 3)


async def test_a_fork_while_a_fold_runs(table: Table) -> None:
    """What is committed is forked; what the model answers afterwards comes to the parent alone."""
    await play(table, 1, 6)
    table.models.hold()
    await table.say(7, fold="background")
    await table.models.arrived(4)
    fork = table.services.branching.fork("c", "f")
    table.models.let_go()
    assert (await table.settled()).counts.ghosted == 8
    assert counts_of(fork).ghosted == counts_of(table.services.keeping.get("f")).ghosted == 6
    assert_promises(table.database, "f", 3)


async def test_what_is_not_there(table: Table) -> None:
    """An unknown chat or message is not found, a message of another chat neither; a taken id is a conflict."""
    await play(table, 1, 2)
    await table.services.recording.append("d", turn_drafts(9), "none", 0)
    for chat, message in (("nobody", None), ("c", "u3"), ("c", "u9"), ("d", "u1")):
        with pytest.raises(NotFound):
            table.services.branching.fork(chat, "f", message)
    for taken in ("c", "d"):
        with pytest.raises(Conflict):
            table.services.branching.fork("c", taken)
    with pytest.raises(NotFound):
        table.services.keeping.get("f")


async def test_stale_and_degraded_snippets_are_so_in_the_fork(table: Table) -> None:
    """What is to be made anew in the parent is so in the fork; a person's request was about the parent alone."""
    await play(table, 1, 8)
    table.sql("UPDATE snippets SET stale = true, degraded = true, edited = true, asked = true, failures = 2")
    table.services.branching.fork("c", "f")
    with table.server.db.read() as session:
        query = text("SELECT DISTINCT stale, degraded, edited, asked, failures FROM snippets WHERE chat_key = 2")
        assert [tuple(row) for row in session.execute(query)] == [(1, 1, 1, 0, 2)]


def born(table: Table, following: Sequence[Draft], upto: int, **fields: Any) -> None:
    """Chat b, made with some fields, inherits from chat c."""
    table.services.keeping.put("b", fields)
    with table.server.db.write() as session:
        parent, child = (chats.find(session, chat) for chat in "cb")
        assert isinstance(parent, Chat)
        assert isinstance(child, Chat)
        inherit(session, parent, child, upto, following)


@pytest.mark.parametrize("more", [0, 1, 2, 3, 7, 200])
async def test_what_follows_moves_the_window(table: Table, more: int) -> None:
    """Memory of a branch stays outside the newest turns of what it shares and what it adds together."""
    await play(table, 1, 20)
    following = [draft for turn in range(100, 100 + more) for draft in turn_drafts(turn)]
    born(table, following, 2 * 15 - 1)
    assert_carried(table, "b", min(2 * (15 + more) - 2 * 3, 2 * 15) - 1)
    await table.services.recording.append("b", following, "none", 0)
    assert_promises(table.database, "b", 3)


async def test_a_shared_line_may_be_answered_otherwise(table: Table) -> None:
    """Where a branch closes a turn that it shares the beginning of, that turn counts as its own newest one."""
    await play(table, 1, 20)
    born(table, [Draft(Role.ASSISTANT, "Tom shrugs.")], 2 * 15)
    assert_carried(table, "b", 2 * 13 - 1)


async def test_a_branch_keeps_what_it_has_of_its_own(table: Table) -> None:
    """Its own settings, names and strategy hold, and its own window decides; what it lacks is its parent's."""
    table.services.keeping.put("c", {"title": "Gate", "user_name": "Mira", "settings": {"names": "none"}})
    await play(table, 1, 20)
    born(table, [], 2 * 20 - 1, title="Branch", settings={"layered": {"verbatim_turns": 8}}, strategy="none")
    found = table.services.keeping.get("b")
    assert (found.title, found.user_name, found.strategy) == ("Branch", "Mira", Strategy.NONE)
    assert found.settings == {"names": "none", "layered": {"verbatim_turns": 8}}
    assert (found.parent_chat_id, found.forked_at_message_id) == ("c", "a20")
    table.services.keeping.put("b", {"strategy": "layered"})
    assert_carried(table, "b", 2 * 12 - 1)
