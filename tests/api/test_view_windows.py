"""The windows of views over HTTP: kept by POSTs, begun afresh by folds, and why a prompt begins differently."""

from typing import Any

import pytest

from tests.support.service import Service

SMALL = {"verbatim_turns": 2, "turns_per_batch": 2}
NARROW = {"context_size": 300, "max_tokens": 50}
"""Room for about six turns; four are left after a trim."""


@pytest.fixture
def told(service: Service, chat: str) -> str:
    """A chat of ten turns that nothing folds by itself, with a narrow view and a wide one."""
    service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all", "paused": True, "layered": SMALL}})
    service.say(chat, *range(1, 11), fold="none")
    service.put(f"/chats/{chat}/views/reply", NARROW)
    service.put(f"/chats/{chat}/views/tool", {"context_size": 2000, "max_tokens": 50})
    return chat


def post(service: Service, chat: str, view: str | None = "reply", **body: Any) -> dict[str, Any]:
    """What a good POST answers."""
    answer = service.post(f"/chats/{chat}/projection", {**({"view": view} if view else {}), **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["tokens"]["budget"] is None or found["tokens"]["total"] <= found["tokens"]["budget"]
    return found


def get(service: Service, chat: str, view: str = "reply", **query: Any) -> dict[str, Any]:
    """What a good GET answers."""
    answer = service.get(f"/chats/{chat}/projection", params={"view": view, **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def start(found: dict[str, Any]) -> int:
    """Where a prompt's window begins."""
    assert isinstance(found["window"]["first_index"], int)
    return found["window"]["first_index"]


def test_a_view_keeps_its_window(service: Service, told: str) -> None:
    """Turn by turn it stays or moves on, mostly stays, and the past that was sent is sent again word for word."""
    starts, before = [], post(service, told)
    assert start(before) > 0
    for turn in range(11, 25):
        service.say(told, turn, fold="none")
        found = post(service, told)
        starts.append(start(found))
        if starts[-1] == start(before):
            assert found["messages"][: len(before["messages"])] == before["messages"]
            assert found["prefix_hash"] == before["prefix_hash"]
        assert found["prefix_changed_by"] == (None if start(found) == start(before) else "trim")
        before = found
    assert starts == sorted(starts)
    assert 3 <= len(set(starts)) <= 7


def test_a_get_reads_the_window_and_never_moves_it(service: Service, told: str) -> None:
    """It sees what a POST kept; what it drops itself is there again for the next request."""
    kept = post(service, told)
    assert get(service, told)["window"] == kept["window"]
    assert start(get(service, told, context_size=150, max_tokens=50)) > start(kept)
    service.say(told, 11, 12, 13, 14, fold="none")
    trimmed = get(service, told)
    assert (start(trimmed) > start(kept), trimmed["prefix_changed_by"]) == (True, "trim")
    assert start(get(service, told, context_size=1000)) == start(kept)
    assert post(service, told)["window"] == trimmed["window"]


def test_a_dropped_turn_comes_back_with_a_fold_only(service: Service, told: str) -> None:
    """Not with more room; after a fold the window begins with the first turn that is not covered."""
    narrow = post(service, told)
    for size in (1000, 100_000):
        assert start(post(service, told, context_size=size)) == start(narrow)
    assert start(post(service, told, view=None, context_size=1000, max_tokens=50)) == 0
    service.post(f"/chats/{told}/snippets", {"first_message_id": "u1", "last_message_id": "a2", "text": "Two gates."})
    folded = post(service, told, context_size=1000)
    assert (start(folded), folded["window"]["dropped_turns"]) == (4, 0)
    assert folded["prefix_changed_by"] == "fold"
    assert start(post(service, told)) > 4


def test_views_trim_apart(service: Service, told: str) -> None:
    """Each has its own budget and its own window."""
    wide, narrow = post(service, told, "tool"), post(service, told)
    assert (start(wide), start(narrow) > 0) == (0, True)
    assert (wide["tokens"]["budget"], narrow["tokens"]["budget"]) == (1950, 250)
    assert start(post(service, told, "tool")) == 0
    assert start(post(service, told, "tool", context_size=300)) > 0
    assert post(service, told)["window"] == narrow["window"]


@pytest.mark.parametrize(
    ("change", "afresh"),
    [
        ({"context_size": 1000}, True),
        ({"max_tokens": 10}, True),
        ({"names": "prefix"}, True),
        ({"frame": {"template": "Rain."}}, False),
        ({"max_tokens": 50}, False),
    ],
)
def test_other_sizes_begin_the_window_afresh(service: Service, told: str, change: dict[str, Any], afresh: bool) -> None:
    """So do options that change what the past costs; a frame changes none of it, and the same again nothing."""
    kept = post(service, told)
    service.put(f"/chats/{told}/views/reply", change)
    assert (start(get(service, told, context_size=5000)) == 0) == afresh
    assert (start(get(service, told, context_size=5000)) == start(kept)) != afresh


@pytest.mark.parametrize("what", ["delete", "clear", "none", "ghosting"])
def test_memory_that_goes_begins_the_window_afresh(service: Service, told: str, what: str) -> None:
    """A snippet that is deleted, all of them, another strategy, memory that is not sent: what was covered is seen."""
    path = f"/chats/{told}"
    service.post(f"{path}/snippets", {"first_message_id": "u1", "last_message_id": "a2", "text": "Two gates."})
    [snippet] = service.get(f"{path}/snippets").json()["items"]
    kept = post(service, told)
    assert start(kept) > 4
    if what == "delete":
        service.http.delete(f"/v1{path}/snippets/{snippet['id']}")
    elif what == "clear":
        service.post(f"{path}/clear")
    else:
        service.patch(path, {"strategy": "none"} if what == "none" else {"settings": {"ghosting": False}})
    found = post(service, told, context_size=5000)
    assert (start(found), found["prefix_changed_by"]) == (0, "memory")


def test_the_window_stays_with_its_message(service: Service, told: str) -> None:
    """Deleting turns before it changes nothing that is sent; deleting its first message moves it no turn further."""
    kept = post(service, told)
    first = service.get(f"/chats/{told}/messages").json()["items"][start(kept)]["id"]
    service.http.delete(f"/v1/chats/{told}/messages/u1")
    service.http.delete(f"/v1/chats/{told}/messages/a1")
    found = post(service, told)
    assert (found["messages"], start(found)) == (kept["messages"], start(kept) - 2)
    assert (found["prefix_hash"], found["prefix_changed_by"]) == (kept["prefix_hash"], None)
    service.http.delete(f"/v1/chats/{told}/messages/{first}")
    found = post(service, told, context_size=5000)
    assert found["messages"] == kept["messages"][1:]
    assert found["prefix_changed_by"] == "edit"


def test_the_first_cause_is_told(service: Service, told: str) -> None:
    """System prompt before memory, memory before the window, the window before what is in it."""
    assert post(service, told, "tool")["prefix_changed_by"] is None
    assert post(service, told, "tool")["prefix_changed_by"] is None
    service.patch(f"/chats/{told}/messages/u9", {"content": "Mira asks again."})
    assert get(service, told, "tool")["prefix_changed_by"] == "edit"
    assert post(service, told, "tool")["prefix_changed_by"] == "edit"
    assert post(service, told, "tool", context_size=300)["prefix_changed_by"] == "trim"
    service.post(f"/chats/{told}/snippets", {"first_message_id": "u1", "last_message_id": "a2", "text": "Two gates."})
    assert post(service, told, "tool")["prefix_changed_by"] == "fold"
    [snippet] = service.get(f"/chats/{told}/snippets").json()["items"]
    service.patch(f"/chats/{told}/snippets/{snippet['id']}", {"text": "Two old gates."})
    service.patch(f"/chats/{told}/messages/u9", {"content": "Mira asks once more."})
    assert post(service, told, "tool")["prefix_changed_by"] == "memory"
    assert post(service, told, "tool", system_prompt="Speak as Tom.")["prefix_changed_by"] == "system_prompt"
    assert post(service, told, "tool", system_prompt="Speak as Tom.")["prefix_changed_by"] is None


def test_a_client_without_a_view_sends_its_last_prefix(service: Service, told: str) -> None:
    """`known_prefix` is its last prefix_hash; what is no such thing is a 422."""
    known = post(service, told, None)["prefix_hash"]
    service.say(told, 11, fold="none")
    assert post(service, told, None, known_prefix=known)["prefix_changed_by"] is None
    service.patch(f"/chats/{told}/messages/u9", {"content": "Mira asks again."})
    assert post(service, told, None, known_prefix=known)["prefix_changed_by"] == "edit"
    assert post(service, told, None, known_prefix=known, **NARROW)["prefix_changed_by"] == "trim"
    answer = service.post(f"/chats/{told}/projection", {"known_prefix": "abc"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_a_view_that_is_not_there_is_not_found(service: Service, told: str) -> None:
    """404, for a GET and a POST."""
    for answer in (
        service.get(f"/chats/{told}/projection", params={"view": "other"}),
        service.post(f"/chats/{told}/projection", {"view": "other"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
