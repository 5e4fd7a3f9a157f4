"""Imports over HTTP."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.service import Service, running

LINES = [
    {"user_name": "Mira", "character_name": "Tom", "create_date": "2026-03-01@12h00m00s"},
    {"name": "Mira", "is_user": True, "mes": "Is the gate shut?", "send_date": "March 1, 2026 12:00pm"},
    {"name": "Tom", "is_user": False, "mes": "It is. 門", "send_date": "March 1, 2026 12:01pm"},
]
SILLYTAVERN = "\n".join(json.dumps(line, ensure_ascii=False) for line in LINES).encode()
OPENAI = json.dumps([{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Yes?"}]).encode()
STORE = {
    "layers": [
        [{"text": "Tom opens the gate.", "turnRange": [4, 7]}],
        [{"text": "Mira comes to the gate.", "turnRange": [0, 3], "promoted": True}],
    ],
    "summarizedUpTo": 7,
    "ghostedIndices": list(range(10)),
}


def speech(store: Any) -> list[dict[str, Any]]:
    """A chat of 15 turns with a memory; the extension hid its first five."""
    lines: list[dict[str, Any]] = [{"user_name": "Mira", "chat_metadata": {"summaryception": store} if store else {}}]
    for index in range(30):
        ghost = {"is_system": True, "extra": {"sc_ghosted": True}} if store and index < 10 else {}
        user = index % 2 == 0
        lines.append({"name": "Mira" if user else "Tom", "is_user": user, "mes": f"Line {index}.", **ghost})
    return lines


def jsonl(lines: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, lines)).encode()


def send(service: Service, content: bytes, content_type: str | None = None, **query: Any) -> httpx.Response:
    """An import with a raw body."""
    headers = {"Content-Type": content_type} if content_type else {}
    return service.post("/import", content=content, headers=headers, params=query)


@pytest.mark.parametrize("kind", [None, "application/json", "application/x-ndjson", "text/plain; charset=utf-8"])
def test_a_raw_body_of_any_type(service: Service, chat: str, kind: str | None) -> None:
    """The body is recognized by its content, whatever its type says."""
    answer = send(service, SILLYTAVERN, kind, chat_id=chat)
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"chat_id": chat, "messages": 2, "snippets": 0, "warnings": []}
    assert answer.headers["location"] == f"/v1/chats/{chat}"
    found = service.http.get(answer.headers["location"]).json()
    assert (found["user_name"], found["character_name"]) == ("Mira", "Tom")
    texts = [item["content"] for item in service.get(f"/chats/{chat}/messages").json()["items"]]
    assert texts == ["Is the gate shut?", "It is. 門"]


def test_a_form(service: Service, chat: str) -> None:
    """The field `file` of a form is the same as a body."""
    answer = service.post("/import", files={"file": ("chat.jsonl", SILLYTAVERN)}, params={"chat_id": chat})
    assert (answer.status_code, answer.json()["messages"]) == (201, 2)


def test_a_large_file_goes_through(service: Service, chat: str) -> None:
    """More than is held in memory, in either way of sending it."""
    message = {"role": "user", "content": "A long line of talk. " * 50}
    content = json.dumps([message] * 2000).encode()
    assert len(content) > 2 * 1024 * 1024
    raw = send(service, content, chat_id=chat)
    form = service.post("/import", files={"file": ("chat.json", content)}, params={"chat_id": f"{chat}-form"})
    assert (raw.json()["messages"], form.json()["messages"]) == (2000, 2000)


def test_a_title_and_an_id_are_made(service: Service) -> None:
    """A title can be given; without an id the server makes one."""
    found = send(service, OPENAI, title="The gate", format="openai").json()
    assert service.get(f"/chats/{found['chat_id']}").json()["title"] == "The gate"


def test_a_taken_id_is_a_conflict(service: Service, chat: str) -> None:
    """An id that is taken is a 409, and the chat there is as it was."""
    service.say(chat, 1)
    answer = send(service, OPENAI, chat_id=chat)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert service.get(f"/chats/{chat}").json()["counts"]["messages"] == 2


@pytest.mark.parametrize("content", [b"", b"   ", b"no chat", b"{}", b"\xff\xfe\x00", b'{"a":', b"PK\x03\x04"])
def test_what_is_no_chat_is_refused(service: Service, chat: str, content: bytes) -> None:
    """A file no reader knows is a 422, and no chat is made."""
    answer = send(service, content, chat_id=chat)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert service.get(f"/chats/{chat}").status_code == 404


@pytest.mark.parametrize("query", [{"format": "docx"}, {"chat_id": "a/b"}, {"chat_id": ""}, {"title": "x" * 1001}])
def test_bad_queries_are_refused(service: Service, query: dict[str, Any]) -> None:
    """An unknown format, an id that cannot be and a title that is too long are a 422."""
    assert send(service, OPENAI, **query).status_code == 422


def test_bad_forms_are_refused(service: Service) -> None:
    """A form without a file, with a text in its place or the memory's, or broken, is a 422."""
    file = ("chat.json", OPENAI)
    for form in (
        {"files": {"other": file}},
        {"data": {"file": "text"}, "files": {"other": file}},
        {"data": {"memory": "{}"}, "files": {"file": file}},
        {"content": b"--x\r\nbroken", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
        {"content": b"x", "headers": {"Content-Type": "multipart/form-data"}},
    ):
        answer = service.post("/import", **form)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_a_memory_comes_with_its_chat(service: Service, chat: str) -> None:
    """The header's memory ghosts what it covers; what the extension hid besides is visible, and that is said."""
    answer = send(service, jsonl(speech(STORE)), chat_id=chat)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["messages"], found["snippets"]) == (30, 2)
    assert [warning["code"] for warning in found["warnings"]] == ["ghosted_elsewhere"]
    status = service.status(chat)
    assert (status["counts"]["ghosted"], status["counts"]["hidden"], status["memory_version"]) == (8, 0, 1)
    assert status["backlog"]["choice_needed"] is False
    assert service.get(f"/chats/{chat}/preview").json()["text"].count("gate") == 2
    shown = service.get(f"/chats/{chat}/snippets").json()["items"]
    assert [(item["layer"], item["kind"], item["covers"]["last_index"]) for item in shown] == [
        (1, "import", 3),
        (0, "import", 7),
    ]


