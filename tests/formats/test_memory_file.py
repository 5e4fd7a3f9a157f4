"""app.formats.memory_file: where in a file a memory is found."""

import io
import json
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidRequest
from app.formats.memory_file import open_memory
from app.formats.parsed import ParsedMemory, WarningLog
from tests.formats.files import HEADER, STORE, Repeated, jsonl, line

OTHER: dict[str, Any] = {"layers": [[{"text": "Elsewhere.", "turnRange": [0, 1]}]], "summarizedUpTo": 1}


def opened(stream: BinaryIO | Repeated) -> tuple[ParsedMemory, list[str]]:
    """The memory of a file, and the codes of its warnings."""
    log = WarningLog()
    return open_memory(stream, log), [warning.code for warning in log.entries]


def file(value: Any, indent: int | None = None) -> BinaryIO:
    return io.BytesIO(json.dumps(value, indent=indent).encode())


def group(present: Any, **past: Any) -> dict[str, Any]:
    """A group's file with the stores of its present chat and of earlier ones."""
    stores = {name: {"summaryception": store, "note": 1} for name, store in past.items()}
    return {"id": "g", "members": [], "chat_metadata": {"summaryception": present}, "past_metadata": stores}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "wrapped",
    [
        STORE,
        {"summaryception": STORE, "note_prompt": ""},
        {**HEADER, "chat_metadata": {"summaryception": STORE}},
        group(STORE, a=OTHER, b=OTHER),
        group(None, a=STORE, b=None),
        {"past_metadata": {"a": {}, "b": {"summaryception": STORE}, "c": None}},
    ],
)
def test_a_store_is_found_wherever_sillytavern_keeps_it(wrapped: Any, indent: int | None) -> None:
    """Bare as the extension exports it, in a chat's metadata, in a group's file: the present chat's before all others,
    else that of the only earlier chat with one.
    """
    memory, warnings = opened(file(wrapped, indent))
    assert [snippet.layer for snippet in memory.snippets] == [1, 1, 0, 0]
    assert warnings == []


def test_the_first_line_of_a_chat_is_enough() -> None:
    """Of a chat's file only the header is read, however long it is."""
    header = {**HEADER, "chat_metadata": {"summaryception": STORE}}
    memory, _ = opened(Repeated(json.dumps(line("x" * 250)).encode() + b"\n", 50_000, jsonl(header).read() + b"\n"))
    assert len(memory.snippets) == 4


def test_several_earlier_chats_leave_it_open() -> None:
    """Which of a group's earlier chats is meant nobody can know: nothing is taken, and all are named."""
    memory, warnings = opened(file(group(None, a=STORE, b=OTHER)))
    assert (memory.snippets, warnings) == ((), ["several_memories"])


@pytest.mark.parametrize(
    "content",
    [
        b"", b"  ", b"x", b"{}", b"[]", b"7", b'"layers"', b'{"layers": [', b"[" * 9999, b"\x1f\x8b\x08\x00",
        json.dumps({"chat_metadata": {"summaryception": "x"}}).encode(),
        json.dumps({"past_metadata": {"a": {}}}).encode(),
        jsonl(line(), line()).read(), jsonl(HEADER, line()).read(),
    ],
)  # fmt: skip
def test_what_is_no_memory_is_refused(content: bytes) -> None:
    """The refusal says what can be read."""
    with pytest.raises(InvalidRequest, match=r"What can be read: an export of the Summaryception|compressed"):
        opened(io.BytesIO(content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_of_windows_are_read(encoding: str) -> None:
    """A BOM and UTF-16 change nothing."""
    memory, _ = opened(io.BytesIO(json.dumps(STORE, ensure_ascii=False).encode(encoding)))
    assert len(memory.snippets) == 4


def test_numbers_and_characters_nobody_can_store_are_replaced() -> None:
    """NaN, as some writers leave it, is null; a character that is none becomes U+FFFD, and that is told."""
    memory, warnings = opened(io.BytesIO(b'{"layers": [["a\\u0000b"]], "summarizedUpTo": NaN, "x": 1e999}'))
    assert memory.snippets[0].text == "a\ufffdb"
    assert warnings == ["pointer_recomputed", "replaced_characters"]
    assert memory.extra == {"x": None}


@given(st.data())
def test_no_damage_does_harm(data: st.DataObject) -> None:
    """A file with a piece cut out and other bytes put in gives a memory or InvalidRequest, nothing else."""
    whole = json.dumps(group(STORE, a=OTHER)).encode()
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole)))))
    try:
        memory, _ = opened(io.BytesIO(whole[:start] + data.draw(st.binary(max_size=4)) + whole[end:]))
    except InvalidRequest:
        return
    json.dumps([snippet.text for snippet in memory.snippets], ensure_ascii=False).encode()
