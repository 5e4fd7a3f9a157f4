"""The picture of a chat over HTTP."""

from tests.support.service import Service


def test_the_picture_of_a_chat(service: Service, chat: str) -> None:
    """Layers with their snippets, stretches, pinned messages and the window, and no text anywhere."""
    service.put(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": 2, "turns_per_batch": 2}}})
    service.say(chat, 1, 2, 3, 4)
    service.settled(chat)
    service.patch(f"/chats/{chat}/messages/u4", {"pinned": True})
    answer = service.get(f"/chats/{chat}/strata")
    assert answer.status_code == 200
    assert "gate" not in answer.text
    found = answer.json()
    (snippet,) = service.get(f"/chats/{chat}/snippets").json()["items"]
    tokens = [message["tokens"] for message in service.get(f"/chats/{chat}/messages").json()["items"]]
    same = ("id", "position", "kind", "tokens", "source_tokens", "stale", "degraded")
    shown = {**{name: snippet[name] for name in same}, **snippet["covers"], "edited": False}
    assert found == {
        "strategy": "layered",
        "memory_version": 1,
        "messages": 8,
        "turns": 4,
        "raw_tokens": sum(tokens),
        "layers": [{"layer": 0, "limit": 30, "snippets": [shown]}],
        "stretches": [
            {"state": "ghosted", "skipped": False, "first_index": 0, "last_index": 3, "messages": 4, "turns": 2}
            | {"tokens": sum(tokens[:4])},
            {"state": "visible", "skipped": False, "first_index": 4, "last_index": 7, "messages": 4, "turns": 2}
            | {"tokens": sum(tokens[4:])},
        ],
        "pinned": [{"message_id": "u4", "index": 6}],
        "window": {"first_index": 4, "turns": 2},
        "folding": [],
    }


def test_no_chat(service: Service) -> None:
    """What is not there has no picture."""
    answer = service.get("/chats/nowhere/strata")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
