"""app.formats.sillytavern: chat files of SillyTavern, whole and damaged."""

import json
import tracemalloc
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.limits import MAX_CONTENT_BYTES
from app.core.model import Role
from app.errors import InvalidRequest
from app.formats.parsed import MAX_RECORD_CHARS
from app.formats.recognize import open_chat
from app.formats.sillytavern import mark_of
from tests.formats.files import HEADER, Repeated, jsonl, line, read, real_play


def test_a_solo_chat_is_read_whole() -> None:
    """Header and messages give names, id, roles, texts and times."""
    chat = open_chat(jsonl(HEADER, line("Hello.", send_date=1714111560000), line("Hi.", name="Mira", user=True)))
    assert (chat.title, chat.user_name, chat.character_name, chat.chat_id) == ("Tom", "Mira", "Tom", "7b0f1d6a")
    first, second = chat.messages
    assert (first.role, first.name, first.content) == (Role.ASSISTANT, "Tom", "Hello.")
    assert first.created_at == datetime(2024, 4, 26, 6, 6, tzinfo=UTC)
    assert (second.role, second.name, second.created_at) == (Role.USER, "Mira", None)
    assert chat.warnings == []


def test_names_come_from_the_speakers_where_the_header_has_none() -> None:
    """Newer versions write "unused" for both names."""
    header = {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"}
    chat = open_chat(jsonl(header, line(), line(name="Mira", user=True), line(is_system=True, name="System")))
    assert (chat.user_name, chat.character_name) == ("Mira", "Tom")
    assert len(list(chat.messages)) == 3


def test_a_group_chat_without_header_has_no_character() -> None:
    """Several speakers are no one's chat; the user still has a name, and every message its speaker's."""
    chat = open_chat(jsonl(line(), line(name="Mira", user=True), line(name="Ann")))
    assert (chat.title, chat.user_name, chat.character_name) == (None, "Mira", None)
    assert [message.name for message in chat.messages] == ["Tom", "Mira", "Ann"]


def test_a_file_with_no_message_yet_is_an_empty_chat() -> None:
    """A header alone is a chat that has just been begun."""
    assert read(jsonl(HEADER)) == ([], [])


def test_what_a_person_hid_is_hidden() -> None:
    """`is_system` without the extension's mark is a person's doing, and keeps the speaker's role."""
    messages, warnings = read(jsonl(line(is_system=True), line(is_system=True, user=True)))
    assert [(message.hidden, message.role) for message in messages] == [(True, Role.ASSISTANT), (True, Role.USER)]
    assert warnings == []


def test_what_the_extension_ghosted_is_not_hidden() -> None:
    """The extension's mark says that no person hid it; whether a summary covers it is for the import to find out."""
    ghost: dict[str, Any] = {"is_system": True, "extra": {"sc_ghosted": True, "api": "x"}}
    messages, warnings = read(jsonl(line(**ghost), line(is_system=True, extra={"sc_ghosted": "yes"}), line()))
    assert [(message.hidden, message.ghosted) for message in messages] == [(False, True), (True, False), (False, False)]
    assert messages[0].extra == {"sillytavern": {"extra": {"api": "x"}}}
    assert warnings == []


def test_places_count_what_could_not_be_read() -> None:
    """A memory counts lines, so a message's place counts broken lines before it, but neither header nor blank lines."""
    lines: list[Any] = [HEADER, line("0"), b"broken", b" ", line("2"), {"name": "no text"}, line("4")]
    assert [message.file_index for message in read(jsonl(*lines))[0]] == [0, 2, 4]
    assert [message.file_index for message in read(jsonl(*lines[1:]))[0]] == [0, 2, 4]


@pytest.mark.parametrize(("broken", "first"), [(b'{"user_name": "Mi', 0), (b'{"name": "Tom", "mes": "Hel', 1)])
def test_a_broken_first_line_is_a_header_or_a_message(broken: bytes, first: int) -> None:
    """What can still be seen of it tells whether places begin after it or with it."""
    assert [message.file_index for message in read(jsonl(broken, line()))[0]] == [first]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"swipes": ["a", "b"], "swipe_id": 1}, "b"),
        ({"mes": None, "swipes": ["a", "b"]}, "a"),
        ({"mes": "", "swipes": ["a"], "swipe_id": 0}, ""),
        ({"mes": "c", "swipes": ["a", "b"], "swipe_id": 1}, "c"),
        ({"swipes": ["a"], "swipe_id": 1}, None),
        ({"swipes": ["a"], "swipe_id": "0"}, None),
        ({"swipes": [None], "swipe_id": 0}, None),
        ({"swipes": {}, "swipe_id": 0}, None),
    ],
)
def test_the_chosen_swipe_stands_for_a_missing_text(fields: dict[str, Any], text: str | None) -> None:
    """A message without a text says what its chosen swipe says, and is skipped if that is missing too."""
    messages, warnings = read(jsonl(line("before"), {"name": "Tom", **fields}))
    assert [message.content for message in messages[1:]] == ([] if text is None else [text])
    assert len(warnings) == (text is None)


