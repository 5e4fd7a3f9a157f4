"""app.formats.summaryception: the extension's stores, in the shapes of the original and of two forks, whole and odd."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.formats.parsed import ParsedMemory, ParsedSnippet, Warning, WarningLog
from app.formats.summaryception import read_store
from tests.formats.files import STORE


def parsed(store: dict[str, Any]) -> tuple[ParsedMemory, list[Warning]]:
    """The memory of a store, and what was wrong with it."""
    log = WarningLog()
    return read_store(store, log), log.entries


def codes(warnings: list[Warning]) -> list[str]:
    return [warning.code for warning in warnings]


def told(text: str = "Tom leaves.", **fields: Any) -> dict[str, Any]:
    return {"text": text, **fields}


def test_the_originals_store_is_read_whole() -> None:
    """Deepest layer first, oldest first; ranges are message indices; a seed, a merge and a regeneration are known."""
    memory, warnings = parsed(STORE)
    assert warnings == []
    assert memory == ParsedMemory(
        snippets=(
            ParsedSnippet("Tom leaves Harrow.", 1, 0, (0, 6), created_at=at(1766990000), promoted=True),
            ParsedSnippet("Road to the ford.", 1, 1, merged=3, created_at=at(1766999000)),
            ParsedSnippet("Mira trades the key.", 0, 0, (14, 19), created_at=at(1767000000)),
            ParsedSnippet("Storm at the ford.", 0, 1, (20, 26), created_at=at(1767000100), regenerated=True),
        ),
        summarized_through=26,
        ghosted=frozenset(range(7)),
    )


def at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def banked(**fields: Any) -> dict[str, Any]:
    """A store with two banks, that of Tom active."""
    memories = {
        "character:file:tom.png": {"layers": [[told("Tom's.", turnRange=[0, 3])]], "summarizedUpTo": 3},
        "character:file:ann.png": {"layers": [[told("Ann's.", turnRange=[0, 5])]], "summarizedUpTo": 5},
        "character:file:bob.png": {"layers": [], "summarizedUpTo": -1},
    }
    store = {"version": 3, "memoryMode": "perCharacterCard", "activeMemoryKey": "character:file:tom.png"}
    return {**store, "memories": memories, "memoryLabels": {"character:file:ann.png": "Ann of the ford"}, **fields}


def test_the_active_bank_is_taken_and_others_are_named() -> None:
    """Of Dogoo9's banks the active one is the memory; others with content are told by their label, and kept."""
    memory, warnings = parsed(banked())
    assert [snippet.text for snippet in memory.snippets] == ["Tom's."]
    assert memory.summarized_through == 3
    assert codes(warnings) == ["bank_left_out"]
    assert "“Ann of the ford”" in warnings[0].detail
    assert set(memory.extra["memories"]) == {"character:file:ann.png", "character:file:bob.png"}


@pytest.mark.parametrize("labels", [None, [], {}, {"character:file:ann.png": 7}, {"character:file:ann.png": " "}])
@pytest.mark.parametrize(
    ("attachments", "name"),
    [
        (None, "character:file:ann.png"),
        ({"character:file:ann.png": {"characterName": "Ann"}}, "Ann"),
        ({"character:file:ann.png": "Ann"}, "character:file:ann.png"),
    ],
)
def test_a_bank_without_label_has_a_name(labels: Any, attachments: Any, name: str) -> None:
    """The character's name names its bank, or at last the key."""
    _, warnings = parsed(banked(memoryLabels=labels, memoryAttachments=attachments))
    assert f"“{name}”" in warnings[0].detail


@pytest.mark.parametrize(
    ("fields", "text", "found"),
    [
        ({"activeMemoryKey": None}, "Tom's.", ["bank_chosen", "bank_left_out"]),
        ({"activeMemoryKey": "gone"}, "Tom's.", ["bank_chosen", "bank_left_out"]),
        ({"activeMemoryKey": "character:file:bob.png"}, None, ["bank_left_out", "bank_left_out"]),
        ({"memories": {}, "layers": [[told("Own.")]], "summarizedUpTo": 1}, "Own.", []),
        ({"memories": [], "layers": [[told("Own.")]], "summarizedUpTo": 1}, "Own.", []),
        ({"memories": {"": {"layers": [[told("Nameless.")]], "summarizedUpTo": 1}}}, "Nameless.", ["bank_chosen"]),
        ({"memoryMode": "shared", "sharedMemory": {"layers": [[told("All.")]], "summarizedUpTo": 1}}, "All.", [""] * 2),
        ({"sharedMemory": {"layers": [[told("All.")]]}}, "Tom's.", ["bank_left_out", "bank_left_out"]),
    ],
)
def test_which_bank_is_active(fields: dict[str, Any], text: str | None, found: list[str]) -> None:
    """Without a usable key the first bank with content is taken, and that is said."""
    memory, warnings = parsed(banked(**fields))
    assert [snippet.text for snippet in memory.snippets] == ([text] if text else [])
    assert codes(warnings) == [code or "bank_left_out" for code in found]


