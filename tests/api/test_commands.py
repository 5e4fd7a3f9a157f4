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
