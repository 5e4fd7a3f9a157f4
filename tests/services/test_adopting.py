"""Memory that comes with a chat's file, on a real database: what is taken, what is told, every promise."""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.formats.files import real_play
from tests.support.memories import (
    WHOLE,
    assert_well,
    chat,
    codes,
    extra_of,
    file,
    line,
    load,
    of_state,
    shown,
    spans,
    store,
    told,
)
from tests.support.table import Table, laid


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    async with laid(tmp_path) as table:
        yield table


async def test_a_sound_memory_is_taken_whole(table: Table) -> None:
    """Every snippet stands over its messages in its layer; only the guessed range is told; nothing is asked."""
    imported = load(table, file(WHOLE, chat(50, ghosts=26)))
    assert (imported.messages, imported.snippets, codes(imported)) == (50, 4, ["range_inferred"])
    assert "Snippet 2 of layer 1" in imported.warnings[0].detail
    assert spans(table) == [("Harrow.", 1, 0, 6), ("Road.", 1, 7, 13), ("Storm.", 0, 14, 19), ("Ford.", 0, 20, 25)]
    storm = shown(table)[2]
    assert (storm.kind, storm.tokens, storm.stale, storm.degraded) == ("import", 2, False, False)
    assert storm.source_tokens == 6 * 6
    assert storm.created_at.timestamp() == 1767000000
    status = table.status()
    assert (status.memory_version, status.counts.ghosted, status.counts.hidden) == (1, 26, 0)
    assert (status.stale_snippets, status.backlog.choice_needed) == (0, False)
    assert_well(table)


async def test_what_the_file_says_besides_is_kept(table: Table) -> None:
    """Metadata and what forks add to store and snippets stay with the chat, for an export to say again."""
    odd = store([told("Storm.", 0, 3, recall={"entities": ["Mira"]})], through=3, pins=["a"])
    load(table, file(odd, chat(40)))
    extra = extra_of(table)
    (snippet,) = shown(table)
    assert extra["sillytavern"] == {"chat_metadata": {"note": 1}}
    assert extra["summaryception"]["store"] == {"pins": ["a"]}
    assert extra["summaryception"]["snippets"] == {snippet.id: {"recall": {"entities": ["Mira"]}}}


async def test_a_shifted_file_keeps_its_ranges(table: Table) -> None:
    """Broken lines count as places: what stands after them is covered as the file means it."""
    lines: list[Any] = chat(40)
    lines[2], lines[9] = b"broken", b"{"
    load(table, file(store([told("a", 0, 3), told("b", 4, 9)], through=9), lines))
    assert spans(table) == [("a", 0, 0, 2), ("b", 0, 3, 7)]
    assert_well(table)


async def test_ids_of_a_fork_find_their_messages(table: Table) -> None:
    """Vadash's snippets name messages by ids, wherever these stand by now."""
    lines = [line(index, extra={"sc_id": f"m{index}"}) for index in range(40)]
    lines[0:0] = [line(8, mes="New."), line(9, mes="Newer.")]
    names = [f"m{index}" for index in range(6)]
    memory = {"layers": [[{"text": "a", "sourceMessageIds": names, "sourceRange": [0, 5]}]], "ghostedMessageIds": names}
    imported = load(table, file(memory, lines))
    assert (spans(table), codes(imported)) == ([("a", 0, 2, 7)], [])
    assert_well(table)


async def test_older_files_have_only_lists(table: Table) -> None:
    """Where no message bears the extension's mark, a hidden one that is listed is a ghost; others a person hid."""
    lines = chat(40)
    for index in (0, 1, 2, 3, 8, 9):
        lines[index]["is_system"] = True
    lines[3]["extra"] = {"type": "comment"}
    load(table, file(store([told("a", 0, 3)], through=3, ghostedIndices=[0, 1, 2, 3]), lines))
    assert [m.index for m in of_state(table, "hidden")] == [3, 8, 9]
    assert [m.index for m in of_state(table, "ghosted")] == [0, 1, 2]
    assert_well(table)


async def test_a_stale_list_shows_nothing_that_a_person_hid(table: Table) -> None:
    """Where messages bear the mark, a hidden one without it stays hidden, listed or not."""
    lines = chat(40, ghosts=4)
    lines[6]["is_system"] = True
    load(table, file(store([told("a", 0, 7)], through=7, ghostedIndices=[0, 1, 2, 3, 6, 99]), lines))
    assert [m.index for m in of_state(table, "hidden")] == [6]
    assert [m.index for m in of_state(table, "ghosted")] == [0, 1, 2, 3, 4, 5, 7]


async def test_nothing_is_ghosted_that_no_snippet_covers(table: Table) -> None:
    """What the extension hid without a summary is visible, what its summaries cover is not; both are told."""
    imported = load(table, file(store([told("a", 0, 3), told("b", 8, 11)], through=11), chat(40, ghosts=8)))
    assert codes(imported) == ["covered_elsewhere", "ghosted_elsewhere"]
    assert [warning.detail[:11] for warning in imported.warnings] == ["4 messages ", "4 messages "]
    counts = table.status().counts
    assert (counts.ghosted, counts.hidden, counts.visible) == (8, 0, 32)
    assert_well(table)


