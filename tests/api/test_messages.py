"""Appending and reading messages over HTTP."""

import sqlite3
from contextlib import closing
from typing import Any
from zlib import crc32

import pytest

from tests.support.service import Service, turn_lines

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def append(service: Service, chat: str, *messages: dict[str, Any], **options: Any) -> dict[str, Any]:
    """What a good append answers."""
    answer = service.post(f"/chats/{chat}/messages", {"messages": list(messages), **options})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def said(content: str = "Hello.", **fields: Any) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": content, **fields}


def test_an_append_makes_the_chat(service: Service, chat: str) -> None:
    """The answer counts and shows what was stored, with ids for what had none."""
    found = append(service, chat, said("Hello."), {"role": "assistant", "content": "Yes?"})
    assert found.keys() == {"appended", "duplicates", "items", "job_id", "usage", "reason"}
    assert (found["appended"], found["duplicates"], found["job_id"]) == (2, 0, None)
    assert found["reason"] == "below_threshold"
    assert found["usage"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
    assert [item["index"] for item in found["items"]] == [0, 1]
    assert all(item["id"] for item in found["items"])
    assert service.get(f"/chats/{chat}").json()["counts"]["messages"] == 2


def test_a_message_has_the_fields_of_the_contract(service: Service, chat: str) -> None:
    """Every field the contract names, and those for tool use only where there is some."""
    append(service, chat, said(id="u1", name="Mira", created_at="2026-03-01T12:00:00+02:00"))
    found = service.get(f"/chats/{chat}/messages/u1").json()
    assert found.pop("tokens") > 0
    assert found == {
        "id": "u1",
        "index": 0,
        "role": "user",
        "name": "Mira",
        "content": "Hello.",
        "hidden": False,
        "pinned": False,
        "history": "keep",
        "ghosted": False,
        "snippet_id": None,
        "created_at": "2026-03-01T10:00:00Z",
        "extra": {},
    }


def test_tool_use_is_kept(service: Service, chat: str) -> None:
    """A call without text and its result come back as they were sent."""
    call = {"id": "a", "role": "assistant", "content": None, "tool_calls": [CALL]}
    result = {"id": "t", "role": "tool", "content": "A gate.", "tool_call_id": "c1"}
    append(service, chat, said(), call, result)
    stored = service.get(f"/chats/{chat}/messages").json()["items"]
    assert (stored[1]["content"], stored[1]["tool_calls"]) == (None, [CALL])
    assert "tool_call_id" not in stored[1]
    assert (stored[2]["tool_call_id"], stored[2]["content"]) == ("c1", "A gate.")
    assert "tool_calls" not in stored[2]


def test_unknown_fields_go_into_extra(service: Service, chat: str) -> None:
    """Unknown fields join a given extra, which has the last word; read-only ones are ignored."""
    message = said(id="u1", mood="wary", swipes=["a", {"b": [1]}], extra={"mood": "calm", "n": 1})
    message |= {"index": 7, "ghosted": True, "snippet_id": "x", "tokens": 9000}
    found = append(service, chat, message)["items"][0]
    assert found["extra"] == {"mood": "calm", "n": 1, "swipes": ["a", {"b": [1]}]}
    assert (found["index"], found["ghosted"], found["snippet_id"]) == (0, False, None)
    assert found["tokens"] < 100


def test_the_same_again_changes_nothing(service: Service, chat: str) -> None:
    """A known id with the same content is a duplicate and is shown; with other content the whole append is a 409."""
    append(service, chat, *turn_lines(1))
    again = append(service, chat, *turn_lines(1), said(id="u2"))
    assert (again["appended"], again["duplicates"], len(again["items"])) == (1, 2, 3)
    changed = service.post(f"/chats/{chat}/messages", {"messages": [said(id="u3"), said("Other.", id="u1")]})
    assert (changed.status_code, changed.json()["code"]) == (409, "conflict")
    assert service.get(f"/chats/{chat}").json()["counts"]["messages"] == 3


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ({"content": "x"}, "role"),
        ({"role": "robot", "content": "x"}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": None}, "content"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "content"),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, "content"),
        ({"role": "user", "content": 5}, "content"),
        ({"role": "user", "content": "a\0b"}, "content"),
        ({"role": "user", "content": "é" * 600_000}, "content"),
        (said(id=""), "id"),
        (said(id="a/b"), "id"),
        (said(id="."), "id"),
        (said(id="x" * 201), "id"),
        (said(id=5), "id"),
        (said(hidden="yes"), "hidden"),
        (said(pinned=1), "pinned"),
        (said(history="drop"), "history"),
        (said(created_at="yesterday"), "created_at"),
        (said(created_at="2026-03-01T12:00:00"), "created_at"),
        (said(created_at="2026-02-30T12:00:00Z"), "created_at"),
        (said(created_at="9999-12-31T23:59:59.9999Z"), "created_at"),
        (said(created_at="0001-01-01T00:00:00+14:00"), "created_at"),
        (said(created_at=1_700_000_000), "created_at"),
        (said(tool_calls="x"), "tool_calls"),
        (said(tool_calls=[{"function": {}}]), "tool_calls"),
        (said(tool_calls=[CALL]), "tool_calls"),
        (said(extra=[]), "extra"),
        (said(extra={"a": "b\0"}), "extra"),
        (said(mood={"deep": "a\0"}), "mood"),
        ("Hello.", "messages"),
    ],
)
def test_one_bad_message_refuses_them_all(service: Service, chat: str, message: Any, named: str) -> None:
    """A bad message is a 422 that says where, without its value, and nothing is stored."""
    answer = service.post(f"/chats/{chat}/messages", {"messages": [said(), message]})
    assert answer.status_code == 422, answer.text
    locs = [error["loc"] for error in answer.json()["errors"]]
    assert any(named in loc and loc[:3] == ["body", "messages", 1] for loc in locs), locs
    assert service.get(f"/chats/{chat}").status_code == 404