def test_the_name_a_fork_gave_a_message() -> None:
    """`sc_id` is what a memory knows the message by; it can be read back from what is kept."""
    messages, _ = read(jsonl(line(extra={"sc_id": "m-1"}), line(extra={"sc_id": 5}), line(extra="no object")))
    assert [message.mark for message in messages] == ["m-1", None, None]
    assert [mark_of(message.extra) for message in messages] == ["m-1", None, None]
    assert messages[0].id is None


def test_the_header_is_kept_for_an_export() -> None:
    """All of it but the names, which are the chat's, and the memory, which becomes snippets."""
    metadata = {"integrity": "7b0f", "note_prompt": "n", "summaryception": {"layers": []}}
    chat = open_chat(jsonl({**HEADER, "chat_metadata": metadata, "odd": 1}, line()))
    assert chat.extra == {
        "sillytavern": {
            "create_date": HEADER["create_date"],
            "chat_metadata": {"integrity": "7b0f", "note_prompt": "n"},
            "odd": 1,
        }
    }
    assert open_chat(jsonl(line())).extra == {}


def test_the_header_brings_the_memory() -> None:
    """The extension's store stands in the chat's metadata."""
    store = {"layers": [[{"text": "Mira finds the gate.", "turnRange": [0, 1]}]], "summarizedUpTo": 1}
    chat = open_chat(jsonl({**HEADER, "chat_metadata": {"summaryception": store}}, line(), line()))
    assert chat.memory is not None
    assert [snippet.text for snippet in chat.memory.snippets] == ["Mira finds the gate."]
    assert open_chat(jsonl(HEADER, line())).memory is None


@pytest.mark.parametrize("metadata", [None, [], "x", {"summaryception": None}, {"summaryception": []}])
def test_a_header_without_memory_is_no_trouble(metadata: Any) -> None:
    """Whatever stands in the memory's place, the chat is read; what can be no memory is told."""
    chat = open_chat(jsonl({**HEADER, "chat_metadata": metadata}, line()))
    assert (chat.memory, len(list(chat.messages))) == (None, 1)
    assert [entry.code for entry in chat.warnings] == ["unreadable_memory"] * (metadata == {"summaryception": []})


def test_narration_is_a_system_message() -> None:
    """What /sys wrote has the role in which SillyTavern sends it, and /comment is a hidden one."""
    narration = line("Night falls.", extra={"type": "narrator"})
    comment = line("Nice scene!", is_system=True, extra={"type": "comment"})
    messages, _ = read(jsonl(narration, comment))
    assert [(message.role, message.hidden) for message in messages] == [(Role.SYSTEM, False), (Role.SYSTEM, True)]


def test_unknown_fields_are_kept_for_an_export() -> None:
    """Everything but what the message itself says is kept under the names SillyTavern gave it."""
    rest: dict[str, Any] = {
        "send_date": "April 26, 2024 6:06am",
        "swipes": ["Hello.", "Go away."],
        "swipe_id": 0,
        "force_avatar": "tom.png",
        "extra": {"api": "x", "sc_id": "m-1"},
    }
    messages, _ = read(jsonl(line(**rest)))
    assert messages[0].extra == {"sillytavern": rest}


@pytest.mark.parametrize(
    "broken", [b'{"name": "Tom", "mes": "Hel', b"[1]", b'{"name": "Tom"}', b'{"mes": null}', b"\0" * 40, b"[" * 99999]
)
def test_a_corrupt_line_costs_only_itself(broken: bytes) -> None:
    """What stands before and after a broken line is read, and a warning names the line."""
    messages, warnings = read(jsonl(HEADER, line("before"), b"", broken, line("after")))
    assert [message.content for message in messages] == ["before", "after"]
    assert [entry.code for entry in warnings] == ["corrupt_line"]
    assert warnings[0].detail.startswith("Line 4 ")


def test_a_corrupt_first_line_does_not_hide_the_chat() -> None:
    """A file whose header is damaged is still recognized."""
    messages, warnings = read(jsonl(b'{"user_name": "Mi', line("a"), b"#", line("b")))
    assert [message.content for message in messages] == ["a", "b"]
    assert [entry.detail[:7] for entry in warnings] == ["Line 1 ", "Line 3 "]


@pytest.mark.parametrize("bad", [b"\\u0000", b"\0", b"\\ud800", b"\xff", b"\xed\xa0\x80"])
def test_characters_that_are_no_text_are_replaced(bad: bytes) -> None:
    """NUL, lone surrogates and bytes that are no UTF-8 become U+FFFD, with a warning that names the line."""
    messages, warnings = read(jsonl(line("fine"), b'{"mes": "a' + bad + b'b"}'))
    assert set(messages[1].content or "") == {"a", "\ufffd", "b"}
    assert [(entry.code, entry.detail[:7]) for entry in warnings] == [("replaced_characters", "Line 2 ")]


