"""app.formats.openai: messages of the chat-completions format, whole and damaged."""

import io
import json
import tracemalloc
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.limits import MAX_CONTENT_BYTES, MAX_DEPTH
from app.core.model import Role
from app.errors import InvalidRequest
from app.formats.recognize import open_chat
from tests.formats.files import Repeated, read, real_play

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def array(*messages: Any) -> BinaryIO:
    return io.BytesIO(json.dumps(messages).encode())


def said(content: Any, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [False, True])
def test_an_array_and_a_request_body_are_the_same_chat(wrap: bool, indent: int | None) -> None:
    """Messages are read bare or from a request, on one line or many, whatever stands around them."""
    messages = [said("a", "system"), said("b"), said("c", "assistant")]
    body = {"model": "m", "tools": [{"messages": []}], "messages": messages, "stream": True} if wrap else messages
    found, warnings = read(io.BytesIO(json.dumps(body, indent=indent).encode()))
    assert [(message.role, message.content) for message in found] == [
        (Role.SYSTEM, "a"),
        (Role.USER, "b"),
        (Role.ASSISTANT, "c"),
    ]
    assert warnings == []


@pytest.mark.parametrize(
    ("written", "role"), [("developer", Role.SYSTEM), ("function", Role.TOOL), ("tool", Role.TOOL), ("user", Role.USER)]
)
def test_old_and_new_roles_are_known(written: str, role: Role) -> None:
    """The format's newer and older roles become ours."""
    assert read(array(said("x", written)))[0][0].role is role


def test_ids_names_and_unknown_fields_are_kept() -> None:
    """An id that a message may have becomes its id; what this format does not know goes into `extra`."""
    first, second = read(array(said("x", id="m1", name="Ann", mood="glad", audio=None), said("y", id="a/b", name=5)))[0]
    assert (first.id, first.name, first.extra) == ("m1", "Ann", {"mood": "glad"})
    assert (second.id, second.name, second.extra) == (None, None, {"id": "a/b", "name": 5})


def test_parts_are_joined_and_what_is_no_text_is_kept_apart() -> None:
    """Text parts become lines; other parts go into `extra` and are counted in one warning."""
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    parts = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}, image]
    messages, warnings = read(array(said(parts), said([image])))
    assert [message.content for message in messages] == ["a\nb", ""]
    assert messages[0].extra == {"content_parts": [image, image]}
    assert [(entry.code, entry.detail[:8]) for entry in warnings] == [("parts_left_out", "3 parts ")]


def test_tool_calls_and_their_answers_are_kept() -> None:
    """A call leaves the content null; without one, null is an empty text."""
    messages, warnings = read(
        array(
            said(None, "assistant", tool_calls=[CALL]), said("ok", "tool", tool_call_id="c1"), said(None, "assistant")
        )
    )
    assert [(message.content, message.tool_calls, message.tool_call_id) for message in messages] == [
        (None, [CALL], None),
        ("ok", None, "c1"),
        ("", None, None),
    ]
    assert ([message.extra for message in messages], warnings) == ([{}, {}, {}], [])


def test_calls_without_ids_get_one_that_their_answers_share() -> None:
    """The old `function_call` and calls of servers that give no ids are paired with their answers in order."""
    call = {"function": {"name": "look", "arguments": {}}}
    messages, _ = read(
        array(
            said(None, "assistant", function_call={"name": "look", "arguments": "{}"}),
            said("seen", "function", name="look"),
            said("", "assistant", tool_calls=[call, call]),
            said("one", "tool"),
            said("two", "tool"),
            said("three", "tool"),
        )
    )
    assert [call["id"] for message in messages for call in message.tool_calls or []] == [
        "call-1-1",
        "call-3-1",
        "call-3-2",
    ]
    assert [message.tool_call_id for message in messages] == [None, "call-1-1", None, "call-3-1", "call-3-2", None]


def test_tool_calls_that_are_none_are_kept_and_told() -> None:
    """A malformed list of calls costs the calls, not the message."""
    messages, warnings = read(array(said("x", "assistant", tool_calls=["?"])))
    assert (messages[0].content, messages[0].tool_calls, messages[0].extra) == ("x", None, {"tool_calls": ["?"]})
    assert [entry.code for entry in warnings] == ["unreadable_tool_calls"]


