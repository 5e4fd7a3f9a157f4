"""The writers of other programs' files: SillyTavern's, the Summaryception extension's, OpenAI's."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.model import Role
from app.formats.given import GivenChat, GivenMessage, GivenSnippet
from app.formats.openai_writing import write_openai
from app.formats.sillytavern_marks import Marks, read_marks, write_marks
from app.formats.sillytavern_writing import write_sillytavern
from app.formats.summaryception_writing import write_store

WHEN = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
CHAT = GivenChat("Mira", "Tom", WHEN)
CALLS = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]


def said(role: Role = Role.ASSISTANT, content: str | None = "No.", **what: Any) -> GivenMessage:
    return GivenMessage(role, content, WHEN, **what)


def raw(message: GivenMessage) -> dict[str, Any]:
    """The line of SillyTavern's file for a message."""
    _, line = write_sillytavern(CHAT, None, [message])
    found: dict[str, Any] = json.loads(line)
    return found


def header(chat: GivenChat, memory: dict[str, Any] | None = None) -> dict[str, Any]:
    """The first line of SillyTavern's file."""
    [line] = write_sillytavern(chat, memory, [])
    found: dict[str, Any] = json.loads(line)
    return found


def openai(*messages: GivenMessage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads("".join(write_openai(messages)))["messages"]
    return found


def test_a_line_is_a_message_of_sillytavern() -> None:
    """Name, speaker, text and time stand where SillyTavern reads them."""
    assert raw(said(name="Ann")) == {
        **{"name": "Ann", "is_user": False, "is_system": False, "send_date": "2026-03-01T12:00:00.250Z"},
        **{"mes": "No.", "extra": {}},
    }


@pytest.mark.parametrize(
    ("role", "name"), [(Role.USER, "Mira"), (Role.ASSISTANT, "Tom"), (Role.SYSTEM, "System"), (Role.TOOL, "Tool")]
)
def test_a_message_without_a_name_gets_one(role: Role, name: str) -> None:
    """SillyTavern shows a name everywhere: it is the chat's for the role, and marked as given by us."""
    line = raw(said(role))
    assert (line["name"], line["is_user"]) == (name, role is Role.USER)
    assert line["extra"]["turnfold"]["given_name"] == name


def test_ghosted_and_hidden_are_told_apart() -> None:
    """Both are `is_system`; what a snippet stands for has the extension's mark, what a person hid has not."""
    ghosted, hidden = raw(said(name="A", ghosted=True)), raw(said(name="A", hidden=True))
    assert (ghosted["is_system"], ghosted["extra"]) == (True, {"sc_ghosted": True})
    assert (hidden["is_system"], hidden["extra"]) == (True, {})


def test_an_omitted_message_is_not_sent_there_either() -> None:
    """What is not replayed here is hidden there, and marked, so that it comes back as it was."""
    line = raw(said(name="A", omitted=True))
    assert (line["is_system"], line["extra"]) == (True, {"turnfold": {"history": "omit"}})


def test_what_an_import_kept_is_said_again() -> None:
    """Fields that we do not know stand where they stood, and the time is written as it was."""
    kept = {"send_date": "April 26, 2024 6:06am", "force_avatar": "tom.png", "extra": {"api": "x"}}
    line = raw(said(name="A", extra={"sillytavern": kept}))
    assert {name: line[name] for name in kept} == kept


def test_stale_marks_of_an_import_are_gone() -> None:
    """What was ghosted, hidden or said by others when it came in is not said again when it is not so now."""
    extra = {"sc_ghosted": True, "turnfold": {"pinned": True}, "type": "narrator", "api": "x"}
    kept = {"mes": "Old.", "is_system": True, "is_user": True, "name": "B", "extra": extra}
    line = raw(said(name="A", extra={"sillytavern": kept}))
    assert (line["mes"], line["is_system"], line["is_user"], line["name"]) == ("No.", False, False, "A")
    assert line["extra"] == {"api": "x"}


def test_narration_and_comments_stay_what_they_were() -> None:
    """A system message is a narrator's, unless it came in as a comment."""
    assert raw(said(Role.SYSTEM))["extra"]["type"] == "narrator"
    kept = {"sillytavern": {"extra": {"type": "comment"}}}
    assert raw(said(Role.SYSTEM, extra=kept))["extra"]["type"] == "comment"


def test_tools_are_marked() -> None:
    """Calls and results, which SillyTavern has no role for, are kept in the line; results are shown as narration."""
    call, result = raw(said(content=None, tool_calls=CALLS)), raw(said(Role.TOOL, "Shut.", tool_call_id="c1"))
    assert call["mes"] == ""
    assert call["extra"]["turnfold"] == {"wordless": True, "given_name": "Tom", "tool_calls": CALLS}
    assert result["extra"]["type"] == "narrator"
    assert result["extra"]["turnfold"] == {"role": "tool", "given_name": "Tool", "tool_call_id": "c1"}


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ({"swipes": ["No.", "Yes."], "swipe_id": 0}, (["No.", "Yes."], 0)),
        ({"swipes": ["Yes.", "No."], "swipe_id": 0}, (["Yes.", "No."], 1)),
        ({"swipes": ["Yes.", "Maybe."], "swipe_id": 1}, (["Yes.", "No."], 1)),
        ({"swipes": ["Yes."], "swipe_id": 7}, (["Yes.", "No."], 1)),
        ({"swipes": ["Yes."]}, (["Yes.", "No."], 1)),
        ({"swipes": [], "swipe_id": 0}, ([], 0)),
        ({"swipes": "Yes.", "swipe_id": 0}, ("Yes.", 0)),
    ],
)
def test_the_chosen_swipe_is_the_text(kept: dict[str, Any], expected: tuple[Any, int]) -> None:
    """Whatever was edited or chosen since, the swipe that is shown says what the message says; others stay."""
    line = raw(said(extra={"sillytavern": kept}))
    assert (line["swipes"], line["swipe_id"]) == expected


