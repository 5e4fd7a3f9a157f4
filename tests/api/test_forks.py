"""Forks over HTTP."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.service import Service, turn_lines

SMALL = {"layered": {"verbatim_turns": 2, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}}


def told(service: Service, chat: str, turns: int) -> None:
    """A chat of so many turns with a small window."""
    service.put(f"/chats/{chat}", {"title": "The gate", "settings": {**SMALL, "on_backlog": "all"}})
    service.say(chat, *range(1, turns + 1))


def listed(service: Service, chat: str, what: str = "messages") -> list[dict[str, Any]]:
    """A chat's messages or live snippets."""
    answer = service.get(f"/chats/{chat}/{what}", params={"limit": 1000})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_a_fork_is_a_new_chat(service: Service, chat: str) -> None:
    """201 with the chat, its Location and ETag; history and memory up to the message came along, but no job."""
    told(service, chat, 9)
    answer = service.post(f"/chats/{chat}/fork", {"id": f"{chat}-b", "at_message_id": "a6"})
    fork = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/chats/{chat}-b")
    read = service.http.get(answer.headers["location"])
    assert (read.json(), read.headers["etag"]) == (fork, answer.headers["etag"])
    assert (fork["parent_chat_id"], fork["forked_at_message_id"], fork["memory_version"]) == (chat, "a6", 1)
    assert (fork["title"], fork["counts"]["messages"], fork["counts"]["ghosted"]) == ("The gate", 12, 8)
    inside = [one for one in listed(service, chat, "snippets") if one["covers"]["last_index"] < 8]
    texts = [one["text"] for one in listed(service, f"{chat}-b", "snippets")]
    assert texts[: len(inside)] == [one["text"] for one in inside]
    assert service.status(f"{chat}-b")["job"] is None


@pytest.mark.parametrize("body", [None, {}, {"id": None, "at_message_id": None}])
def test_nothing_need_be_said(service: Service, chat: str, body: Any) -> None:
    """Without fields the fork has an id of the server's and the whole history, message by message."""
    told(service, chat, 3)
    answer = service.post(f"/chats/{chat}/fork", body)
    assert answer.status_code == 201, answer.text
    fork = answer.json()
    assert fork["forked_at_message_id"] == "a3"
    ours, theirs = listed(service, chat), listed(service, fork["id"])
    assert ours == theirs


def test_a_fork_goes_its_own_way(service: Service, chat: str) -> None:
    """What is said in one of the two is in that one alone, and each folds what is its own."""
    told(service, chat, 9)
    service.post(f"/chats/{chat}/fork", {"id": f"{chat}-b", "at_message_id": "u6"})
    service.say(f"{chat}-b", 20, 21, 22, 23)
    assert [message["id"] for message in listed(service, chat)][-1] == "a9"
    status = service.settled(f"{chat}-b")
    assert (status["counts"]["visible"], status["counts"]["messages"]) == (4, 19)


def test_odd_ids(service: Service, chat: str) -> None:
    """Ids with spaces, signs and any script name chats and messages in a fork, and its Location can be read."""
    name, message = f"Mira @ 12:00 チャット #{chat}", '100% "#1"? 🐉 o\'x'
    lines = [{**line, "id": message + line["id"]} for line in turn_lines(1)]
    service.post(f"/chats/{quote(name, safe='')}/messages", {"messages": lines})
    answer = service.post(f"/chats/{quote(name, safe='')}/fork", {"id": f"{name} [2]", "at_message_id": f"{message}u1"})
    assert answer.status_code == 201, answer.text
    assert service.http.get(answer.headers["location"]).json()["id"] == f"{name} [2]"
    assert [one["id"] for one in listed(service, quote(f"{name} [2]", safe=""))] == [f"{message}u1"]


def test_what_is_not_there(service: Service, chat: str) -> None:
    """A chat or a message that is unknown is a 404, and so is a message of another chat, or one that was deleted."""
    told(service, chat, 2)
    service.say(f"{chat}-other", 7)
    service.http.delete(f"/v1/chats/{chat}/messages/u2")
    for path, message in ((f"{chat}-nobody", "u1"), (chat, "u9"), (chat, "u7"), (chat, "u2")):
        answer = service.post(f"/chats/{path}/fork", {"id": f"{chat}-b", "at_message_id": message})
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert service.get(f"/chats/{chat}-b").status_code == 404


def test_a_taken_id(service: Service, chat: str) -> None:
    """The id of a chat there is, the parent's own included, is a 409, and that chat stays as it is."""
    told(service, chat, 2)
    service.put(f"/chats/{chat}-b", {"title": "Mine"})
    for taken in (chat, f"{chat}-b"):
        answer = service.post(f"/chats/{chat}/fork", {"id": taken})
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert service.get(f"/chats/{chat}-b").json()["counts"]["messages"] == 0


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"id": "a/b"}, "id"),
        ({"id": ""}, "id"),
        ({"id": 5}, "id"),
        ({"at_message_id": ".."}, "at_message_id"),
        ({"at_message_id": ["a1"]}, "at_message_id"),
        ({"at": "a1"}, "at"),
        ([], "body"),
    ],
)
def test_bad_fields_are_named(service: Service, chat: str, body: Any, named: str) -> None:
    """A bad field is a 422 that names it."""
    told(service, chat, 1)
    answer = service.post(f"/chats/{chat}/fork", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert any(named in error["loc"] for error in answer.json()["errors"])


def test_the_same_fork_twice(service: Service, chat: str) -> None:
    """With an Idempotency-Key a repeated fork answers as the first did, and there is one new chat."""
    told(service, chat, 2)
    headers = {"Idempotency-Key": f"fork-{chat}"}
    first = service.post(f"/chats/{chat}/fork", {"at_message_id": "a1"}, headers=headers)
    again = service.post(f"/chats/{chat}/fork", {"at_message_id": "a1"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()


def test_a_synced_branch_has_its_parents_memory(service: Service, chat: str) -> None:
    """A chat that is synced for the first time and names its parent begins with the memory of what both share."""
    told(service, chat, 9)
    lines = [line for turn in (1, 2, 3, 4, 5, 6, 31, 32) for line in turn_lines(turn)]
    body = {"messages": lines, "parent_chat_id": chat}
    assert service.put(f"/chats/{chat}-b/messages", body).status_code == 200
    branch = service.get(f"/chats/{chat}-b").json()
    assert (branch["parent_chat_id"], branch["forked_at_message_id"]) == (chat, "a6")
    assert service.settled(f"{chat}-b")["counts"]["ghosted"] == 12
    inside = [one["id"] for one in listed(service, chat, "snippets") if one["covers"]["last_index"] < 12]
    assert [one["id"] for one in listed(service, f"{chat}-b", "snippets")][: len(inside)] == inside
