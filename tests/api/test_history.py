"""Syncing, changing, deleting and restoring messages over HTTP."""

from typing import Any

import pytest

from tests.support.service import Service, turn_lines


def lines(*turns: int) -> list[dict[str, Any]]:
    """The messages of these turns."""
    return [line for turn in turns for line in turn_lines(turn)]


def sync(service: Service, chat: str, messages: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    """What a good sync answers."""
    answer = service.put(f"/chats/{chat}/messages", {"messages": messages, **options})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def listed(service: Service, chat: str, state: str = "all") -> list[dict[str, Any]]:
    """The chat's messages in a state."""
    answer = service.get(f"/chats/{chat}/messages", params={"state": state, "limit": 1000})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_a_sync_counts_what_changed(service: Service, chat: str) -> None:
    """The five numbers of the contract; the chat is made, and the same again changes nothing."""
    history = lines(1, 2, 3)
    assert sync(service, chat, history) == {
        "appended": 6,
        "edited": 0,
        "deleted": 0,
        "unchanged": 0,
        "stale_snippets": 0,
    }
    before = service.get(f"/chats/{chat}").json()
    assert sync(service, chat, history)["unchanged"] == 6
    assert service.get(f"/chats/{chat}").json() == before
    history[1]["content"] = "Tom shrugs."
    assert sync(service, chat, [*history[:4], history[5]])["edited"] == 1
    assert [message["id"] for message in listed(service, chat)] == ["u1", "a1", "u2", "a2", "a3"]
    assert [message["index"] for message in listed(service, chat)] == [0, 1, 2, 3, 4]


def test_what_was_read_can_be_sent_back(service: Service, chat: str) -> None:
    """A frontend that sends the messages as it read them, read-only fields and all, changes nothing."""
    sync(service, chat, [{**line, "mood": "calm", "pinned": True} for line in lines(1, 2)])
    found = listed(service, chat)
    assert found[0]["extra"] == {"mood": "calm"}
    assert sync(service, chat, found)["unchanged"] == 4
    assert listed(service, chat) == found


def test_a_sync_folds_in_the_background(service: Service, chat: str) -> None:
    """As an append does."""
    sync(service, chat, lines(*range(1, 14)))
    assert service.settled(chat)["counts"]["ghosted"] == 6


@pytest.mark.parametrize(
    ("history", "options", "word"),
    [([], {}, "reset"), ([], {"allow_shrink": True}, "reset"), (lines(1, 2), {}, "allow_shrink")],
)
def test_a_frontend_that_had_not_loaded(
    service: Service, chat: str, history: list[dict[str, Any]], options: dict[str, Any], word: str
) -> None:
    """A history that lost nearly everything is a 409 that says what to send if it is meant."""
    sync(service, chat, lines(*range(1, 11)))
    answer = service.put(f"/chats/{chat}/messages", {"messages": history, **options})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert word in answer.json()["detail"]
    assert len(listed(service, chat)) == 20
    assert sync(service, chat, history, reset=True)["deleted"] == 20 - len(history)


def test_bad_syncs(service: Service, chat: str) -> None:
    """Two messages with one id, one bad message, an unknown field: a 422, and nothing is written."""
    sync(service, chat, lines(1))
    for body in (
        {"messages": [*lines(1), *lines(1)]},
        {"messages": [*lines(1, 2), {"role": "user"}]},
        {"messages": lines(1), "resett": True},
        {"messages": [{**lines(1)[0], "id": "a/b"}]},
        {},
    ):
        answer = service.put(f"/chats/{chat}/messages", body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), body
    assert len(listed(service, chat)) == 2


def test_one_message_is_changed(service: Service, chat: str) -> None:
    """Its text, name, marks and extra; what is absent stays. What it said before can be read."""
    sync(service, chat, lines(1, 2))
    answer = service.patch(
        f"/chats/{chat}/messages/u1", {"content": "Is it open?", "name": "Mira", "pinned": True, "extra": {"a": 1}}
    )
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert (shown["content"], shown["name"], shown["pinned"], shown["hidden"]) == ("Is it open?", "Mira", True, False)
    assert service.patch(f"/chats/{chat}/messages/u1", {"history": "omit"}).json()["history"] == "omit"
    assert service.get(f"/chats/{chat}/messages/u1").json()["content"] == "Is it open?"
    versions = service.get(f"/chats/{chat}/messages/u1/versions").json()
    assert [item["content"] for item in versions["items"]] == [lines(1)[0]["content"]]
    assert versions["items"][0]["why"] == "overwritten"


def test_bad_changes(service: Service, chat: str) -> None:
    """Unknown messages are a 404; null for a text, unknown fields and wrong types a 422."""
    sync(service, chat, lines(1))
    assert service.patch(f"/chats/{chat}/messages/nobody", {"content": "x"}).status_code == 404
    assert service.patch("/chats/nowhere/messages/u1", {"content": "x"}).status_code == 404
    for body in ({"content": None}, {"role": "user"}, {"hidden": "yes"}, {"history": "gone"}, {"content": "\u0000"}):
        assert service.patch(f"/chats/{chat}/messages/u1", body).status_code == 422, body
    assert service.patch(f"/chats/{chat}/messages/u1", {}).status_code == 200


def test_a_deleted_message_is_kept(service: Service, chat: str) -> None:
    """It is listed as deleted, page by page, and comes back in its place under its id."""
    sync(service, chat, lines(1, 2, 3))
    for message_id in ("a1", "u2", "a2"):
        assert service.http.delete(f"/v1/chats/{chat}/messages/{message_id}").status_code == 204
    assert service.get(f"/chats/{chat}/messages/u2").status_code == 404
    assert [message["id"] for message in listed(service, chat)] == ["u1", "u3", "a3"]
    assert sorted(message["id"] for message in listed(service, chat, "deleted")) == ["a1", "a2", "u2"]
    first = service.get(f"/chats/{chat}/messages", params={"state": "deleted", "limit": 2}).json()
    rest = service.get(
        f"/chats/{chat}/messages", params={"state": "deleted", "limit": 2, "cursor": first["next_cursor"]}
    ).json()
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"]) == (2, 1, None)
    answer = service.post(f"/chats/{chat}/messages/u2/restore")
    assert (answer.status_code, answer.json()["index"]) == (200, 1)
    assert [message["id"] for message in listed(service, chat)] == ["u1", "u2", "u3", "a3"]
    assert service.post(f"/chats/{chat}/messages/u2/restore").status_code == 409
    assert service.post(f"/chats/{chat}/messages/nobody/restore").status_code == 404
    assert service.http.delete(f"/v1/chats/{chat}/messages/nobody").status_code == 404


def test_a_branch_names_its_parent(service: Service, chat: str) -> None:
    """A first sync that begins as another chat does brings that one's memory along, without a job."""
    service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all"}})
    sync(service, chat, lines(*range(1, 20)))
    service.settled(chat)
    branch = f"{chat} - Branch #1"
    found = sync(service, branch.replace("#", "%23"), lines(*range(1, 18), 99), parent_chat_id=chat)
    assert (found["appended"], found["unchanged"]) == (2, 34)
    status = service.status(branch.replace("#", "%23"))
    assert (status["memory_version"], status["counts"]["ghosted"] > 0) == (1, True)


def test_text_or_memory_never_both(service: Service, chat: str) -> None:
    """With ghosting or the chat switched off all text and no memory is sent, also after a sync; then memory again."""
    sync(service, chat, lines(*range(1, 14)))
    service.settled(chat)
    for switch in ("ghosting", "enabled"):
        service.patch(f"/chats/{chat}", {"settings": {switch: False}})
        prompt = service.get(f"/chats/{chat}/projection").json()
        assert (prompt["memory"]["text"], len(prompt["messages"])) == ("", 26)
        service.patch(f"/chats/{chat}", {"settings": {switch: True}})
    prompt = service.get(f"/chats/{chat}/projection").json()
    assert prompt["memory"]["text"]
    assert len(prompt["messages"]) == 21