def test_the_header_is_the_chats() -> None:
    """Names, time and the metadata that came in, with the memory of now in place of an old one."""
    kept = {"create_date": "2026-3-1 @20h", "chat_metadata": {"note_prompt": "x", "summaryception": {"old": 1}}}
    chat = GivenChat("Mira", None, WHEN, {"sillytavern": {**kept, "user_name": "B", "more": 1}})
    assert header(chat, {"layers": []}) == {
        **{"user_name": "Mira", "character_name": "unused", "create_date": "2026-3-1 @20h", "more": 1},
        "chat_metadata": {"note_prompt": "x", "summaryception": {"layers": []}},
    }
    assert header(chat)["chat_metadata"] == {"note_prompt": "x"}
    assert header(CHAT)["create_date"] == "2026-03-01T12:00:00.250Z"


def test_the_store_is_the_extensions() -> None:
    """Every layer up to the deepest has its list; seeds, merges and what was made anew bear the original's marks."""
    snippets = [
        GivenSnippet(2, "All of it.", 0, 8, WHEN, seeded=True, merged=3, merged_from=0),
        GivenSnippet(0, "The gate.", 9, 11, WHEN, regenerated=True, extra={"detail": "x", "text": "Old."}),
        GivenSnippet(0, "The key.", 12, 14, WHEN),
    ]
    when = 1772366400250
    assert write_store(snippets, [0, 1, 14]) == {
        "layers": [
            [
                {"detail": "x", "text": "The gate.", "turnRange": [9, 11], "timestamp": when, "regenerated": True},
                {"text": "The key.", "turnRange": [12, 14], "timestamp": when},
            ],
            [],
            [
                {
                    **{"text": "All of it.", "turnRange": [0, 8], "timestamp": when},
                    **{"promoted": True, "seedFromLayer": 1, "fromLayer": 0, "mergedCount": 3},
                }
            ],
        ],
        "summarizedUpTo": 14,
        "ghostedIndices": [0, 1, 14],
    }


def test_no_memory_is_an_empty_store() -> None:
    """Nothing is summarized: the pointer stands before the first message."""
    assert write_store([], []) == {"layers": [], "summarizedUpTo": -1, "ghostedIndices": []}


def test_openai_messages_are_the_history() -> None:
    """Ghosted messages are there, hidden and omitted ones are not; names only where the format takes them."""
    found = openai(
        said(Role.SYSTEM, "Be brief."),
        said(Role.USER, "Hi.", name="Mira", ghosted=True),
        said(name="Ann Lee"),
        said(hidden=True),
        said(omitted=True),
        said(content=None, tool_calls=CALLS),
        said(Role.TOOL, "Shut.", tool_call_id="c1"),
    )
    assert found == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi.", "name": "Mira"},
        {"role": "assistant", "content": "No."},
        {"role": "assistant", "content": None, "tool_calls": CALLS},
        {"role": "tool", "content": "Shut.", "tool_call_id": "c1"},
    ]
    assert openai() == []


@given(
    st.builds(
        Marks,
        role=st.sampled_from([None, "tool"]),
        given_name=st.none() | st.text(min_size=1),
        tool_calls=st.sampled_from([None, CALLS]),
        tool_call_id=st.none() | st.text(min_size=1),
        extra=st.dictionaries(st.text(), st.integers()),
        **dict.fromkeys(("wordless", "pinned", "omitted", "hidden"), st.booleans()),
    )
)
def test_marks_come_back(marks: Marks) -> None:
    """What is written is read as it was."""
    assert read_marks(json.loads(json.dumps(write_marks(marks)))) == marks


@given(st.recursive(st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["role", "tool_calls", "given_name", "extra", "id", "history"]), inner)))  # fmt: skip
def test_marks_of_others_do_no_harm(value: Any) -> None:
    """Whatever stands in their place gives marks, of the kinds they have."""
    marks = read_marks(value)
    assert isinstance(marks.extra, dict)
    assert all(call["id"] for call in marks.tool_calls or [])


def test_an_id_comes_back_where_the_extension_gave_it() -> None:
    """What the extension sent, or a file brought with an id, has it in the file; a file without ids gets none."""
    plain: dict[str, Any] = {"sillytavern": {"send_date": "x"}}
    marked: dict[str, Any] = {"sillytavern": {"extra": {"turnfold": {"id": "old"}}}}
    ids = [raw(said(name="A", id="m1", extra=extra))["extra"] for extra in ({}, plain, marked)]
    assert ids == [{"turnfold": {"id": "m1"}}, {}, {"turnfold": {"id": "m1"}}]
