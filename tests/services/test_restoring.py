"""Our own file format, out and in: everything comes back as it was, and nothing that is not whole comes in."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from app.assembly import Server
from app.errors import Conflict, InvalidRequest
from app.services.restoring import Restored, restore
from app.store.migrate import migrate
from tests.support.checks import assert_promises
from tests.support.eventful import SMALL, Event, Life, events
from tests.support.parts import assembled, counter
from tests.support.table import laid

Lines = list[dict[str, Any]]


def exported(server: Server, chat_id: str = "c", format: str = "turnfold") -> bytes:
    """The chat as a file."""
    found = server.services.exporting.export(chat_id, format)
    with found.file:
        content = found.file.read()
    assert len(content) == found.size
    return content


def taken_in(server: Server, content: bytes, chat_id: str | None = None, title: str | None = None) -> Restored:
    return restore(server.db, counter(), io.BytesIO(content), chat_id=chat_id, title=title)


def elsewhere(folder: Path) -> Server:
    """Another server, with a database of its own, on which nothing runs."""
    server = assembled(folder / "elsewhere.db")
    migrate(server.db.engine)
    return server


async def lived(folder: Path, happening: list[Event]) -> bytes:
    """The file of a chat to which all this happened."""
    async with laid(folder) as table:
        life = Life(table)
        await life.begin(8)
        await life.go_on(happening)
        return exported(table.server)


@settings(max_examples=12)
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


EVERYTHING: list[Event] = [
    *[("talk", 2)] * 6, ("rewrite", 0), ("renew", 1), ("reword", 3), ("tools", 0), ("remove", 4), ("talk", 0),
    ("forget", 1), ("remove", 2), ("hide", 20), ("pin", 0), ("note", 5), ("omit", 30), ("compose", 8), ("rewrite", 2),
]  # fmt: skip


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


def chats_of(server: Server) -> list[str]:
    return [chat.id for _, chat in server.services.keeping.page(None, 100)]


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
    assert (chat.memory_version, chat.counts.visible) == (0, 16)


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


def first_of(lines: Lines, part: str, **what: Any) -> dict[str, Any]:
    """The first record of a part with these values."""
    return next(
        line[part]
        for line in lines
        if part in line and all(line[part].get(name) == value for name, value in what.items())
    )


def covered_message(lines: Lines) -> dict[str, Any]:
    return next(line["message"] for line in lines if "leaves" in line.get("message", {}))


def _message_under_what_is_gone(lines: Lines) -> None:
    covered_message(lines)["leaves"] = {"layered": first_of(lines, "snippet", state="deleted")["id"]}


def _message_under_nobody(lines: Lines) -> None:
    covered_message(lines)["leaves"] = {"layered": "nobody"}


def _parent_is_nobody(lines: Lines) -> None:
    first_of(lines, "snippet", state="absorbed")["parent_id"] = "nobody"


def _parent_is_itself(lines: Lines) -> None:
    snippet = first_of(lines, "snippet", state="absorbed")
    snippet["parent_id"] = snippet["id"]


def _two_absorb_each_other(lines: Lines) -> None:
    absorbed = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "absorbed"]
    absorbed[0]["parent_id"], absorbed[1]["parent_id"] = absorbed[1]["id"], absorbed[0]["id"]


def _twice_the_same_message(lines: Lines) -> None:
    messages = [line["message"] for line in lines if "message" in line]
    messages[7]["id"] = messages[2]["id"]


def _twice_the_same_snippet(lines: Lines) -> None:
    found = [line["snippet"] for line in lines if "snippet" in line]
    found[1]["id"] = found[0]["id"]


def _twice_the_same_place(lines: Lines) -> None:
    live = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "live"]
    live[-1].update(layer=live[0]["layer"], position=live[0]["position"])


def _out_of_order(lines: Lines) -> None:
    live = [line["snippet"] for line in lines if line.get("snippet", {}).get("state") == "live"]
    live[0]["layer"], live[-1]["layer"] = 7, 8


def _overlapping(lines: Lines) -> None:
    live = {line["snippet"]["id"] for line in lines if line.get("snippet", {}).get("state") == "live"}
    under = [m for line in lines if (m := line.get("message", {})).get("leaves", {}).get("layered") in live]
    assert under[0]["leaves"] != under[-1]["leaves"]
    under[0]["leaves"], under[-1]["leaves"] = under[-1]["leaves"], under[0]["leaves"]


def _nothing_under_it(lines: Lines) -> None:
    snippet = first_of(lines, "snippet", state="live")
    bare = {**snippet, "id": "bare", "position": 99}
    lines.insert(-1, {"snippet": bare})
    lines[-1]["end"]["snippet"] += 1


def _misplaced(lines: Lines) -> None:
    lines[3], lines[4] = lines[4], lines[3]


def _version_of_nobody(lines: Lines) -> None:
    first_of(lines, "snippet_version")["snippet_id"] = "nobody"


def _version_out_of_count(lines: Lines) -> None:
    first_of(lines, "snippet_version")["number"] = 5


def _step_of_nobody(lines: Lines) -> None:
    first_of(lines, "undo_step")["snippet_id"] = "nobody"


def _step_to_no_text(lines: Lines) -> None:
    first_of(lines, "undo_step", kind="edit")["version"] = 50


def _uncovered_elsewhere(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    stranger = first_of(lines, "snippet", state="live")["id"]
    step["covered"] = {stranger: next(iter(step["covered"].values()))}


def _uncovered_nobody(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    step["covered"] = {"nobody": next(iter(step["covered"].values()))}


def _uncovered_beyond_the_end(lines: Lines) -> None:
    step = first_of(lines, "undo_step", kind="delete")
    next(iter(step["covered"].values()))["runs"] = [[0, 1000, 0]]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_message_under_what_is_gone, "which is neither live nor a part of a live one"),
        (_message_under_nobody, r"Line \d+: message: “leaves” names no snippet"),
        (_parent_is_nobody, r"Line \d+: snippet: “parent_id” names no snippet"),
        (_parent_is_itself, "absorb each other"),
        (_two_absorb_each_other, "absorb each other"),
        (_twice_the_same_message, "Line 9: message: its id is that of an earlier one"),
        (_twice_the_same_snippet, r"Line \d+: snippet: its id is that of an earlier one"),
        (_twice_the_same_place, r"Line \d+: snippet: another live snippet has this place"),
        (_out_of_order, "overlap, or are not in the order"),
        (_overlapping, "overlap, or are not in the order"),
        (_nothing_under_it, "'bare' is live, and no message is under it"),
        (_misplaced, "Line 4: message: “index” must be 2"),
        (_version_of_nobody, r"Line \d+: snippet_version: “snippet_id” names no snippet"),
        (_version_out_of_count, r"Line \d+: snippet_version: “number” must count"),
        (_step_of_nobody, r"Line \d+: undo_step: “snippet_id” names no snippet"),
        (_step_to_no_text, r"Line \d+: undo_step: “version” names no earlier text"),
        (_uncovered_elsewhere, r"Line \d+: undo_step: “covered” names a snippet that is not under"),
        (_uncovered_nobody, r"Line \d+: undo_step: “covered” names a snippet that is not under"),
        (_uncovered_beyond_the_end, r"Line \d+: undo_step: “covered” names messages beyond the end"),
    ],
)
async def test_what_does_not_hold_together_is_refused(
    content: bytes, other: Server, damage: Callable[[Lines], None], told: str
) -> None:
    """Whatever would break a promise, or refers to nothing, is said; nothing is imported."""
    lines: Lines = [json.loads(line) for line in content.splitlines()]
    damage(lines)
    with pytest.raises(InvalidRequest, match=told):
        taken_in(other, b"\n".join(json.dumps(line).encode() for line in lines))
    assert chats_of(other) == []
