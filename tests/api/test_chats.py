"""Chats over HTTP."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.service import Service


def test_put_creates_then_merges(service: Service, chat: str) -> None:
    """The first PUT is a 201 with a Location, the next a 200 that leaves absent fields alone."""
    first = service.put(f"/chats/{chat}", {"title": "The gate", "user_name": "Mira"})
    second = service.put(f"/chats/{chat}", {"character_name": "Tom"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.headers["location"] == f"/v1/chats/{chat}"
    found = second.json()
    assert (found["title"], found["user_name"], found["character_name"]) == ("The gate", "Mira", "Tom")


def test_a_chat_has_the_fields_of_the_contract(service: Service, chat: str) -> None:
    """Every field the contract names is there, under its name, times in UTC with a Z."""
    found = service.put(f"/chats/{chat}", {}).json()
    names = "id title user_name character_name strategy settings effective_settings parent_chat_id"
    names += " forked_at_message_id memory_version counts created_at updated_at"
    assert set(names.split()) <= found.keys()
    assert (found["id"], found["strategy"], found["memory_version"], found["settings"]) == (chat, "layered", 0, {})
    assert found["counts"] == dict.fromkeys(
        ["messages", "turns", "visible", "ghosted", "hidden", "omitted", "pinned", "skipped"], 0
    )
    assert found["created_at"].endswith("Z")
    assert datetime.fromisoformat(found["created_at"]) <= datetime.fromisoformat(found["updated_at"])


def test_post_makes_an_id(service: Service) -> None:
    """POST, with a body or without one, is a 201 whose Location can be read."""
    for answer in (service.post("/chats", {"title": "New"}), service.post("/chats")):
        assert answer.status_code == 201
        location = answer.headers["location"]
        assert location == f"/v1/chats/{answer.json()['id']}"
        assert service.http.get(location).json()["id"] == answer.json()["id"]


@pytest.mark.parametrize("name", ["Mira @ 2026-03-01 12:00", "チャット 一", "100% #1?", "🐉"])
def test_ids_of_any_script_come_back(service: Service, name: str) -> None:
    """Ids with spaces, signs and any script work percent-encoded, in the Location too."""
    answer = service.put(f"/chats/{quote(name, safe='')}", {})
    assert (answer.status_code, answer.json()["id"]) == (201, name)
    assert service.http.get(answer.headers["location"]).json()["id"] == name


@pytest.mark.parametrize("raw", ["%2E", "%2E%2E", "x" * 201, "a%00b", "a%0Ab"])
def test_ids_that_cannot_be_are_refused(service: Service, raw: str) -> None:
    """An id that is a dot, too long or unprintable is a 422, or leads to no route; never a chat."""
    answer = service.http.put(f"/v1/chats/{raw}", json={})
    assert answer.status_code in (404, 405, 422)


def test_null_clears_a_name_and_a_setting(service: Service, chat: str) -> None:
    """null takes a title away, and a setting given as null follows the server again."""
    service.put(f"/chats/{chat}", {"title": "x", "settings": {"on_backlog": "all", "layered": {"max_layers": 2}}})
    found = service.patch(f"/chats/{chat}", {"title": None, "settings": {"layered": {"max_layers": None}}}).json()
    assert found["title"] is None
    assert found["settings"]["on_backlog"] == "all"
    assert found["effective_settings"]["layered"]["max_layers"] == 5


def test_own_and_effective_settings_are_shown(service: Service, chat: str) -> None:
    """`settings` echoes the chat's own values, `effective_settings` adds what it follows."""
    found = service.put(f"/chats/{chat}", {"settings": {"paused": True, "layered": {"verbatim_turns": 4}}}).json()
    assert found["settings"] == {"paused": True, "layered": {"verbatim_turns": 4}}
    effective = found["effective_settings"]
    assert (effective["paused"], effective["ghosting"], effective["layered"]["verbatim_turns"]) == (True, True, 4)
    assert effective["layered"]["flush_turns"] == 3