def test_half_of_a_surrogate_pair_is_refused(service: Service, chat: str) -> None:
    """A lone surrogate, which JSON can spell, is a 422; a whole pair is a character."""
    for spelled, status in (('"\\ud83d"', 422), ('"\\ud83d\\udc09"', 201)):
        answer = service.http.post(
            f"/v1/chats/{chat}/messages",
            content=f'{{"messages":[{{"role":"user","content":{spelled}}}]}}',
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code == status


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": [said()] * 1001}, "messages"),
        ({"messages": said()}, "messages"),
        ({"messages": [said()], "fold": "now"}, "fold"),
        ({"messages": [said()], "wait_s": 301}, "wait_s"),
        ({"messages": [said()], "wait_s": -1}, "wait_s"),
        ({"messages": [said()], "wait_s": "30"}, "wait_s"),
        ({"messages": [said()], "session_id": "a/b"}, "session_id"),
        ({"messages": [said()], "colour": "red"}, "colour"),
        ({"messages": [said(id="u"), said(id="u")]}, "id"),
    ],
)
def test_a_bad_request_is_named(service: Service, chat: str, body: dict[str, Any], named: str) -> None:
    """Whatever is wrong around the messages is a 422 that names it."""
    answer = service.post(f"/chats/{chat}/messages", body)
    assert answer.status_code == 422
    assert any(named in error["loc"] for error in answer.json()["errors"])
    assert service.get(f"/chats/{chat}").status_code == 404


def test_a_thousand_at_once(service: Service, chat: str) -> None:
    """1000 messages are one append, and a page shows them all."""
    append(service, chat, *(said(f"Line {number}.") for number in range(1000)), fold="none")
    page = service.get(f"/chats/{chat}/messages", params={"limit": 1000}).json()
    assert [item["index"] for item in page["items"]] == list(range(1000))
    assert page["next_cursor"] is None


def test_pages_follow_the_index(service: Service, chat: str) -> None:
    """Following next_cursor reads every message once, in order, even if the chat grows meanwhile."""
    append(service, chat, *(said(f"Line {number}.") for number in range(7)))
    first = service.get(f"/chats/{chat}/messages", params={"limit": 5}).json()
    append(service, chat, said("Line 7."))
    second = service.get(f"/chats/{chat}/messages", params={"limit": 5, "cursor": first["next_cursor"]}).json()
    texts = [item["content"] for item in first["items"] + second["items"]]
    assert texts == [f"Line {number}." for number in range(8)]
    assert second["next_cursor"] is None


def test_states_select(service: Service, chat: str) -> None:
    """?state= shows visible, ghosted, hidden and deleted messages apart."""
    service.say(chat, *range(1, 14))
    append(
        service, chat, said("Not this.", hidden=True), said("Nor that.", history="omit"), said("Pin it.", pinned=True)
    )
    listed = {
        state: service.get(f"/chats/{chat}/messages", params={"state": state}).json()["items"]
        for state in ("all", "visible", "ghosted", "hidden", "deleted")
    }
    sizes = {state: len(items) for state, items in listed.items()}
    assert sizes == {"all": 29, "visible": 21, "ghosted": 6, "hidden": 1, "deleted": 0}
    assert all(item["ghosted"] and item["snippet_id"] for item in listed["ghosted"])
    assert service.get(f"/chats/{chat}/messages", params={"state": "lost"}).status_code == 422


