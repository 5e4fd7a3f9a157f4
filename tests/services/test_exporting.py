"""Exports for other programs, and what comes back when they bring them again."""

import io
import json
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings

from app.assembly import Server
from app.core.model import Role
from app.errors import InvalidRequest, NotFound
from app.services.importing import Imported
from app.services.recording import Draft
from app.store.messages import insert_many
from tests.support import rows
from tests.support.eventful import SMALL, Event, Life, events
from tests.support.table import Table, laid
from tests.support.travel import elsewhere, exported


def written(server: Server, format: str, chat_id: str = "c") -> str:
    """The chat as a file of a format."""
    return exported(server, chat_id, format).decode()


def imported(server: Server, text: str, **what: Any) -> Imported:
    """The chat `d`, from a file."""
    options = {"chat_id": "d", "title": None, "format": None, **what}
    return server.services.importing.load(io.BytesIO(text.encode()), **options)


def said(server: Server, chat_id: str) -> list[tuple[Any, ...]]:
    """All that a message says and is, but for ids and ghosts."""
    found = server.services.recording.page(chat_id, state="all", after=-1, limit=10_000)
    return [
        (
            *(message.role, message.content, message.name, message.hidden, message.pinned, message.history),
            *(message.tool_calls, message.tool_call_id, message.created_at),
            {name: value for name, value in message.extra.items() if name != "sillytavern"},
        )
        for message in found
    ]


def memory(server: Server, chat_id: str) -> list[tuple[int, str, tuple[int, ...]]]:
    """Layer and text of the live snippets in reading order, with the indices of what they cover."""
    services = server.services
    found = services.browsing.snippets(
        chat_id, layer=None, state="live", stale=None, degraded=None, offset=0, limit=1000
    )
    return [
        (
            snippet.layer,
            snippet.text,
            tuple(m.index for m in services.browsing.messages_under(chat_id, snippet.id, after=-1, limit=10_000)),
        )
        for snippet in found
    ]


@settings(max_examples=6)
@given(events)
async def test_sillytavern_brings_back_what_it_was_given(happening: list[Event]) -> None:
    """Messages come back as they were, the same snippets stand over them, and no covered message shows."""
    with TemporaryDirectory() as folder:
        other = elsewhere(Path(folder), **SMALL)
        async with laid(Path(folder)) as table:
            life = Life(table)
            await life.begin(8)
            await life.go_on(happening)
            imported(other, written(table.server, "sillytavern"))
            assert said(other, "d") == said(table.server, "c")
            _assert_same_memory(table.server, other)
        other.db.dispose()


def _assert_same_memory(first: Server, second: Server) -> None:
    """The file cannot say that a visible message within a range is waiting to join: it joins at once."""
    visible = {
        message.index
        for message in first.services.recording.page("c", state="visible", after=-1, limit=10_000)
        if not message.pinned
    }
    for (layer, text, covers), (its_layer, its_text, its_covers) in zip(
        memory(first, "c"), memory(second, "d"), strict=True
    ):
        assert (its_layer, " ".join(text.split())) == (layer, its_text)
        assert set(covers) <= set(its_covers)
        assert set(its_covers) - set(covers) <= visible


async def fold(table: Table) -> None:
    """A chat with several layers and without gaps, its names set."""
    life = Life(table)
    table.services.keeping.put("c", {"user_name": "Mira", "character_name": "Tom"})
    await life.begin(14)
    await table.settled()


async def test_a_folded_chat_is_the_same_there_and_back(tmp_path: Path) -> None:
    """Without gaps the round trip is exact, memory and all, and nothing is warned of."""
    other = elsewhere(tmp_path, **SMALL)
    async with laid(tmp_path) as table:
        await fold(table)
        found = imported(other, written(table.server, "sillytavern"))
        assert found.warnings == []
        assert memory(other, "d") == memory(table.server, "c")
        assert found.snippets == len(memory(table.server, "c")) > 3
        assert written(other, "summaryception", "d") != ""
        chat = other.services.keeping.get("d")
        assert (chat.user_name, chat.character_name) == ("Mira", "Tom")
    other.db.dispose()


