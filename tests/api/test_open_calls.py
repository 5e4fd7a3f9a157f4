"""Over HTTP: the stored tool calls that wait for a result, and what a budget does to half a pair."""

from typing import Any

import pytest

from tests.support.service import Service

CALL: dict[str, Any] = {"id": "k", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKED: list[dict[str, Any]] = [
    {"role": "user", "content": "Look."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
]
SAID: dict[str, Any] = {"role": "assistant", "content": "No idea."}
NEXT: dict[str, Any] = {"role": "user", "content": "Next?"}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "k", "content": "A gate."}


def record(service: Service, chat: str, messages: list[dict[str, Any]]) -> None:
    """Append without folding."""
    assert service.post(f"/chats/{chat}/messages", {"messages": messages, "fold": "none"}).status_code == 201


def prompt(service: Service, chat: str, **options: Any) -> dict[str, Any]:
    """What a good POST answers."""
    answer = service.post(f"/chats/{chat}/projection", options)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("stored", "current", "roles"),
    [
        ([], [], ["user", "assistant"]),
        ([NEXT], [], ["user", "user"]),
        ([SAID], [NEXT], ["user", "assistant", "user"]),
        ([], [NEXT], ["user", "user"]),
        ([], [RESULT], ["user", "assistant", "tool"]),
        ([], [RESULT, NEXT], ["user", "assistant", "tool", "user"]),
        ([{**RESULT, "hidden": True}, SAID], [], ["user", "assistant"]),
        ([RESULT], [NEXT], ["user", "assistant", "tool", "user"]),
    ],
    ids=["waits", "forgotten", "told", "asked on", "answered", "answered, asked on", "hidden", "stored"],
)
def test_a_call_waits_while_nothing_but_its_results_follows(
    service: Service, chat: str, stored: list[dict[str, Any]], current: list[dict[str, Any]], roles: list[str]
) -> None:
    """Else it is an orphan: chat APIs refuse a call that something else follows."""
    hidden = [index for index, message in enumerate(stored, 2) if message.get("hidden")]
    named = [{"id": f"m{index}", **message} for index, message in enumerate([*ASKED, *stored])]
    record(service, chat, [{name: one[name] for name in one if name != "hidden"} for one in named])
    for index in hidden:
        assert service.patch(f"/chats/{chat}/messages/m{index}", {"hidden": True}).status_code == 200
    found = prompt(service, chat, current=current)
    assert [message["role"] for message in found["messages"]] == roles
    called = any(message.get("tool_calls") for message in found["messages"])
    torn = "orphaned_tool_messages" in [warning["code"] for warning in found["warnings"]]
    assert torn != called


def test_a_result_of_a_call_that_is_not_sent_is_not_sent_either(service: Service, chat: str) -> None:
    """A request that answers one of two calls and asks on: neither half goes out."""
    both = {**ASKED[1], "tool_calls": [CALL, {**CALL, "id": "other"}]}
    record(service, chat, [ASKED[0], both])
    found = prompt(service, chat, current=[RESULT, NEXT])
    assert [message["role"] for message in found["messages"]] == ["user", "user"]
    waiting = prompt(service, chat, current=[RESULT])
    assert [message["role"] for message in waiting["messages"]] == ["user", "assistant", "tool"]


def test_a_pinned_result_goes_with_its_call(service: Service, chat: str) -> None:
    """The turns after it fit, and are sent."""
    service.put(f"/chats/{chat}", {"strategy": "none"})
    pinned = {**RESULT, "content": "stone " * 900, "pinned": True}
    record(service, chat, [*ASKED, pinned, SAID])
    service.say(chat, 1, 2, 3, fold="none")
    found = prompt(service, chat, context_size=900, max_tokens=100)
    assert (found["window"]["turns"], found["window"]["dropped_turns"]) == (3, 1)
    assert [part["reason"] for part in found["left_out"]] == ["trimmed", "orphan", "trimmed"]
