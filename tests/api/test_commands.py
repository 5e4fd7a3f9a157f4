"""Slash commands over HTTP."""

from typing import Any

import pytest

from tests.support.service import Service


def test_a_command_answers_people_and_programs(service: Service, chat: str) -> None:
    """`text` is for people, `data` is what the matching call answers."""
    service.say(chat, *range(1, 14))
    answer = service.post(f"/chats/{chat}/commands", {"command": "/sc-status"})
    assert answer.status_code == 200
    found = answer.json()
    assert found.keys() == {"text", "data"}
    assert "Messages: 26" in found["text"]
    assert found["data"] == service.status(chat)


def test_a_search_answers_people_and_programs(service: Service, chat: str) -> None:
    """/sc-search lists hits one a line, and gives those of the matching call; no words are a 422."""
    service.say(chat, 1, 2, fold="none")
    found = service.post(f"/chats/{chat}/commands", {"command": "/sc-search brass key"}).json()
    assert found["text"].splitlines() == [
        "Message 3: Tom opens gate 2 with the brass key.",
        "Message 1: Tom opens gate 1 with the brass key.",
    ]
    assert found["data"] == service.get(f"/chats/{chat}/search", params={"q": "brass key"}).json()
    nothing = service.post(f"/chats/{chat}/commands", {"command": "/sc-search 东京"}).json()
    assert nothing == {"text": "Nothing found.", "data": {"items": [], "next_cursor": None}}
    assert service.post(f"/chats/{chat}/commands", {"command": "/sc-search"}).status_code == 422


@pytest.mark.parametrize(
    "body", [{"command": "/sc-fly"}, {"command": ""}, {"command": "a\0"}, {"command": 5}, {}, None]
)
def test_what_is_no_command_is_refused(service: Service, chat: str, body: Any) -> None:
    """An unknown command, and no command at all, are a 422."""
    service.put(f"/chats/{chat}", {})
    answer = service.post(f"/chats/{chat}/commands", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_a_command_needs_a_chat(service: Service, chat: str) -> None:
    """An unknown chat is a 404."""
    assert service.post(f"/chats/{chat}/commands", {"command": "/sc-status"}).status_code == 404
