"""app.formats.recognize: what a file is, and that nothing in it can do harm."""

import io
import json
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.errors import InvalidRequest
from app.formats.parsed import ParsedMessage
from app.formats.recognize import READERS, open_chat
from tests.formats.files import HEADER, jsonl, line, read

CHAT = jsonl(HEADER, line("a", swipes=["a", "é😀"], send_date=1), line("b", user=True)).read()
MESSAGES = json.dumps({"model": "m", "messages": [{"role": "user", "content": [{"text": "é😀"}]}] * 2}).encode()
FRAGMENTS = [
    b"[", b"]", b"{", b"}", b'"', b":", b",", b"\\", b"\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    b'"mes":', b'"messages":[', b'"role":"user"', b'"content":', b'"tool_calls":[{"id":[]}]', b'"\\ud800"', b"9" * 5000,
    b'"extra":{"type":[],"sc_ghosted":true}', b'"send_date":', b'"chat_metadata":', b'"chat_metadata":[]', b'"swipes":',
    b'{"chat_metadata":{"summaryception":{"layers":[[{"text":"a","turnRange":[0,1]},', b'"turnRange":', b'"layers":',
    b"null", b"NaN", b"1e999",
]  # fmt: skip


def everything(content: bytes, format: str | None) -> Iterator[ParsedMessage]:
    """The messages of a file, none where it is refused."""
    try:
        chat = open_chat(io.BytesIO(content), format=format)
    except InvalidRequest:
        return
    yield from chat.messages


def assert_storable(content: bytes, format: str | None) -> None:
    for message in everything(content, format):
        assert (message.content is None) <= bool(message.tool_calls)
        text = json.dumps([message.content, message.name, message.tool_calls, message.extra], allow_nan=False)
        assert "\\u0000" not in text
        (message.content or "").encode()
        json.dumps(message.extra, ensure_ascii=False).encode()


@given(content=st.binary(), format=st.sampled_from([None, *READERS]))
def test_no_bytes_do_harm(content: bytes, format: str | None) -> None:
    """Arbitrary bytes give storable messages or InvalidRequest, nothing else."""
    assert_storable(content, format)


@given(content=st.lists(st.sampled_from(FRAGMENTS)).map(b"".join), format=st.sampled_from([None, *READERS]))
@example(content=b"[" * 200_000, format=None)
@example(content=b'{"a":' * 200_000, format=None)
@example(content=b"[" + b"9" * 10_000 + b"]", format=None)
def test_nothing_that_looks_like_a_chat_does_harm(content: bytes, format: str | None) -> None:
    """Pieces of chats in any order give storable messages or InvalidRequest, nothing else."""
    assert_storable(content, format)


@given(file=st.sampled_from([CHAT, MESSAGES]), data=st.data())
def test_no_damage_does_harm(file: bytes, data: st.DataObject) -> None:
    """A real file with a piece cut out and other bytes put in gives storable messages or InvalidRequest."""
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(file)), st.integers(0, len(file)))))
    assert_storable(file[:start] + data.draw(st.binary(max_size=4)) + file[end:], None)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("before", ["", "\r\n \n"])
@pytest.mark.parametrize("content", [CHAT, MESSAGES])
def test_files_are_recognized_by_content(content: bytes, before: str, encoding: str) -> None:
    """Both kinds are told apart with or without BOM, in UTF-8 and UTF-16, after blank lines."""
    messages, warnings = read(io.BytesIO((before + content.decode()).encode(encoding)))
    assert (len(messages), warnings) == (2, [])


def test_messages_decide_over_names() -> None:
    """A request body is one although it also has a field of a chat's header."""
    messages, _ = read(jsonl({"user_name": "Mira", "messages": [{"role": "user", "content": "x"}]}))
    assert messages[0].extra == {}


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"Dear diary,\n", b"{}", b"<html>", b'{"messages": 5}', b"7", b'"mes"']
)
def test_unknown_files_are_refused_with_what_is_known(content: bytes) -> None:
    """The refusal says which kinds of files are read."""
    with pytest.raises(InvalidRequest, match=r"SillyTavern chat \(\.jsonl\) and OpenAI messages"):
        open_chat(io.BytesIO(content))


@pytest.mark.parametrize(
    "memory",
    [
        {"layers": [], "summarizedUpTo": -1},
        {"version": 3, "memories": {}},
        {"id": "g", "members": ["a.png"], "chat_metadata": {"summaryception": {"layers": []}}},
        {"chat_metadata": {}, "past_metadata": {}},
    ],
)
def test_a_memory_alone_is_refused_with_where_it_belongs(memory: dict[str, object]) -> None:
    """Who uploads the extension's export or a group's file as a chat is told what to do with it."""
    with pytest.raises(InvalidRequest, match="beside the chat's file"):
        open_chat(jsonl(memory))


def test_a_forced_format_is_not_questioned() -> None:
    """With a format the content is read as that, whatever it looks like."""
    both = json.dumps({"messages": [{"role": "user", "content": "theirs"}], "mes": "his"}).encode()
    assert [read(io.BytesIO(both), kind)[0][0].content for kind in READERS] == ["his", "theirs"]


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    """A name no reader has is the caller's mistake; the name itself is not echoed."""
    with pytest.raises(InvalidRequest, match="Known are: openai, sillytavern") as caught:
        open_chat(io.BytesIO(CHAT), format="docx")
    assert "docx" not in caught.value.detail


def test_warnings_are_complete_when_the_messages_are() -> None:
    """Warnings of a later line appear while the messages are consumed, in the list that was handed out."""
    chat = open_chat(jsonl(*[line()] * 50, b"broken", line()))
    warnings = chat.warnings
    assert warnings == []
    assert len(list(chat.messages)) == 51
    assert [entry.code for entry in warnings] == ["corrupt_line"]