@pytest.mark.parametrize(
    "bad",
    [7, None, [], {}, said("x", "robot"), said(5), said({}), said("x" * (MAX_CONTENT_BYTES + 1)), {"role": []}],
)
def test_a_bad_element_costs_only_itself(bad: Any) -> None:
    """An element that is no message is skipped with a warning that names its position."""
    messages, warnings = read(array(said("a"), bad, said("b")))
    assert [message.content for message in messages] == ["a", "b"]
    assert [(entry.code, entry.detail[:10]) for entry in warnings] == [("unreadable_message", "Message 2 ")]


def test_places_count_what_could_not_be_read() -> None:
    """A message's place is that in the file's list, skipped ones counted."""
    found, _ = read(array(said("a"), 5, said("b")))
    assert [message.file_index for message in found] == [0, 2]


def test_deep_nesting_costs_one_message() -> None:
    """A message with a field nested beyond the limit is skipped."""
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    messages, warnings = read(array(said("a"), said("b", x=deep)))
    assert len(messages) == 1
    assert [entry.code for entry in warnings] == ["unreadable_message"]


@pytest.mark.parametrize("bad", [b"\\u0000", b"\\udc00", b"\xff"])
def test_characters_that_are_no_text_are_replaced(bad: bytes) -> None:
    """NUL, lone surrogates and bytes that are no UTF-8 become U+FFFD, with a warning that names the message."""
    messages, warnings = read(io.BytesIO(b'[{"role": "user", "content": "a' + bad + b'b"}]'))
    assert messages[0].content == "a\ufffdb"
    assert [(entry.code, entry.detail[:10]) for entry in warnings] == [("replaced_characters", "Message 1 ")]


@given(count=st.integers(1, 5), data=st.data())
def test_a_truncated_file_gives_what_it_holds(count: int, data: st.DataObject) -> None:
    """Cut anywhere after its first message, a file gives every whole message before the cut, and a warning."""
    elements = [json.dumps(said(f"message {number}")) for number in range(count)]
    text = "[" + ", ".join(elements) + "]"
    cut = data.draw(st.integers(1 + len(elements[0]), len(text) - 1))
    messages, warnings = read(io.BytesIO(text[:cut].encode()))
    assert [message.content for message in messages] == [f"message {n}" for n in range(text[:cut].count("}"))]
    assert [entry.code for entry in warnings] == ["cut_short"]


@pytest.mark.parametrize("content", [b"[", b'[{"role": "us', b'{"messages": [', b"[1, 2]", b'[{"a": "b"}]'])
def test_a_file_with_nothing_readable_is_refused(content: bytes) -> None:
    """Truncated before its first message ends, or made of other things: there is nothing to import."""
    with pytest.raises(InvalidRequest, match="No message in the file can be read"):
        open_chat(io.BytesIO(content))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"messages": 5}', b'{"a": 1', b'"text"', b"{", b'{"messages"'])
def test_a_file_without_messages_is_refused(content: bytes) -> None:
    """Forced to be OpenAI's, a file without an array of messages is refused."""
    with pytest.raises(InvalidRequest, match=r"OpenAI messages|neither an array"):
        open_chat(io.BytesIO(content), format="openai")


@pytest.mark.parametrize("content", [b"[]", b'{"messages": []}'])
def test_an_empty_array_is_an_empty_chat(content: bytes) -> None:
    """No messages and no fault is a chat with no messages."""
    assert read(io.BytesIO(content)) == ([], [])


def test_memory_does_not_grow_with_the_file() -> None:
    """A file of 16 MB is read with less than 3 MB held at any time."""
    unit = json.dumps(said("x" * 300)).encode()
    stream = Repeated(unit + b",", 50_000, before=b"[", after=unit + b"]")
    chat = open_chat(stream)
    tracemalloc.start()
    try:
        count = sum(1 for _ in chat.messages)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (count, chat.warnings) == (stream.count + 1, [])
    assert peak < 3_000_000


def test_the_real_messages_are_read_whole() -> None:
    """900 speeches of a play come out with their speakers, and without a warning."""
    with real_play("play-openai.json") as stream:
        messages, warnings = read(stream)
    assert (len(messages), warnings) == (900, [])
    assert {message.name for message in messages if message.role is Role.USER} == {"GLOUCESTER"}
    assert all(message.content and message.name and not message.extra for message in messages)
