"""The prompt over HTTP: where its memory stands, its formats, and whose messages and tool calls are in it."""

from typing import Any

import pytest

from tests.support.service import Service

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"where": "north"}'}}


@pytest.fixture(scope="module")
def folded(service: Service) -> str:
    """A chat whose oldest turns are folded, with a tool's answer in its newest closed turn."""
    service.say("shaped", *range(1, 14))
    service.say("shaped", 14, 15)
    used = [
        {"role": "user", "content": "Look north.", "name": "Mira"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "A gate.", "tool_call_id": "c1"},
        {"role": "assistant", "content": "There is a gate.", "name": "Tom"},
    ]
    answer = service.post("/chats/shaped/messages", {"messages": used, "fold": "wait"})
    assert answer.status_code == 201, answer.text
    return "shaped"


def prompt(service: Service, chat: str, **options: Any) -> dict[str, Any]:
    """What a POST answers; a GET with the same options says the same."""
    answer = service.post(f"/chats/{chat}/projection", options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    query = {name: value for name, value in options.items() if name not in ("current", "omit_authors")}
    if query == options:
        assert service.get(f"/chats/{chat}/projection", params=query).json() == found
    return found


@pytest.mark.parametrize(
    ("placement", "place", "role"),
    [
        ("system_message", 1, "system"),
        ("user_message", 1, "user"),
        ("in_chat:0", -3, "system"),
        ("in_chat:4", -5, "system"),
        ("in_chat:9999", 1, "system"),
    ],
)
def test_the_memory_stands_in_a_message_of_its_own(
    service: Service, folded: str, placement: str, place: int, role: str
) -> None:
    """It is the same text everywhere and costs its message's eight tokens; all else is as it was."""
    current = [{"role": "user", "content": "And?"}, {"role": "assistant", "tool_calls": [CALL]}]
    current += [{"role": "tool", "content": "A wall.", "tool_call_id": "c1"}]
    options = {"system_prompt": "Be Tom.", "current": current}
    within = prompt(service, folded, **options)
    found = prompt(service, folded, **options, memory_placement=placement)
    memory = found["memory"]["text"]
    assert memory == within["memory"]["text"] != ""
    assert found["messages"][place] == {"role": role, "content": memory}
    rest = [message for message in found["messages"] if message["content"] != memory]
    assert rest == [{"role": "system", "content": "Be Tom."}, *within["messages"][1:]]
    assert found["tokens"]["memory"] == within["tokens"]["memory"] + 8 == found["memory"]["tokens"] + 8
    assert found["prefix_hash"] != within["prefix_hash"]


def test_a_depth_never_parts_a_call_from_its_result(service: Service, folded: str) -> None:
    """Two messages from the end lies between them: the memory stands before the call."""
    for depth, place in ((1, -2), (2, -4), (3, -4), (4, -5)):
        found = prompt(service, folded, memory_placement=f"in_chat:{depth}")
        assert found["messages"][place]["content"] == found["memory"]["text"]


def test_the_same_memory_gives_the_same_bytes(service: Service, folded: str) -> None:
    """Asked again, in any place."""
    for placement in ("system_end", "system_message", "user_message", "in_chat:2"):
        query = {"memory_placement": placement}
        answers = {service.get(f"/chats/{folded}/projection", params=query).content for _ in range(2)}
        assert len(answers) == 1


def test_a_chat_may_place_its_memory(service: Service, chat: str) -> None:
    """The setting holds where the request says nothing."""
    service.say(chat, *range(1, 14))
    service.patch(f"/chats/{chat}", {"settings": {"memory_placement": "user_message"}})
    found = prompt(service, chat)
    assert found["messages"][0] == {"role": "user", "content": found["memory"]["text"]}
    assert found["tokens"]["system"] == 0
    assert prompt(service, chat, memory_placement="system_end")["messages"][0]["role"] == "system"


def test_the_anthropic_format(service: Service, folded: str) -> None:
    """System apart, roles that alternate, calls and results as blocks, the same tokens."""
    plain = prompt(service, folded, system_prompt="Be Tom.")
    found = prompt(service, folded, system_prompt="Be Tom.", format="anthropic")
    assert found["system"] == plain["messages"][0]["content"]
    assert found["tokens"] == plain["tokens"]
    roles = [message["role"] for message in found["messages"]]
    assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
    assert found["messages"][-3]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"where": "north"}}
    ]
    assert found["messages"][-2]["content"] == [{"type": "tool_result", "tool_use_id": "c1", "content": "A gate."}]
    apart = prompt(service, folded, system_prompt="Be Tom.", format="anthropic", memory_placement="system_message")
    assert [block["text"] for block in apart["system"]] == ["Be Tom.", plain["memory"]["text"]]


