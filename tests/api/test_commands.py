"""Slash commands over HTTP."""

import sqlite3
from contextlib import closing
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


def test_every_command_is_listed(service: Service, chat: str) -> None:
    """`GET /v1/commands` names the commands of /sc-help, with what may follow them."""
    service.put(f"/chats/{chat}", {})
    listed = service.get("/commands").json()
    told = service.post(f"/chats/{chat}/commands", {"command": "/sc-help"}).json()
    assert {item["name"]: item["help"] for item in listed["items"]} == told["data"]["commands"]
    assert {item["name"]: item["arguments"] for item in listed["items"]}["/sc-backlog"] == "all | one | skip"
    assert listed["next_cursor"] is None


def test_repair_looks_before_it_mends(service: Service, chat: str) -> None:
    """/sc-repair says what is wrong and leaves it; /sc-repair now puts it right; afterwards nothing is wrong."""
    service.say(chat, 1, 2, fold="none")
    with closing(sqlite3.connect(service.database)) as database, database:
        database.execute("UPDATE messages SET closes = 0 WHERE id = 'a1' AND chat_key = (SELECT max(key) FROM chats)")
    for _ in range(2):
        looked = service.post(f"/chats/{chat}/commands", {"command": "/sc-repair"}).json()
        assert [finding["fixed"] for finding in looked["data"]["findings"]] == [False]
        assert looked["text"].endswith("/sc-repair now puts right what has one right fix.")
    mended = service.post(f"/chats/{chat}/commands", {"command": "/sc-repair now"}).json()
    assert [finding["fixed"] for finding in mended["data"]["findings"]] == [True]
    assert "(put right)" in mended["text"]
    assert service.post(f"/chats/{chat}/commands", {"command": "/sc-repair"}).json()["text"] == "Nothing is wrong."
    assert service.post(f"/chats/{chat}/commands", {"command": "/sc-repair all"}).status_code == 422


@pytest.mark.parametrize(
    ("line", "message"), [("/sc-pin", "a2"), ("/sc-pin 0", "u1"), ("/sc-pin 3", "a2"), ("/sc-pin  1 ", "a1")]
)
def test_a_message_is_pinned_by_its_number(service: Service, chat: str, line: str, message: str) -> None:
    """/sc-pin takes the number a frontend counts by, or the newest message; with off the pin goes again."""
    service.say(chat, 1, 2, fold="none")
    pinned = service.post(f"/chats/{chat}/commands", {"command": line}).json()
    assert (pinned["data"]["id"], pinned["data"]["pinned"]) == (message, True)
    assert service.status(chat)["counts"]["pinned"] == 1
    off = service.post(f"/chats/{chat}/commands", {"command": f"{line} off"}).json()
    assert (off["data"]["id"], off["data"]["pinned"]) == (message, False)


@pytest.mark.parametrize("words", ["4", "x", "-1", "1 on", "1 2", "99999999999999999999999", "٣x"])
def test_a_pin_of_no_message_is_refused(service: Service, chat: str, words: str) -> None:
    """A number without a message, and what is no number, are a 422 that says so."""
    service.say(chat, 1, 2, fold="none")
    answer = service.post(f"/chats/{chat}/commands", {"command": f"/sc-pin {words}"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_there_is_nothing_to_pin_in_an_empty_chat(service: Service, chat: str) -> None:
    """A chat without messages says so."""
    service.put(f"/chats/{chat}", {})
    assert service.post(f"/chats/{chat}/commands", {"command": "/sc-pin"}).status_code == 422
