"""The windows of views over HTTP, when messages around their beginning are deleted, hidden or shown again."""

from typing import Any

import pytest

from tests.support.service import Service


@pytest.fixture
def told(service: Service, chat: str) -> str:
    """A chat of ten turns with a view that has dropped the oldest."""
    service.put(f"/chats/{chat}", {"strategy": "none"})
    service.say(chat, *range(1, 11), fold="none")
    service.put(f"/chats/{chat}/views/reply", {"context_size": 300, "max_tokens": 50})
    return chat


def post(service: Service, chat: str, **body: Any) -> dict[str, Any]:
    """What a good POST answers."""
    answer = service.post(f"/chats/{chat}/projection", {"view": "reply", **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def around(found: dict[str, Any]) -> tuple[int, int]:
    """The numbers of the last turn dropped and the first one sent."""
    first = found["window"]["first_index"] // 2
    return first, first + 1


@pytest.mark.parametrize("change", [None, {"hidden": True}, {"history": "omit"}, {"content": " "}])
def test_a_dropped_line_never_comes_back(service: Service, told: str, change: dict[str, Any] | None) -> None:
    """A dropped turn that loses its reply becomes one with the window's first turn, which then is dropped with it."""
    kept = post(service, told)
    last, _ = around(kept)
    path = f"/chats/{told}/messages/a{last}"
    answer = service.patch(path, change) if change else service.http.delete(f"/v1{path}")
    assert answer.status_code in (200, 204)
    found = post(service, told, context_size=5000)
    assert found["messages"] == kept["messages"][2:]
    assert post(service, told, context_size=5000)["window"] == found["window"]


def test_a_turn_that_was_hidden_meanwhile_is_sent_again(service: Service, told: str) -> None:
    """No budget dropped it; what was dropped before it stays away."""
    kept = post(service, told)
    last, first = around(kept)
    for hidden in (True, False):
        for number in (first, last):
            for name in (f"u{number}", f"a{number}"):
                service.patch(f"/chats/{told}/messages/{name}", {"hidden": hidden})
        found = post(service, told)
        assert found["messages"] == (kept["messages"][2:] if hidden else kept["messages"])


def test_deleting_the_windows_first_turns_is_an_edit(service: Service, told: str) -> None:
    """Nothing was trimmed."""
    _, first = around(post(service, told))
    for number in range(1, first + 1):
        for name in (f"u{number}", f"a{number}"):
            service.http.delete(f"/v1/chats/{told}/messages/{name}")
    found = post(service, told)
    assert (found["left_out"], found["window"]["dropped_turns"], found["prefix_changed_by"]) == ([], 0, "edit")
