"""Exports over HTTP, and our own format back in."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.api.routes.exports import disposition
from tests.support.service import Service, running

FORMATS = {
    "turnfold": "application/x-ndjson",
    "sillytavern": "application/x-ndjson",
    "summaryception": "application/json",
    "openai": "application/json",
}


@pytest.fixture(scope="module")
def gates(service: Service) -> str:
    """A folded chat that no test changes."""
    service.put("/chats/gates", {"title": "The gate / 門", "user_name": "Mira"})
    service.say("gates", *range(1, 17))
    assert service.settled("gates")["counts"]["ghosted"] > 0
    return "gates"


def exported(service: Service, chat: str, **query: Any) -> httpx.Response:
    answer = service.get(f"/chats/{chat}/export", params=query)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.parametrize(("format", "kind"), FORMATS.items())
def test_each_format_is_a_download(service: Service, gates: str, format: str, kind: str) -> None:
    """Type, length and name are those of the file, and HEAD tells them too."""
    answer = exported(service, gates, format=format)
    assert answer.headers["content-type"] == kind
    assert int(answer.headers["content-length"]) == len(answer.content)
    named = answer.headers["content-disposition"]
    assert named.startswith('attachment; filename="The gate _ _')
    assert "filename*=UTF-8''The%20gate%20_%20%E9%96%80." in named
    head = service.http.head(f"/v1/chats/{gates}/export", params={"format": format})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-disposition"] == named


def test_our_own_format_is_the_default(service: Service, gates: str) -> None:
    """Without a format everything is exported."""
    assert exported(service, gates).content == exported(service, gates, format="turnfold").content


def test_everything_comes_back(service: Service, gates: str, chat: str) -> None:
    """What was exported and imported is the same chat: messages, ghosts, snippets, version 1; the id alone differs."""
    content = exported(service, gates).content
    answer = service.post("/import", content=content, params={"chat_id": chat})
    assert answer.status_code == 201, answer.text
    assert answer.json() == {"chat_id": chat, "messages": 32, "snippets": 2, "warnings": []}
    assert exported(service, chat).content.replace(chat.encode(), b"gates", 1) == content
    for path in ("messages?limit=100", "snippets", "snippets?state=all"):
        assert service.get(f"/chats/{chat}/{path}").json() == service.get(f"/chats/{gates}/{path}").json()
    assert service.get(f"/chats/{chat}").json()["memory_version"] == 1


def test_a_form_takes_it_too(service: Service, gates: str, chat: str) -> None:
    """As a file of a form; a memory beside it is refused, because it brings its own."""
    content = exported(service, gates).content
    file = ("gates.jsonl", content)
    both = service.post(
        "/import", files={"file": file, "memory": ("m.json", b'{"layers":[]}')}, params={"chat_id": chat}
    )
    assert (both.status_code, both.json()["code"]) == (422, "invalid_request")
    answer = service.post("/import", files={"file": file}, params={"chat_id": chat, "format": "turnfold"})
    assert answer.status_code == 201


def test_taken_ids(service: Service, gates: str) -> None:
    """The file's own id that is taken gives way with a warning; one that was asked for is a 409."""
    content = exported(service, gates).content
    answer = service.post("/import", content=content)
    assert answer.status_code == 201
    assert [warning["code"] for warning in answer.json()["warnings"]] == ["chat_id_taken"]
    assert answer.headers["location"] == f"/v1/chats/{answer.json()['chat_id']}"
    assert service.post("/import", content=content, params={"chat_id": gates}).status_code == 409


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (b'"version":1', b'"version":2', "unsupported_component"),
        (b'"parts":["message"', b'"parts":["message","dream"', "unsupported_component"),
        (b'{"snippet":', b'{"dream":', "unsupported_component"),
        (b'"role":"user"', b'"role":"user","mood":"grim"', "unsupported_component"),
        (b'"role":"user"', b'"role":"nobody"', "invalid_request"),
        (b'"leaves":{"layered":"', b'"leaves":{"layered":"no', "invalid_request"),
        (b'{"end":', b'{"e', "invalid_request"),
    ],
)
def test_what_is_unknown_or_damaged_changes_nothing(
    service: Service, gates: str, chat: str, before: bytes, after: bytes, code: str
) -> None:
    """A newer version, an unknown part and a damaged line are a 422 with their code, and no chat is made."""
    content = exported(service, gates).content
    assert before in content
    answer = service.post("/import", content=content.replace(before, after, 1), params={"chat_id": chat})
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert "othing was imported" in answer.json()["detail"]
    assert service.get(f"/chats/{chat}").status_code == 404


def test_a_file_of_ours_is_not_another_programs(service: Service, gates: str, chat: str) -> None:
    """Asked to be read as ours, another program's file is refused; so is ours as a memory."""
    answer = service.post("/import", content=b'[{"role":"user","content":"Hi."}]', params={"format": "turnfold"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    service.say(chat, 1)
    assert service.post(f"/chats/{chat}/import", content=exported(service, gates).content).status_code == 422


def test_an_unknown_chat_or_format(service: Service, gates: str) -> None:
    """A chat that is not there is a 404, a format that is none a 422."""
    assert service.get("/chats/nobody/export").json()["code"] == "not_found"
    answer = service.get(f"/chats/{gates}/export", params={"format": "docx"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_an_empty_chat(service: Service, chat: str) -> None:
    """Nothing is said yet, and every format says so."""
    service.put(f"/chats/{chat}", {})
    assert [json.loads(line).keys() for line in exported(service, chat).content.splitlines()] == [
        {"turnfold", "chat"},
        {"end"},
    ]
    assert exported(service, chat, format="openai").json() == {"messages": []}
    assert exported(service, chat, format="summaryception").json()["layers"] == []
    content = exported(service, chat).content
    assert service.post("/import", content=content).json()["messages"] == 0


def test_a_client_that_leaves_does_no_harm(tmp_path: Path) -> None:
    """When a download is cut off, the next one is whole."""
    with running(tmp_path) as service:
        message = {"role": "user", "content": "A long line of talk. " * 40_000}
        for _ in range(4):
            service.post("/chats/long/messages", {"messages": [message] * 3, "fold": "none"})
        with service.http.stream("GET", "/v1/chats/long/export") as answer:
            next(answer.iter_raw())
        whole = service.get("/chats/long/export")
        assert len(whole.content) == int(whole.headers["content-length"]) > 10_000_000


@pytest.mark.parametrize(
    ("name", "plain", "full"),
    [
        ("Mira.json", "Mira.json", "Mira.json"),
        ('a"b\\c/d:e.json', "a_b_c_d_e.json", "a_b_c_d_e.json"),
        ("..\r\nX: y.json", "__X_ y.json", "__X_ y.json"),
        ("門😀.json", "__.json", "門😀.json"),
    ],
)
def test_names_of_downloads(name: str, plain: str, full: str) -> None:
    """No name leaves its header or its folder, whatever a chat is called."""
    assert disposition(name) == f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(full, safe='')}"