def test_a_store_with_ids_is_read_whole() -> None:
    """Vadash's store names messages by `sc_id`, has no pointer, and nobody misses it."""
    store = {
        "layers": [[told(sourceMessageIds=["a", "b", 5], sourceRange=[0, 1], currentDateTime="1812-03-01T10")]],
        "ghostedMessageIds": ["a", "b", None],
        "mutationEpoch": 4,
    }
    memory, warnings = parsed(store)
    assert warnings == []
    (snippet,) = memory.snippets
    assert (snippet.message_ids, snippet.range) == (("a", "b"), (0, 1))
    assert snippet.extra == {"currentDateTime": "1812-03-01T10"}
    assert (memory.ghosted_ids, memory.extra) == (frozenset({"a", "b"}), {"mutationEpoch": 4})


@pytest.mark.parametrize("layers", [None, [], {}, [None], [[]], [[None]], {"0": None}, [None, None, []]])
def test_a_store_without_snippets_is_an_empty_memory(layers: Any) -> None:
    """Holes and empty lists are nothing, and no trouble."""
    memory, warnings = parsed({"layers": layers, "summarizedUpTo": None})
    assert (memory.snippets, memory.summarized_through, warnings) == ((), None, [])


@pytest.mark.parametrize(
    "layers",
    [
        [[told("a"), None, told("b")], None, [told("c")]],
        {"2": [told("c")], "0": {"2": told("b"), "0": told("a")}, "length": 3},
        [["a", None, "b"], [], ["c"]],
    ],
)
def test_sparse_layers_keep_their_places(layers: Any) -> None:
    """Holes count as places; lists may be objects with numbers for keys, and snippets bare texts."""
    memory, _ = parsed({"layers": layers, "summarizedUpTo": -1})
    assert [(s.text, s.layer, s.place) for s in memory.snippets] == [("c", 2, 0), ("a", 0, 0), ("b", 0, 2)]


@pytest.mark.parametrize(
    "bad", [{}, told(""), told(" \n"), {"text": None}, {"text": 5}, 5, True, [], told("x" * 2**21)]
)
def test_a_snippet_without_a_text_is_skipped(bad: Any) -> None:
    """It is named by layer and place, and the others are taken."""
    memory, warnings = parsed({"layers": [[told("a"), bad, told("b")]], "summarizedUpTo": 1})
    assert [snippet.text for snippet in memory.snippets] == ["a", "b"]
    assert codes(warnings) == ["unreadable_snippet"]
    assert warnings[0].detail.startswith("Snippet 2 of layer 0 ")


@pytest.mark.parametrize("layers", ["x", 5, True, [[told()], "x"], [[told()], 7]])
def test_layers_that_are_none_are_told(layers: Any) -> None:
    """What stands where a list should be is said, and costs only itself."""
    memory, warnings = parsed({"layers": layers, "summarizedUpTo": 1})
    assert len(memory.snippets) == isinstance(layers, list)
    assert codes(warnings) == ["unreadable_memory"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([3, 5], (3, 5)),
        ([5, 3], (5, 3)),
        ([-2, 4], (-2, 4)),
        ([3.0, "5"], (3, 5)),
        ({"start": 3, "end": 5}, (3, 5)),
        ({"first": 3, "last": 5}, (3, 5)),
        (None, None),
        ([3], None),
        ([3, 5, 7], None),
        ([None, 5], None),
        (["3-5", 5], None),
        ([True, 5], None),
        ([3.5, 5], None),
        ("3-5", None),
        ({}, None),
    ],
)
def test_ranges_are_read_as_they_are_written(written: Any, read: tuple[int, int] | None) -> None:
    """Backwards, negative or beyond the chat they are for the import to judge; what is no range is none."""
    memory, _ = parsed({"layers": [[told(turnRange=written)]], "summarizedUpTo": 5})
    assert memory.snippets[0].range == read


