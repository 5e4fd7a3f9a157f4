"""Our own file format, out and in: everything comes back as it was, and nothing that is not whole comes in."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from app.assembly import Server
from app.errors import Conflict, InvalidRequest
from tests.support.checks import assert_promises
from tests.support.eventful import SMALL, Event, events
from tests.support.table import counts_of, laid
from tests.support.travel import EVERYTHING, chats_of, elsewhere, exported, lived, taken_in


@settings(max_examples=6)
@given(events)
async def test_a_chat_comes_back_as_it_was(happening: list[Event]) -> None:
    """Whatever happened to a chat, its file is the same after it was imported, the id left aside; promises hold."""
    with TemporaryDirectory() as folder:
        content = await lived(Path(folder), happening)
        other = elsewhere(Path(folder))
        taken_in(other, content, "again")
        assert exported(other, "again").replace(b'"id":"again"', b'"id":"c"', 1) == content
        assert_promises(Path(folder) / "elsewhere.db", "again", SMALL["verbatim_turns"], shrunk=True)
        other.db.dispose()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with every part in it."""
    found = asyncio.run(lived(tmp_path_factory.mktemp("lived"), EVERYTHING))
    parts = json.loads(found.splitlines()[0])["turnfold"]["parts"]
    assert parts == ["message", "snippet", "kept_message", "snippet_version", "undo_step"]
    return found


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Server]:
    server = elsewhere(tmp_path)
    yield server
    server.db.dispose()


async def test_the_chat_goes_on(tmp_path: Path, content: bytes) -> None:
    """What came back folds, and what was done before can be undone."""
    folder = tmp_path / "next"
    folder.mkdir()
    async with laid(folder) as table:
        taken_in(table.server, content)
        before = table.status()
        assert before.memory_version == 1
        undone = table.services.undoing.undo("c")
        assert undone.kind == "edit"
        await table.say(*range(101, 107))
        after = await table.settled()
        assert after.counts.messages == before.counts.messages + 12
        assert after.memory_version > 2


async def test_a_free_id_is_kept_and_a_taken_one_is_not(content: bytes, other: Server) -> None:
    """The file's own id is used once; then a new one is made, with a warning. An id that was asked for must be free."""
    first, second = taken_in(other, content), taken_in(other, content)
    assert (first.chat_id, first.warnings) == ("c", [])
    assert second.chat_id != "c"
    assert [warning.code for warning in second.warnings] == ["chat_id_taken"]
    with pytest.raises(Conflict, match="already"):
        taken_in(other, content, "c")
    assert len(chats_of(other)) == 2


async def test_a_title_can_be_given(content: bytes, other: Server) -> None:
    """It takes the place of the file's own."""
    taken_in(other, content, title="The gates")
    assert other.services.keeping.get("c").title == "The gates"


async def test_a_chat_without_memory_starts_at_version_0(tmp_path: Path, other: Server) -> None:
    """Nothing was summarized, so no memory was imported."""
    async with laid(tmp_path) as table:
        await table.say(1, 2)
        taken_in(other, exported(table.server))
    assert other.services.keeping.get("c").memory_version == 0


async def test_a_larger_window_takes_back_the_newest_turns(tmp_path: Path, other: Server) -> None:
    """Where more turns are to stay verbatim, the newest snippets give way, and that is told."""
    async with laid(tmp_path) as table:
        table.server.services.keeping.patch_settings({"layered": {"verbatim_turns": 2, "turns_per_batch": 1}})
        for turn in range(1, 9):
            await table.say(turn)
        assert table.status().counts.ghosted == 12
        found = taken_in(other, exported(table.server))
    assert [warning.code for warning in found.warnings] == ["window_kept"]
    chat = other.services.keeping.get("c")
    assert (chat.memory_version, counts_of(chat).visible) == (0, 16)


async def test_folding_that_is_due_is_queued(tmp_path: Path, other: Server) -> None:
    """A chat that was exported before it could fold folds where it comes in."""
    async with laid(tmp_path) as table:
        await table.say(*range(1, 15), fold="none")
        assert taken_in(other, exported(table.server)).job_id is not None


async def test_a_file_that_was_cut_off_leaves_nothing(content: bytes, other: Server) -> None:
    """Whatever the line after which it ends, nothing is imported."""
    lines = content.splitlines(keepends=True)
    for count in range(len(lines)):
        with pytest.raises(InvalidRequest):
            taken_in(other, b"".join(lines[:count]))
    assert chats_of(other) == []


async def test_views_come_back_without_their_windows(tmp_path: Path, other: Server) -> None:
    """Name by name, with all they ask for."""
    frame = {"template": "{{lore}}", "values": {"lore": ["é"]}, "position": "replace"}
    everything = {
        **{"system_prompt": "Speak.", "context_size": 4096, "max_tokens": 512, "memory_placement": "in_chat:4"},
        **{"format": "anthropic", "names": "field", "tool_history": "omit", "omit_authors": ["Tom"], "frame": frame},
    }
    folder = tmp_path / "next"
    folder.mkdir()
    async with laid(folder) as table:
        await table.say(1, fold="none")
        viewing = table.services.viewing
        before = [viewing.put("c", name, options)[0] for name, options in (("all", everything), ("none", {}))]
        content = exported(table.server, "c")
    taken_in(other, content, "again")
    assert other.services.viewing.page("again", 0, 10) == before
    assert exported(other, "again").replace(b'"id":"again"', b'"id":"c"', 1) == content