def test_a_text_over_the_limit_is_skipped() -> None:
    """A message holds up to 1 MiB of text; one with more is left out with a warning."""
    messages, warnings = read(jsonl(line("x" * MAX_CONTENT_BYTES), line("x" * (MAX_CONTENT_BYTES + 1)), line()))
    assert len(messages) == 2
    assert [(entry.code, entry.detail[:7]) for entry in warnings] == [("too_long", "Line 2 ")]


def test_line_ends_and_marks_of_windows_are_read() -> None:
    """A BOM, CRLF and blank lines change nothing."""
    raw = jsonl(HEADER, line("a"), b"  ", line("b")).read().replace(b"\n", b"\r\n")
    messages, warnings = read(jsonl(b"\xef\xbb\xbf" + raw + b"\r\n\r\n"))
    assert ([message.content for message in messages], warnings) == (["a", "b"], [])


def test_nothing_readable_is_an_error() -> None:
    """A file forced to be SillyTavern's without one readable line is refused with the first reason."""
    with pytest.raises(InvalidRequest, match="Line 1 "):
        open_chat(jsonl(b"nothing", b"here"), format="sillytavern")


@given(
    records=st.lists(
        st.fixed_dictionaries(
            {"mes": st.text()},
            optional={
                "name": st.text() | st.integers(),
                "is_user": st.booleans() | st.none(),
                "is_system": st.booleans() | st.text(),
                "send_date": st.text() | st.integers() | st.floats(),
                "extra": st.none() | st.dictionaries(st.sampled_from(["type", "sc_ghosted", "x"]), st.lists(st.text())),
            },
        ),
        min_size=1,
    )
)
def test_every_object_with_a_text_is_a_message(records: list[dict[str, Any]]) -> None:
    """Whatever the other fields hold, a line with a text becomes a message with that text."""
    messages, _ = read(jsonl(*records))
    assert [message.content for message in messages] == [record["mes"].replace("\0", "\ufffd") for record in records]


def test_a_line_without_end_is_skipped_in_bounded_memory() -> None:
    """A line of 48 MB is never held whole, and the lines around it are read."""
    edge = json.dumps(line()).encode()
    endless = Repeated(b"x" * 65536, 768, before=edge + b"\n", after=b"\n" + edge)
    tracemalloc.start()
    try:
        messages, warnings = read(endless)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(messages) == 2
    assert [(entry.code, entry.detail[:7]) for entry in warnings] == [("too_long", "Line 2 ")]
    assert peak < 3 * MAX_RECORD_CHARS


def test_memory_does_not_grow_with_the_file() -> None:
    """A file of 16 MB is read with less than 2 MB held at any time."""
    stream = Repeated(json.dumps(line("x" * 250)).encode() + b"\n", 50_000)
    chat = open_chat(stream)
    tracemalloc.start()
    try:
        count = sum(1 for _ in chat.messages)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == stream.count
    assert peak < 2_000_000


def test_the_real_group_chat_is_read_whole() -> None:
    """1,100 speeches of a play come out with their speakers, and without a warning."""
    with real_play("play-group-chat.jsonl") as stream:
        chat = open_chat(stream)
        messages = list(chat.messages)
    assert (len(messages), chat.warnings) == (1100, [])
    assert {message.name for message in messages if message.role is Role.USER} == {chat.user_name} == {"MENENIUS"}
    assert all(message.created_at and message.content and message.name for message in messages)
    assert Counter(message.role for message in messages).keys() == {Role.USER, Role.ASSISTANT}


def test_our_own_names_outlive_a_save() -> None:
    """SillyTavern writes other names into the header when it saves a chat; those that an export noted hold."""
    ours = {"title": "The gate", "user_name": "Mira", "character_name": "Tom"}
    header = {
        "user_name": "unused",
        "character_name": "Seraphina",
        "chat_metadata": {"turnfold": ours, "note_prompt": "x"},
    }
    chat = open_chat(jsonl(header, line("Hello.")))
    assert (chat.title, chat.user_name, chat.character_name) == ("The gate", "Mira", "Tom")
    assert chat.extra["sillytavern"]["chat_metadata"] == {"note_prompt": "x"}


def test_a_message_keeps_the_id_the_extension_gave_it() -> None:
    """`extra.turnfold.id` is the message's id, so that the extension finds it again; what is no id is left."""
    marked = line(extra={"turnfold": {"id": "tf1"}, "api": "x"})
    messages, warnings = read(jsonl(marked, line(extra={"turnfold": {"id": "a/b"}}), line(extra={"turnfold": 7})))
    assert [message.id for message in messages] == ["tf1", None, None]
    assert messages[0].extra == {"sillytavern": {"extra": {"api": "x", "turnfold": {"id": "tf1"}}}}
    assert warnings == []