def test_list_follows_activity_and_cursors(service: Service) -> None:
    """Chats come newest activity first, page by page, each once."""
    ids = [service.post("/chats").json()["id"] for _ in range(5)]
    service.say(ids[0], 1)
    read: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = service.get("/chats", params=query).json()
        read += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert read[0] == ids[0]
    assert set(ids) <= set(read)
    assert len(read) == len(set(read))


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"cursor": "x"}, {"cursor": "é"}])
def test_bad_pages_are_refused(service: Service, query: dict[str, Any]) -> None:
    """A limit out of range and a cursor nobody gave out are a 422."""
    answer = service.get("/chats", params=query)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_etags_guard_changes(service: Service, chat: str) -> None:
    """If-Match lets a change through while the ETag holds, and is a 412 once it does not."""
    etag = service.put(f"/chats/{chat}", {"title": "one"}).headers["etag"]
    assert service.get(f"/chats/{chat}").headers["etag"] == etag
    changed = service.patch(f"/chats/{chat}", {"title": "two"}, headers={"If-Match": etag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != etag
    for answer in (
        service.patch(f"/chats/{chat}", {"title": "three"}, headers={"If-Match": etag}),
        service.put(f"/chats/{chat}", {"title": "three"}, headers={"If-Match": etag}),
        service.http.delete(f"/v1/chats/{chat}", headers={"If-Match": etag}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert service.get(f"/chats/{chat}").json()["title"] == "two"


def test_messages_leave_the_etag_alone(service: Service, chat: str) -> None:
    """The ETag is of title, names, strategy and settings, not of what is said."""
    etag = service.put(f"/chats/{chat}", {}).headers["etag"]
    service.say(chat, 1)
    assert service.get(f"/chats/{chat}").headers["etag"] == etag


def test_delete_is_final(service: Service, chat: str) -> None:
    """DELETE is a 204 without a body; then there is no such chat, and its id is free again."""
    service.say(chat, 1)
    gone = service.http.delete(f"/v1/chats/{chat}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert service.get(f"/chats/{chat}").status_code == 404
    assert service.http.delete(f"/v1/chats/{chat}").status_code == 404
    assert service.put(f"/chats/{chat}", {}).json()["counts"]["messages"] == 0


def test_patch_needs_a_chat(service: Service, chat: str) -> None:
    """PATCH makes no chat."""
    answer = service.patch(f"/chats/{chat}", {"title": "x"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"colour": "red"}, "colour"),
        ({"title": 5}, "title"),
        ({"title": "a\0b"}, "title"),
        ({"strategy": "magic"}, "strategy"),
        ({"parent_chat_id": "a/b"}, "parent_chat_id"),
        ({"settings": []}, "settings"),
        ([], "body"),
    ],
)
def test_bad_fields_are_named(service: Service, chat: str, body: Any, named: str) -> None:
    """A bad field is a 422 that names it, and no chat is made."""
    answer = service.put(f"/chats/{chat}", body)
    assert answer.status_code == 422
    assert any(named in error["loc"] for error in answer.json()["errors"])
    assert service.get(f"/chats/{chat}").status_code == 404


def test_strategy_none_is_served(service: Service, chat: str) -> None:
    """A chat without memory is one of the strategies; a switch is a new version of the memory."""
    service.put(f"/chats/{chat}", {})
    found = service.patch(f"/chats/{chat}", {"strategy": "none"}).json()
    assert (found["strategy"], found["memory_version"]) == ("none", 1)


def test_chats_are_found_by_title(service: Service, chat: str) -> None:
    """`?title=` lists the chats of exactly that title, newest first; another title has none."""
    for name in ("a", "b"):
        service.put(f"/chats/{chat}-{name}", {"title": f"Sera - {chat}"})
    service.put(f"/chats/{chat}-c", {"title": f"Sera - {chat} - Branch #1"})
    found = service.get("/chats", params={"title": f"Sera - {chat}"}).json()
    assert [item["id"] for item in found["items"]] == [f"{chat}-b", f"{chat}-a"]
    assert service.get("/chats", params={"title": f"sera - {chat}"}).json()["items"] == []


def test_chats_are_found_by_words(service: Service, chat: str) -> None:
    """`?q=` lists the chats whose id, title or names hold each of its words, in any script and case, page by page."""
    service.put(f"/chats/{chat}-a", {"title": f"Ö {chat}", "user_name": "Mira"})
    service.put(f"/chats/{chat}-b", {"character_name": "มีนา", "user_name": "MIRA"})
    service.put(f"/chats/{chat}-c", {"title": "Mirabell"})

    def found(q: str, **query: Any) -> list[str]:
        return [
            item["id"].removeprefix(f"{chat}-")
            for item in service.get("/chats", params={"q": q, **query}).json()["items"]
        ]

    assert found(f"{chat}- mira") == ["c", "b", "a"]
    assert found(f"ö {chat.upper()}-") == ["a"]
    assert found(f"{chat}- มีนา") == ["b"]
    assert found(f"{chat}- mira", title="Mirabell") == ["c"]
    assert found(f"{chat}- nobody") == []
    assert found(" ", limit=3) == ["c", "b", "a"]
    first = service.get("/chats", params={"q": f"{chat}- mira", "limit": 2}).json()
    assert found(f"{chat}- mira", limit=2, cursor=first["next_cursor"]) == ["a"]
    assert service.get("/chats", params={"q": "x" * 501}).status_code == 422


def test_chats_are_listed_without_counts(service: Service, chat: str) -> None:
    """With `?counts=false` nothing is counted; all else is as ever."""
    service.say(chat, 1, fold="none")
    whole = service.get(f"/chats/{chat}").json()
    listed = service.get("/chats", params={"q": chat, "counts": "false", "limit": 1}).json()["items"]
    assert listed == [{**whole, "counts": None}]