@pytest.mark.parametrize("layers", [[], [None], [[], None], None, "x"])
async def test_a_memory_without_snippets_ghosts_nothing(table: Table, layers: Any) -> None:
    """Its pointer and its lists alone cover nothing, and the chat has the version of one without memory."""
    empty = {"layers": layers, "summarizedUpTo": 9, "ghostedIndices": list(range(10))}
    imported = load(table, file(empty, chat(40, ghosts=10)))
    assert imported.snippets == 0
    assert "ghosted_elsewhere" in codes(imported)
    status = table.status()
    assert (status.counts.visible, status.memory_version) == (40, 0)


@pytest.mark.parametrize(
    ("through", "told_so"), [(25, False), (None, True), (40, True), (3, True), ("x", True), (-1, True)]
)
async def test_the_pointer_is_worked_out_anew(table: Table, through: Any, told_so: bool) -> None:
    """Missing, null, stale or contradictory: the ranges decide, and that is told."""
    imported = load(table, file(store([told("a", 0, 25)], through=through), chat(50)))
    assert ("pointer_recomputed" in codes(imported)) == told_so
    assert table.status().summarized_through.index == 25  # type: ignore[union-attr]  # there is one


async def test_a_memory_over_the_newest_turns_gives_way(table: Table) -> None:
    """The window stays verbatim: the newest snippets are not taken, and that is told."""
    imported = load(table, file(store([told("a", 0, 9), told("b", 10, 21), told("c", 22, 29)], through=29), chat(30)))
    assert (imported.snippets, codes(imported)) == (1, ["snippet_not_taken"] * 2)
    assert "among the newest turns" in imported.warnings[0].detail
    assert spans(table) == [("a", 0, 0, 9)]
    assert table.status().memory_version == 1
    assert_well(table)


async def test_the_open_turn_and_the_chats_own_prompt_are_never_covered(table: Table) -> None:
    """Whatever a range says, narration before the first speech and what waits for a reply stay visible."""
    table.server.services.keeping.patch_settings({"layered": {"verbatim_turns": 1, "window": "compat"}})
    lines = [line(1, extra={"type": "narrator"}), *chat(6), line(6), line(8)]
    load(table, file(store([told("a", 0, 8)], through=8), lines))
    assert spans(table) == [("a", 0, 1, 6)]


async def test_what_does_not_fit_is_told_with_its_text(table: Table) -> None:
    """Of a longer chat's memory what fits is taken; the rest is named by layer, place and how its text begins."""
    imported = load(table, file(store([told("a", 0, 3), told("b" * 500, 90, 95)], through=95), chat(40)))
    assert imported.snippets == 1
    lost = imported.warnings[0]
    assert lost.code == "snippet_not_taken"
    assert lost.detail.startswith("Snippet 2 of layer 0 was not taken: the chat has no messages 90–95. ")
    assert lost.detail.endswith(f"“{'b' * 80}”.")


async def test_folding_goes_on_after_an_import(table: Table) -> None:
    """Turns that wait behind a memory are folded unasked, however many: the question is for chats without any."""
    load(table, file(store([told("a", 0, 3)], through=3), chat(100)))
    status = await table.settled()
    assert (status.counts.turns, status.counts.visible // 2) == (50, 12)
    assert table.layers() == [13]
    assert_well(table)


async def test_a_memory_beside_the_chat_goes_first(table: Table) -> None:
    """A group's chat has no header; one that has a memory of its own is told of it."""
    headless = io.BytesIO(file(None, chat(40)).read().split(b"\n", 1)[1])
    found = load(table, headless, store([told("beside", 0, 3)], through=3))
    assert (found.snippets, codes(found)) == (1, [])
    own = file(store([told("own", 0, 5)], through=5), chat(40))
    found = load(table, own, store([told("beside", 0, 3)], through=3), chat_id="d")
    assert (found.snippets, codes(found)) == (1, ["memory_twice"])


async def test_a_real_play_with_a_memory(table: Table) -> None:
    """1,100 speeches with a memory of three layers, of which most merged snippets lost their ranges."""
    with real_play("play-group-chat.jsonl") as stream:
        header, rest = stream.read().split(b"\n", 1)
    recent = [told(f"Scene {n}.", 6 * n, 6 * n + 5) for n in range(150, 175)]
    merged = [told(f"Act {n}.", mergedCount=3) for n in range(30)]
    deep = [told("Rome.", 0, 5, promoted=True), *(told(f"Book {n}.", mergedCount=3) for n in range(6))]
    memory = store(recent, merged, deep, through=1049, ghostedIndices=list(range(1050)))
    fields = {**json.loads(header), "chat_metadata": {"summaryception": memory}}
    imported = load(table, io.BytesIO(json.dumps(fields).encode() + b"\n" + rest))
    assert (imported.messages, imported.snippets) == (1100, 62)
    assert set(codes(imported)) == {"range_inferred"}
    found = spans(table)
    assert [first for _, _, first, _ in found[1:]] == [last + 1 for _, _, _, last in found[:-1]]
    assert (found[0][2], found[-1][3]) == (0, 1049)
    sizes = {layer: [last - first for _, deep, first, last in found if deep == layer] for layer in (1, 2)}
    assert min(sizes[2][1:]) > max(sizes[1])
    await table.settled()
    assert_well(table)