async def test_the_store_is_as_the_extension_keeps_it(tmp_path: Path) -> None:
    """Ghosts, ranges and pointer agree with each other and with the lines of the SillyTavern export."""
    async with laid(tmp_path) as table:
        await fold(table)
        lines = [json.loads(line) for line in written(table.server, "sillytavern").splitlines()]
        store = json.loads(written(table.server, "summaryception"))
        live = memory(table.server, "c")
    header, messages = lines[0], lines[1:]
    assert header["chat_metadata"]["summaryception"] == store
    assert store.keys() == {"layers", "summarizedUpTo", "ghostedIndices"}
    ghosted = [index for index, line in enumerate(messages) if line["extra"].get("sc_ghosted")]
    assert store["ghostedIndices"] == ghosted == sorted(index for _, _, covers in live for index in covers)
    assert store["summarizedUpTo"] == ghosted[-1]
    assert all(line["is_system"] == (index in ghosted) for index, line in enumerate(messages))
    told = [
        (layer, entry["text"], tuple(range(entry["turnRange"][0], entry["turnRange"][1] + 1)))
        for layer in reversed(range(len(store["layers"])))
        for entry in store["layers"][layer]
    ]
    assert told == live
    deep = [entry for layer in store["layers"][1:] for entry in layer]
    assert any(entry.get("promoted") for entry in deep)
    assert any(entry.get("mergedCount") == 2 and "fromLayer" in entry for entry in deep)
    assert all(isinstance(entry["timestamp"], int) for layer in store["layers"] for entry in layer)


async def test_a_memory_file_fits_the_chat_it_came_from(tmp_path: Path) -> None:
    """The memory alone, imported into the same chat after it was forgotten, covers what it covered."""
    async with laid(tmp_path) as table:
        await fold(table)
        before, store = memory(table.server, "c"), written(table.server, "summaryception")
        table.services.keeping.put("c", {"settings": {"paused": True}})
        await table.services.steering.clear("c")
        assert memory(table.server, "c") == []
        table.services.importing.adopt("c", io.BytesIO(store.encode()))
        assert memory(table.server, "c") == before


async def test_what_a_person_had_made_anew_says_so(tmp_path: Path) -> None:
    """A regenerated snippet is marked, and its time is that of its present text."""
    async with laid(tmp_path) as table:
        await fold(table)
        before = json.loads(written(table.server, "summaryception"))["layers"][0][0]
        [first] = table.services.browsing.snippets(
            "c", layer=0, state="live", stale=None, degraded=None, offset=0, limit=1
        )
        assert first.text == before["text"]
        table.services.revising.regenerate("c", first.id)
        await table.settled()
        after = json.loads(written(table.server, "summaryception"))["layers"][0][0]
    assert "regenerated" not in before
    assert after["regenerated"] is True
    assert after["timestamp"] >= before["timestamp"]


async def test_a_chat_without_memory_has_none_to_export(tmp_path: Path) -> None:
    """SillyTavern's file then has no store; the extension's is empty. So it is where the strategy is none."""
    async with laid(tmp_path) as table:
        await fold(table)
        table.services.keeping.put("c", {"strategy": "none"})
        assert json.loads(written(table.server, "sillytavern").splitlines()[0])["chat_metadata"].keys() == {"turnfold"}
        assert json.loads(written(table.server, "summaryception")) == {
            **{"layers": [], "summarizedUpTo": -1, "ghostedIndices": []}
        }
        assert not any(json.loads(line).get("is_system") for line in written(table.server, "sillytavern").splitlines())