@pytest.mark.parametrize("pointer", [{}, {"summarizedUpTo": None}, {"summarizedUpTo": "x"}, {"summarizedUpTo": [3]}])
def test_a_lost_pointer_is_told(pointer: dict[str, Any]) -> None:
    """`summarizedUpTo` is missing, null (it was NaN or -Infinity) or no number."""
    memory, warnings = parsed({"layers": [[told()]], **pointer})
    assert (memory.summarized_through, codes(warnings)) == (None, ["pointer_recomputed"])


@pytest.mark.parametrize("pointer", [-1, -7, -1.0])
def test_a_pointer_at_nothing_is_none(pointer: float) -> None:
    """-1 says that nothing is summarized; whether the snippets say so too is for the import to find out."""
    memory, warnings = parsed({"layers": [[told()]], "summarizedUpTo": pointer})
    assert (memory.summarized_through, warnings) == (-1, [])


@pytest.mark.parametrize(
    ("written", "read"), [([3, 1, 2, 3], {1, 2, 3}), ([1, None, "2", -1, 2.5, []], {1, 2}), (None, set()), ({}, set())]
)
def test_ghosts_are_read_in_any_order(written: Any, read: set[int]) -> None:
    """Lists of ghosted messages are unsorted, hold doubles and nonsense, or are missing."""
    memory, _ = parsed({"layers": [], "ghostedIndices": written})
    assert memory.ghosted == read


@pytest.mark.parametrize(
    ("written", "merged"), [(3, 3), (0, 1), (-5, 1), (None, 1), ("x", 1), (True, 1), ("4", 4), (10**12, 1000)]
)
def test_numbers_of_merged_snippets_are_sane(written: Any, merged: int) -> None:
    """At least one, and no more than a merge can take."""
    memory, _ = parsed({"layers": [[told(mergedCount=written)]]})
    assert memory.snippets[0].merged == merged


def test_a_text_is_one_line() -> None:
    """Line breaks become spaces: a snippet is one line of memory."""
    memory, _ = parsed({"layers": [[told("  Tom\n\nleaves.\t")]]})
    assert memory.snippets[0].text == "Tom leaves."


def test_what_forks_add_is_kept_and_named() -> None:
    """Ledgers, pins and details are no part of a prompt here; that is said once."""
    store = {**STORE, "ledgerNotes": [{"t": 1}], "pins": [], "reviewQueue": [{}], "mutationEpoch": 3}
    store["layers"] = [[told(detail="The key is brass.", imported=True)]]
    memory, warnings = parsed(store)
    assert codes(warnings) == ["not_used"]
    assert all(f"“{name}”" in warnings[0].detail for name in ("ledgerNotes", "reviewQueue", "detail"))
    assert memory.snippets[0].extra == {"detail": "The key is brass.", "imported": True}
    assert memory.extra == {"ledgerNotes": [{"t": 1}], "pins": [], "reviewQueue": [{}], "mutationEpoch": 3}


def test_a_number_of_layers_that_is_damage_ends_somewhere() -> None:
    """No chat has a thousandth layer."""
    memory, _ = parsed({"layers": {"999999999": [told("a")], "1": [told("b")]}})
    assert [(snippet.text, snippet.layer) for snippet in memory.snippets] == [("a", 99), ("b", 1)]


KEYS = [
    *STORE,
    "memories",
    "activeMemoryKey",
    "sharedMemory",
    "memoryLabels",
    "memoryMode",
    "ghostedMessageIds",
    "text",
]
KEYS += ["turnRange", "sourceMessageIds", "mergedCount", "timestamp", "0", "1"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(KEYS), anything))
def test_no_store_does_harm(store: dict[str, Any]) -> None:
    """Whatever JSON a store holds, its snippets have texts on one line, and layers and merges within bounds."""
    memory, warnings = parsed(store)
    for snippet in memory.snippets:
        assert snippet.text == " ".join(snippet.text.split()) != ""
        assert 0 <= snippet.layer <= 99
        assert 1 <= snippet.merged <= 1000
    json.dumps([memory.extra, [snippet.extra for snippet in memory.snippets]])
    assert all(warning.detail.endswith((".", "!")) for warning in warnings)
