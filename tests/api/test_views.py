"""Views over HTTP: making, merging, reading and forgetting them."""

from typing import Any

import pytest

from tests.support.service import Service

FRAME = {"template": "It is {{hour}}.", "values": {"hour": "midnight"}, "position": "after_user"}
FULL: dict[str, Any] = {
    "system_prompt": "Speak as Tom.",
    "context_size": 8192,
    "max_tokens": 512,
    "memory_placement": "system_message",
    "format": "text",
    "names": "prefix",
    "tool_history": "omit",
    "omit_authors": ["Narrator"],
    "frame": FRAME,
}
OPTIONS = tuple(FULL)


@pytest.fixture
def told(service: Service, chat: str) -> str:
    """A chat with a turn."""
    service.say(chat, 1)
    return chat


def options(view: dict[str, Any]) -> dict[str, Any]:
    """The options that a view has."""
    return {name: view[name] for name in OPTIONS if view[name] is not None}


def test_a_put_makes_a_view_and_then_merges(service: Service, told: str) -> None:
    """201 with Location and ETag, then 200: what is absent stays, null takes an option away."""
    path = f"/chats/{told}/views/reply"
    made = service.put(path, FULL)
    assert (made.status_code, made.headers["location"]) == (201, f"/v1{path}")
    assert made.json().keys() == {"name", *OPTIONS, "created_at", "updated_at"}
    assert options(made.json()) == FULL
    merged = service.put(path, {"max_tokens": 256, "frame": None, "names": None})
    assert merged.status_code == 200
    left = {name: value for name, value in FULL.items() if name not in ("frame", "names")}
    assert options(merged.json()) == {**left, "max_tokens": 256}
    read = service.get(path)
    assert (read.json(), read.headers["etag"]) == (merged.json(), merged.headers["etag"])
    assert merged.headers["etag"] != made.headers["etag"]


def test_a_view_may_be_empty(service: Service, told: str) -> None:
    """Then it keeps a window and nothing else; the same PUT again changes nothing."""
    first, again = (service.put(f"/chats/{told}/views/plain", body) for body in ({}, {"frame": None}))
    assert (first.status_code, again.status_code) == (201, 200)
    assert options(first.json()) == {}
    assert (again.json(), again.headers["etag"]) == (first.json(), first.headers["etag"])


def test_views_are_listed_by_name(service: Service, told: str) -> None:
    """Page by page, those of this chat alone."""
    for name in ("tool", "reply", "Ansicht äöü"):
        service.put(f"/chats/{told}/views/{name}", {})
    first = service.get(f"/chats/{told}/views", params={"limit": 2}).json()
    rest = service.get(f"/chats/{told}/views", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [view["name"] for view in first["items"] + rest["items"]] == ["Ansicht äöü", "reply", "tool"]
    assert rest["next_cursor"] is None
    service.say(f"{told}-b", 1)
    assert service.get(f"/chats/{told}-b/views").json() == {"items": [], "next_cursor": None}


def test_a_view_is_forgotten(service: Service, told: str) -> None:
    """204, then 404; the chat stays, and a chat takes its views along when it goes."""
    path = f"/chats/{told}/views/reply"
    service.put(path, {})
    assert service.http.delete(f"/v1{path}").status_code == 204
    for answer in (service.get(path), service.http.delete(f"/v1{path}")):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert service.get(f"/chats/{told}").status_code == 200
    service.put(path, {})
    service.http.delete(f"/v1/chats/{told}")
    service.say(told, 1)
    assert service.get(f"/chats/{told}/views").json()["items"] == []


def test_a_view_needs_a_chat(service: Service, chat: str) -> None:
    """Each call is a 404 without one."""
    path = f"/v1/chats/{chat}/views"
    calls = [service.http.get(path), service.http.get(f"{path}/a"), service.http.delete(f"{path}/a")]
    for answer in (*calls, service.put(f"/chats/{chat}/views/a", {})):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_etags_guard_changes(service: Service, told: str) -> None:
    """If-Match lets a change through while the ETag holds, and is a 412 once it does not, or for what is not there."""
    path = f"/chats/{told}/views/reply"
    assert service.put(path, {}, headers={"If-Match": "*"}).status_code == 412
    etag = service.put(path, {"context_size": 4096}).headers["etag"]
    changed = service.put(path, {"context_size": 2048}, headers={"If-Match": etag})
    assert changed.status_code == 200
    stale = {"If-Match": etag}
    for answer in (service.put(path, {}, headers=stale), service.http.delete(f"/v1{path}", headers=stale)):
        assert (answer.status_code, answer.json()["code"]) == (412, "precondition_failed")
    assert service.http.delete(f"/v1{path}", headers={"If-Match": changed.headers["etag"]}).status_code == 204


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"temperature": 1}, "temperature"),
        ({"max_tokens": 100}, "max_tokens"),
        ({"context_size": 100, "max_tokens": 100}, "max_tokens"),
        ({"context_size": 3}, "max_tokens"),
        ({"context_size": 0}, "context_size"),
        ({"context_size": "4096"}, "context_size"),
        ({"memory_placement": "in_chat:x"}, "memory_placement"),
        ({"format": "yaml"}, "format"),
        ({"names": "all"}, "names"),
        ({"tool_history": "some"}, "tool_history"),
        ({"omit_authors": "Tom"}, "omit_authors"),
        ({"frame": {"values": {}}}, "frame"),
        ({"frame": {"template": "{{#a}}"}}, "frame"),
        ({"frame": {"template": "a" * 100_001}}, "frame"),
        ({"frame": {"template": "a", "position": "under_user"}}, "frame"),
        ({"frame": {"template": "a", "engine": "jinja"}}, "frame"),
    ],
)
def test_what_makes_no_sense_is_refused(service: Service, told: str, body: dict[str, Any], where: str) -> None:
    """422 that names the option, and nothing is stored."""
    answer = service.put(f"/chats/{told}/views/reply", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert [where in error["loc"] for error in answer.json()["errors"]] == [True]
    assert service.get(f"/chats/{told}/views/reply").status_code == 404


def test_sizes_must_fit_after_the_merge(service: Service, told: str) -> None:
    """A window that goes, or shrinks below what the answer needs, is refused; both together may change."""
    path = f"/chats/{told}/views/reply"
    service.put(path, {"context_size": 4096, "max_tokens": 512})
    for body in ({"context_size": None}, {"context_size": 512}):
        assert service.put(path, body).status_code == 422
    assert service.put(path, {"context_size": None, "max_tokens": None}).status_code == 200
    assert options(service.get(path).json()) == {}


def test_a_fork_has_the_views_too(service: Service, told: str) -> None:
    """Their options; each goes its own way from then on."""
    service.put(f"/chats/{told}/views/reply", FULL)
    service.post(f"/chats/{told}/fork", {"id": f"{told}-b"})
    copied = service.get(f"/chats/{told}-b/views/reply").json()
    assert options(copied) == FULL
    service.put(f"/chats/{told}-b/views/reply", {"names": "none"})
    assert service.get(f"/chats/{told}/views/reply").json()["names"] == "prefix"