async def test_openai_messages_come_back(tmp_path: Path) -> None:
    """What is neither hidden nor omitted is the same again: roles, texts, tool calls."""
    other = elsewhere(tmp_path, **SMALL)
    async with laid(tmp_path) as table:
        life = Life(table)
        await life.begin(4)
        await life.go_on([("tools", 0), ("hide", 1), ("omit", 4)])
        kept = [line for line in said(table.server, "c") if not line[3] and line[5] == "keep"]
        imported(other, written(table.server, "openai"))
    assert [(line[0], line[1], line[6], line[7]) for line in said(other, "d")] == [
        (line[0], line[1], line[6], line[7]) for line in kept
    ]
    other.db.dispose()


async def test_an_imported_chat_is_said_again_as_it_came(tmp_path: Path) -> None:
    """Fields and metadata that we do not know survive, and so does what a fork's memory says of itself."""
    store = {
        "layers": [[{"text": "The gate.", "turnRange": [0, 1], "timestamp": 1767000000000, "detail": "It is of oak."}]],
        **{"summarizedUpTo": 1, "ghostedIndices": [0, 1], "notes": ["x"]},
    }
    ghost = {"is_system": True, "extra": {"sc_ghosted": True, "api": "x"}}
    lines: list[dict[str, Any]] = [
        {
            **{"user_name": "Mira", "character_name": "Tom", "create_date": "2026-3-1 @20h"},
            "chat_metadata": {"note_prompt": "y", "summaryception": store},
        },
        {"name": "Mira", "is_user": True, "send_date": 1767000000000, "mes": "Shut?", **ghost},
        {"name": "Tom", "is_user": False, "send_date": "April 26, 2024 6:06am", "mes": "Yes.", **ghost},
        *(
            {"name": "Tom", "is_user": False, "is_system": False, "send_date": 1, "mes": str(n), "swipes": [str(n)],
             "swipe_id": 0, "extra": {}}
            for n in range(12)
        ),
    ]  # fmt: skip
    other = elsewhere(tmp_path, **SMALL)
    assert imported(other, "\n".join(map(json.dumps, lines))).snippets == 1
    again = [json.loads(line) for line in written(other, "sillytavern", "d").splitlines()]
    assert again == lines
    other.db.dispose()


async def test_an_export_is_of_one_moment(tmp_path: Path) -> None:
    """What is written while an export runs is not in it."""
    async with laid(tmp_path) as table:
        await table.say(1, 2)
        recording = table.services.recording

        def interfere(done: int, total: int) -> None:
            assert (done, total) == (0, 4)
            recording.store("c", [Draft(Role.USER, "And now?", id="late")], fold="none")

        found = table.services.exporting.export("c", "turnfold", interfere)
        with found.file:
            lines = found.file.read().splitlines()
        assert json.loads(lines[-1]) == {"end": {"message": 4}}
        assert table.status().counts.messages == 5


def test_memory_does_not_grow_with_the_chat(tmp_path: Path) -> None:
    """Five thousand messages are exported in any format with 2 MB held at any time, most of it the file's beginning."""
    server = elsewhere(tmp_path, **SMALL)
    with server.db.write() as session:
        chat = rows.add_chat(session)
        for start in range(0, 5000, 1000):
            found = [rows.message(chat.key, place, content="x" * 250) for place in range(start, start + 1000)]
            insert_many(session, found)
    tracemalloc.start()
    try:
        for format in ("turnfold", "sillytavern", "summaryception", "openai"):
            server.services.exporting.export("c", format).file.close()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    server.db.dispose()
    assert peak < 2_500_000


async def test_what_cannot_be_exported(tmp_path: Path) -> None:
    """An unknown chat is not found, an unknown format is refused with the known ones."""
    server = elsewhere(tmp_path, **SMALL)
    with pytest.raises(NotFound):
        server.services.exporting.export("nobody", "turnfold")
    with pytest.raises(InvalidRequest, match="turnfold, sillytavern, summaryception, openai"):
        server.services.exporting.export("nobody", "docx")
    server.db.dispose()