def test_a_memory_comes_beside_its_chat(service: Service, chat: str) -> None:
    """The form's field `memory` goes before the file's own memory."""
    other = {"layers": [[{"text": "The other one.", "turnRange": [0, 1]}]], "summarizedUpTo": 1}
    files = {"file": ("chat.jsonl", jsonl(speech(STORE))), "memory": ("memory.json", json.dumps(other).encode())}
    found = service.post("/import", files=files, params={"chat_id": chat}).json()
    assert found["snippets"] == 1
    assert "memory_twice" in [warning["code"] for warning in found["warnings"]]
    assert service.get(f"/chats/{chat}/preview").json()["text"].count("other one") == 1


def test_a_memory_comes_later(service: Service, chat: str) -> None:
    """A memory file is taken into a chat that is here, raw or as a form, once."""
    send(service, jsonl(speech(None)), chat_id=chat)
    memory = json.dumps(STORE).encode()
    answer = service.post(f"/chats/{chat}/import", content=memory)
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"chat_id": chat, "messages": 0, "snippets": 2, "warnings": []}
    assert service.status(chat)["counts"]["ghosted"] == 8
    again = service.post(f"/chats/{chat}/import", files={"file": ("memory.json", memory)}).json()
    assert (again["snippets"], {warning["code"] for warning in again["warnings"]}) == (0, {"snippet_not_taken"})


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"content": b"{}"}, "What can be read: an export of the Summaryception"),
        ({"content": b""}, "What can be read"),
        ({"files": {"other": b"{}"}}, "body.file"),
        ({"files": {"file": b'{"layers": []}', "memory": b"{}"}}, "body.memory"),
        ({"files": {"file": b"x"}}, "What can be read"),
    ],
)
def test_what_is_no_memory_is_refused(service: Service, chat: str, form: dict[str, Any], field: str) -> None:
    """It is a 422 that says what can be read, and the chat is as it was."""
    service.say(chat, 1)
    answer = service.post(f"/chats/{chat}/import", **form)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert field in answer.json()["detail"]
    assert service.status(chat)["memory_version"] == 0


def test_a_memory_for_no_chat_is_not_found(service: Service, chat: str) -> None:
    """It is a 404, and no chat is made."""
    answer = service.post(f"/chats/{chat}/import", content=json.dumps(STORE).encode())
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_bad_memory_beside_a_chat_imports_nothing(service: Service, chat: str) -> None:
    """A chat comes in with the memory that was sent along, or not at all."""
    files = {"file": ("chat.jsonl", jsonl(speech(None))), "memory": ("memory.json", b"nothing")}
    assert service.post("/import", files=files, params={"chat_id": chat}).status_code == 422
    assert service.get(f"/chats/{chat}").status_code == 404


def test_too_much_is_refused(tmp_path: Path) -> None:
    """More than IMPORT_MAX_MB is a 413 in either way of sending it, and no chat is made; the body limit is another."""
    with running(tmp_path, import_max_mb=0.01, max_body_mb=0.001) as service:
        content = json.dumps([{"role": "user", "content": "x" * 20_000}]).encode()
        raw = send(service, content, "application/json", chat_id="raw")
        form = service.post("/import", files={"file": ("chat.json", content)}, params={"chat_id": "form"})
        chunks = (content[start : start + 4096] for start in range(0, len(content), 4096))
        chunked = service.http.post("/v1/import?chat_id=chunked", content=chunks)
        for answer in (raw, form, chunked):
            assert (answer.status_code, answer.json()["code"]) == (413, "payload_too_large")
        assert service.get("/chats").json()["items"] == []
        assert send(service, json.dumps([{"role": "user", "content": "x" * 2000}]).encode()).status_code == 201
