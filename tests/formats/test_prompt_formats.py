"""app.formats.prompt_formats: the same prompt for different APIs."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.formats.prompt_formats import OPENING, Said, needs_opening, write_prompt


def _call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "look", "arguments": arguments}}


def _calling(*ids: str, text: str | None = None) -> Said:
    return Said("assistant", text, tool_calls=[_call(one) for one in ids], speaker="Tom")


def _result(call_id: str, text: str = "A gate.") -> Said:
    return Said("tool", text, tool_call_id=call_id, speaker="Tool result")


SYSTEM, USER, REPLY = Said("system", "Be Tom."), Said("user", "Look!", speaker="Mira"), Said("assistant", "I do.")


def test_openai_messages_have_only_what_is_there() -> None:
    """Role and content; names where they are legal, calls and ids where there are some."""
    said = [SYSTEM, Said("user", "Look!", "Mira"), Said("user", "Hm.", "Mira B."), _calling("c1"), _result("c1")]
    assert write_prompt(said, "openai").messages == [
        {"role": "system", "content": "Be Tom."},
        {"role": "user", "content": "Look!", "name": "Mira"},
        {"role": "user", "content": "Hm."},
        {"role": "assistant", "content": None, "tool_calls": [_call("c1")]},
        {"role": "tool", "content": "A gate.", "tool_call_id": "c1"},
    ]


def test_a_text_is_lines_of_speakers() -> None:
    """System texts stand without a name; calls and results are told."""
    written = write_prompt([SYSTEM, USER, _calling("c1", text="Yes."), _result("c1")], "text")
    assert written.text == "Be Tom.\nMira: Look!\nTom: Yes. [calls look({})]\nTool result: A gate."
    assert written.messages == [{"role": "user", "content": written.text}]
    assert (write_prompt([], "text").text, write_prompt([], "text").messages) == ("", [])


def test_anthropic_keeps_system_apart() -> None:
    """One text as a string, several as blocks, none as null."""
    assert write_prompt([SYSTEM, USER], "anthropic").system == "Be Tom."
    blocks = write_prompt([SYSTEM, Said("system", "Memory."), USER], "anthropic").system
    assert blocks == [{"type": "text", "text": "Be Tom."}, {"type": "text", "text": "Memory."}]
    assert write_prompt([USER], "anthropic").system is None


def test_anthropic_joins_neighbours_of_one_role() -> None:
    """Later system messages are said by the user."""
    found = write_prompt([USER, Said("system", "Night falls."), REPLY, REPLY, USER], "anthropic").messages
    assert found == [
        {"role": "user", "content": "Look!\n\nNight falls."},
        {"role": "assistant", "content": "I do.\n\nI do."},
        {"role": "user", "content": "Look!"},
    ]


def test_anthropic_begins_with_the_user() -> None:
    """A greeting gets a message before it."""
    said = [SYSTEM, REPLY, USER]
    assert needs_opening(said)
    assert write_prompt(said, "anthropic").messages[0] == {"role": "user", "content": OPENING}
    assert needs_opening([SYSTEM, Said("user", " "), Said("assistant", "Hail.")])
    assert not needs_opening([SYSTEM, USER])
    assert not needs_opening([SYSTEM])


def test_openai_results_follow_their_call() -> None:
    """Whatever stood between goes behind them, as chat-completions APIs ask; what is in order stays so."""
    calling, other = _calling("a", "b"), _calling("c")
    said = [USER, calling, _result("b", "B."), USER, other, _result("a", "A."), REPLY, _result("c")]
    found = write_prompt(said, "openai").messages
    ids = [message.get("tool_call_id") for message in found]
    assert ids == [None, None, "b", "a", None, None, "c", None]
    ordered = [USER, calling, _result("a"), _result("b"), REPLY]
    assert [message["role"] for message in write_prompt(ordered, "openai").messages] == [one.role for one in ordered]


def test_a_call_has_one_result() -> None:
    """Two results of one call are joined; two calls of a message with one id are one call, the first."""
    said = [
        USER,
        _calling("k"),
        _result("k", "A gate."),
        _result("k", "A wall."),
        USER,
        _calling("k", "k"),
        _result("k"),
    ]
    found = write_prompt(said, "openai").messages
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "user", "assistant", "tool"]
    assert found[2]["content"] == "A gate.\n\nA wall."
    assert found[4]["tool_calls"] == [_call("k")]
    blocks = [block for message in write_prompt(said, "anthropic").messages for block in message["content"]]
    used = [block["id"] for block in blocks if isinstance(block, dict) and block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
    assert used == answered == ["k", "k-2"]


def test_anthropic_results_follow_their_call() -> None:
    """All of them, first in the user's next message, wherever they were said."""
    said = [USER, _calling("a", "b", text="So."), USER, _result("b", ""), REPLY, _result("a")]
    found = write_prompt(said, "anthropic").messages
    assert found[1]["content"] == [
        {"type": "text", "text": "So."},
        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
        {"type": "tool_use", "id": "b", "name": "look", "input": {}},
    ]
    assert found[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "b", "content": ""},
        {"type": "tool_result", "tool_use_id": "a", "content": "A gate."},
        {"type": "text", "text": "Look!"},
    ]
    assert found[3] == {"role": "assistant", "content": "I do."}


def test_anthropic_ids_are_legal_and_never_the_same() -> None:
    """Some servers count anew in every turn, and some write what Anthropic does not take."""
    said = [USER, _calling("call:1"), _result("call:1"), REPLY, USER, _calling("call:1"), _result("call:1")]
    blocks = [
        b for m in write_prompt(said, "anthropic").messages if isinstance(m["content"], list) for b in m["content"]
    ]
    assert [b.get("id") or b["tool_use_id"] for b in blocks] == ["call_1", "call_1", "call_1-2", "call_1-2"]


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"where": "north"}', {"where": "north"}),
        ("", {}),
        ("[1]", {"arguments": "[1]"}),
        ("not JSON", {"arguments": "not JSON"}),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}),
        ('{"a": "\\ud800"}', {"arguments": '{"a": "\\ud800"}'}),
        ('{"a":' * 150 + "1" + "}" * 150, {"arguments": '{"a":' * 150 + "1" + "}" * 150}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
    ids=["object", "none", "list", "text", "NaN", "surrogate", "deep", "endless"],
)
def test_anthropic_arguments_are_an_object(arguments: str, kept: dict[str, Any]) -> None:
    """What is none, or cannot be written as JSON again, is kept as the text it was."""
    said = [USER, Said("assistant", None, tool_calls=[_call("a", arguments)])]
    assert write_prompt(said, "anthropic").messages[1]["content"][0]["input"] == kept


texts = st.text(max_size=6)
ids = st.sampled_from("ab")
prompts = st.lists(
    st.one_of(
        st.builds(lambda role, text: Said(role, text), st.sampled_from(["user", "assistant", "system"]), texts),
        st.builds(_calling, ids),
        st.builds(_calling, ids, text=texts),
        st.builds(_result, ids),
    ),
    max_size=10,
)


@settings(max_examples=60)
@given(prompts)
def test_anthropic_takes_every_prompt(said: list[Said]) -> None:
    """Roles alternate, the user begins, nothing is empty, ids differ, and it can be written as JSON."""
    found = write_prompt(said, "anthropic").messages
    roles = [message["role"] for message in found]
    assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
    assert all(message["content"] for message in found)
    blocks = [block for message in found if isinstance(message["content"], list) for block in message["content"]]
    used = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert len(set(used)) == len(used)
    json.dumps(found, allow_nan=False)
