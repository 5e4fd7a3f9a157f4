"""The documentation that the server gives of itself."""

from typing import Any

import pytest

from tests.support.service import Service

OPERATIONS = """
PUT /v1/chats/{chat_id} · POST /v1/chats · GET /v1/chats · GET /v1/chats/{chat_id} · PATCH /v1/chats/{chat_id} ·
DELETE /v1/chats/{chat_id} · POST /v1/chats/{chat_id}/messages · GET /v1/chats/{chat_id}/messages ·
GET /v1/chats/{chat_id}/messages/{message_id} · GET /v1/chats/{chat_id}/status · GET /v1/chats/{chat_id}/projection ·
POST /v1/chats/{chat_id}/projection · GET /v1/chats/{chat_id}/preview · POST /v1/chats/{chat_id}/summarize ·
POST /v1/chats/{chat_id}/backlog · POST /v1/chats/{chat_id}/stop · POST /v1/chats/{chat_id}/pause ·
POST /v1/chats/{chat_id}/resume · POST /v1/chats/{chat_id}/clear · GET /v1/chats/{chat_id}/snippets ·
GET /v1/chats/{chat_id}/snippets/{snippet_id} · GET /v1/chats/{chat_id}/snippets/{snippet_id}/messages ·
POST /v1/import · POST /v1/chats/{chat_id}/commands · GET /v1/presets · GET /v1/jobs · GET /v1/jobs/{job_id} ·
POST /v1/jobs/{job_id}/cancel · GET /v1/connections · GET /v1/connections/{name} · PUT /v1/connections/{name} ·
DELETE /v1/connections/{name} · GET /v1/connections/{name}/models · POST /v1/connections/{name}/test ·
GET /v1/settings · PATCH /v1/settings · GET /healthz · GET /readyz
"""


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    """/openapi.json."""
    answer = service.http.get("/openapi.json")
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Operations by method and path."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_the_calls_of_the_contract_are_there(document: dict[str, Any]) -> None:
    """Every call that this version serves is documented."""
    assert {call.strip() for call in OPERATIONS.split("·")} <= operations(document).keys()


def test_every_call_is_explained(document: dict[str, Any]) -> None:
    """Each has a summary, a description, one tag and an id of its own that reads like a name."""
    ids = []
    for call, operation in operations(document).items():
        assert operation["summary"], call
        assert operation["description"], call
        assert len(operation["tags"]) == 1, call
        assert operation["operationId"].replace("_", "").isalpha(), call
        ids.append(operation["operationId"])
    assert len(ids) == len(set(ids))


def test_every_good_answer_has_a_shape(document: dict[str, Any]) -> None:
    """What a call answers is described, and so are its problems."""
    for call, operation in operations(document).items():
        for status, answer in operation["responses"].items():
            if status == "204":
                assert "content" not in answer, call
            elif int(status) < 400 or status == "503":
                content = answer["content"].get("application/json") or answer["content"]["application/problem+json"]
                assert content["schema"], (call, status)
            else:
                assert list(answer["content"]) == ["application/problem+json"], (call, status)


def test_bodies_have_examples(document: dict[str, Any]) -> None:
    """Every JSON body is described with an example."""
    schemas = document["components"]["schemas"]
    for call, operation in operations(document).items():
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            continue
        choices = content["schema"].get("anyOf", [content["schema"]])
        named = [choice["$ref"].rsplit("/", 1)[1] for choice in choices if "$ref" in choice]
        assert named, call
        assert named == ["EmptyBody"] or "examples" in schemas[named[0]], call


def test_docs_are_served(service: Service) -> None:
    """/docs shows it all to people."""
    answer = service.http.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