def test_a_greeting_gets_a_message_before_it(service: Service, chat: str) -> None:
    """Anthropic's API begins with the user; what is made up is counted."""
    greeting = [{"role": "assistant", "content": "Welcome!"}, {"role": "user", "content": "Hello."}]
    service.post(f"/chats/{chat}/messages", {"messages": greeting})
    plain, found = prompt(service, chat), prompt(service, chat, format="anthropic")
    assert [message["role"] for message in found["messages"]] == ["user", "assistant", "user"]
    assert found["tokens"]["system"] > plain["tokens"]["system"] == 0
    assert found["system"] is None


def test_the_text_format(service: Service, folded: str) -> None:
    """One text: system, memory, and lines that say whose they are."""
    service.put(f"/chats/{folded}", {"user_name": "Mira", "character_name": "Tom"})
    found = prompt(service, folded, system_prompt="Be Tom.", format="text", names="prefix")
    lines = found["text"].splitlines()
    assert lines[0] == "Be Tom."
    assert found["memory"]["text"] in found["text"]
    assert lines[-4:] == [
        "Mira: Look north.",
        'Tom: [calls look({"where": "north"})]',
        "Tool result: A gate.",
        "Tom: There is a gate.",
    ]
    assert found["messages"] == [{"role": "user", "content": found["text"]}]
    service.put(f"/chats/{folded}", {"user_name": None, "character_name": None})


def test_past_tool_calls_may_stay_away(service: Service, folded: str) -> None:
    """Both halves are omitted without a warning; the current turn keeps its own."""
    current = [{"role": "user", "content": "And?"}, {"role": "assistant", "tool_calls": [CALL]}]
    current += [{"role": "tool", "content": "A wall.", "tool_call_id": "c1"}]
    found = prompt(service, folded, tool_history="omit", current=current)
    assert [message["role"] for message in found["messages"][-5:]] == ["user", "assistant", "user", "assistant", "tool"]
    assert found["left_out"][-1] == {"first_index": 31, "last_index": 32, "reason": "omitted"}
    assert "orphaned_tool_messages" not in {warning["code"] for warning in found["warnings"]}


def test_results_without_a_call_are_not_sent(service: Service, chat: str) -> None:
    """Not even those of the request; a stored call that waits is answered by it."""
    orphan = {"role": "tool", "content": "A wall.", "tool_call_id": "c1"}
    service.post(f"/chats/{chat}/messages", {"messages": [{"role": "user", "content": "Look."}]})
    found = prompt(service, chat, current=[orphan])
    assert [message["role"] for message in found["messages"]] == ["user"]
    assert found["tokens"]["total"] == found["tokens"]["current"] < 15
    assert "orphaned_tool_messages" in {warning["code"] for warning in found["warnings"]}
    waiting = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    service.post(f"/chats/{chat}/messages", {"messages": [waiting], "fold": "none"})
    found = prompt(service, chat, current=[orphan])
    assert [message["role"] for message in found["messages"]] == ["user", "assistant", "tool"]
    assert "orphaned_tool_messages" not in {warning["code"] for warning in found["warnings"]}


def test_authors_may_stay_away(service: Service, chat: str) -> None:
    """By the name a message bears, or by the chat's for who bears none; the request's own messages are sent."""
    service.put(f"/chats/{chat}", {"user_name": "Mira", "character_name": "Tom"})
    lines = [
        {"role": "user", "content": "One."},
        {"role": "assistant", "content": "Two.", "name": "Narrator"},
        {"role": "user", "content": "Three.", "name": "Anna"},
        {"role": "assistant", "content": "Four."},
    ]
    service.post(f"/chats/{chat}/messages", {"messages": lines, "fold": "none"})
    current = [{"role": "user", "content": "Five.", "name": "Anna"}]

    def said(*authors: str) -> list[str]:
        found = prompt(service, chat, omit_authors=list(authors), names="none", current=current)
        return [message["content"].rstrip(".") for message in found["messages"]]

    assert said() == ["One", "Two", "Three", "Four", "Five"]
    assert said("Narrator", "Mira") == ["Three", "Four", "Five"]
    assert said("Anna") == ["One", "Two", "Four", "Five"]
    assert said("Mira", "Narrator", "Anna", "Tom") == ["Five"]
    found = prompt(service, chat, omit_authors=["Tom", "Nobody"], current=current)
    assert found["left_out"] == [{"first_index": 3, "last_index": 3, "reason": "omitted"}]