def test_waiting_shows_the_fold(service: Service, chat: str) -> None:
    """With fold=wait the answer comes after the fold and says what it cost; `none` leaves it to the next append."""
    service.put(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}}})
    lines = [line for turn in (1, 2) for line in turn_lines(turn)]
    later = append(service, chat, *lines, fold="none")
    assert (later["job_id"], later["reason"]) == (None, "not_asked")
    waited = append(service, chat, *turn_lines(3), fold="wait", wait_s=60)
    assert waited["job_id"]
    assert service.get(f"/jobs/{waited['job_id']}").json()["state"] == "succeeded"
    assert service.status(chat)["counts"]["ghosted"] == 4


def test_messages_need_a_chat_and_an_id(service: Service, chat: str) -> None:
    """An unknown chat and an unknown message are a 404."""
    assert service.get(f"/chats/{chat}/messages").status_code == 404
    append(service, chat, said(id="u1"))
    assert service.get(f"/chats/{chat}/messages/u1").status_code == 200
    missing = service.get(f"/chats/{chat}/messages/u2")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_ids_are_of_one_chat(service: Service, chat: str) -> None:
    """Two chats may use the same message id."""
    append(service, chat, said(id="u1"))
    append(service, f"{chat}-other", said("Other.", id="u1"))
    assert service.get(f"/chats/{chat}/messages/u1").json()["content"] == "Hello."


def test_a_repeat_after_a_crash_is_a_duplicate(service: Service, chat: str) -> None:
    """With an Idempotency-Key, messages without ids are stored once though the process ended before it kept the answer.

    Another key, or the same one with another body after the answer was forgotten, is another call.
    """

    def send(key: str, *texts: str) -> tuple[int, int, list[str]]:
        body = {"messages": [said(text) for text in texts]}
        answer = service.post(f"/chats/{chat}/messages", body, headers={"Idempotency-Key": key}).json()
        with closing(sqlite3.connect(service.database)) as database, database:
            database.execute("DELETE FROM stored_answers")
        return answer["appended"], answer["duplicates"], [item["id"] for item in answer["items"]]

    first = send("k", "Yes.", "Yes.")
    assert first[:2] == (2, 0)
    assert send("k", "Yes.", "Yes.") == (0, 2, first[2])
    assert send("other", "Yes.", "Yes.")[:2] == (2, 0)
    assert send("k", "No.", "Yes.")[:2] == (2, 0)


def test_a_digest_compares_histories(service: Service, chat: str) -> None:
    """It is the checksum the API documents, and changes with a text, a mark and the order."""
    service.say(chat, 1, fold="none")
    first = service.get(f"/chats/{chat}/digest").json()
    parts = [f"{line['id']}\x1f{line['role']}\x1f\x1f0\x1f{line['content']}\x1e" for line in turn_lines(1)]
    assert first == {"messages": 2, "digest": f"{crc32(''.join(parts).encode()):08x}"}
    service.patch(f"/chats/{chat}/messages/u1", {"hidden": True})
    hidden = service.get(f"/chats/{chat}/digest").json()
    assert hidden != first
    service.patch(f"/chats/{chat}/messages/u1", {"hidden": False, "extra": {"mood": 1}, "pinned": True})
    assert service.get(f"/chats/{chat}/digest").json() == first
    assert service.get("/chats/nowhere/digest").status_code == 404


def test_a_list_from_the_middle(service: Service, chat: str) -> None:
    """`from_index` begins a list there, in any state, and its cursor leads on; beside a cursor it is a 422."""
    service.say(chat, 1, 2, 3, fold="none")
    service.patch(f"/chats/{chat}/messages/u2", {"hidden": True})

    def page(**query: Any) -> dict[str, Any]:
        answer = service.get(f"/chats/{chat}/messages", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    first = page(from_index=1, limit=2)
    assert [item["id"] for item in first["items"]] == ["a1", "u2"]
    assert [item["id"] for item in page(cursor=first["next_cursor"])["items"]] == ["a2", "u3", "a3"]
    assert [item["id"] for item in page(from_index=1, state="visible", limit=2)["items"]] == ["a1", "a2"]
    assert page(from_index=6) == {"items": [], "next_cursor": None}
    wrong = (
        {"from_index": 0, "cursor": first["next_cursor"]},
        {"from_index": 0, "state": "deleted"},
        {"from_index": -1},
    )
    for query in wrong:
        assert service.get(f"/chats/{chat}/messages", params=query).status_code == 422
    assert service.get("/chats/nowhere/messages", params={"from_index": 3}).status_code == 404
