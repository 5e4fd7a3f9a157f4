"""The documentation that the server gives of itself."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from app.api.examples import EXAMPLES
from app.api.routes import routers
from tests.support.service import Service

OPERATIONS = """
PUT /v1/chats/{chat_id} · POST /v1/chats · GET /v1/chats · GET /v1/chats/{chat_id} · PATCH /v1/chats/{chat_id} ·
GET /v1/commands · GET /v1/chats/{chat_id}/digest ·
DELETE /v1/chats/{chat_id} · POST /v1/chats/{chat_id}/fork · POST /v1/chats/{chat_id}/messages ·
GET /v1/chats/{chat_id}/messages · GET /v1/chats/{chat_id}/messages/{message_id} · PUT /v1/chats/{chat_id}/messages ·
PATCH /v1/chats/{chat_id}/messages/{message_id} · DELETE /v1/chats/{chat_id}/messages/{message_id} ·
POST /v1/chats/{chat_id}/messages/{message_id}/restore · GET /v1/chats/{chat_id}/status ·
GET /v1/chats/{chat_id}/projection · POST /v1/chats/{chat_id}/projection · GET /v1/chats/{chat_id}/preview ·
GET /v1/chats/{chat_id}/diagnostics · GET /v1/chats/{chat_id}/strata · POST /v1/chats/{chat_id}/trial ·
GET /v1/chats/{chat_id}/growth · GET /v1/usage ·
POST /v1/chats/{chat_id}/summarize · POST /v1/chats/{chat_id}/backlog · POST /v1/chats/{chat_id}/stop ·
POST /v1/chats/{chat_id}/pause · POST /v1/chats/{chat_id}/resume · POST /v1/chats/{chat_id}/clear ·
POST /v1/chats/{chat_id}/repair · GET /v1/chats/{chat_id}/snippets · GET /v1/chats/{chat_id}/snippets/{snippet_id} ·
POST /v1/chats/{chat_id}/snippets · PATCH /v1/chats/{chat_id}/snippets/{snippet_id} ·
DELETE /v1/chats/{chat_id}/snippets/{snippet_id} · POST /v1/chats/{chat_id}/snippets/{snippet_id}/regenerate ·
GET /v1/chats/{chat_id}/snippets/{snippet_id}/versions · POST /v1/chats/{chat_id}/undo ·
GET /v1/chats/{chat_id}/snippets/{snippet_id}/messages · POST /v1/import · POST /v1/chats/{chat_id}/import ·
GET /v1/chats/{chat_id}/export ·
GET /v1/chats/{chat_id}/search ·
POST /v1/chats/{chat_id}/commands · GET /v1/presets · GET /v1/jobs · GET /v1/jobs/{job_id} ·
GET /v1/jobs/{job_id}/events · GET /v1/chats/{chat_id}/events · GET /v1/events ·
POST /v1/jobs/{job_id}/cancel · GET /v1/connections · GET /v1/connections/{name} · PUT /v1/connections/{name} ·
GET /v1/client-calls · POST /v1/client-calls/{call_id} · POST /v1/client-calls/{call_id}/renew ·
POST /v1/client-calls/{call_id}/release ·
DELETE /v1/connections/{name} · GET /v1/connections/{name}/models · POST /v1/connections/{name}/test ·
GET /v1/chats/{chat_id}/views · GET /v1/chats/{chat_id}/views/{name} · PUT /v1/chats/{chat_id}/views/{name} ·
DELETE /v1/chats/{chat_id}/views/{name} ·
DELETE /v1/chats/{chat_id}/sessions/{session_id} · GET /v1/settings · PATCH /v1/settings · GET /healthz · GET /readyz
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
                kinds = ("application/json", "application/problem+json", "text/event-stream")
                content = next(answer["content"][kind] for kind in kinds if kind in answer["content"])
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


def routes() -> dict[str, APIRoute]:
    """Routes by method and path."""
    found = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {f"{method} {route.path}": route for route in found for method in route.methods or ()}


def json_answers(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Call, status and description of every JSON answer that is no problem."""
    for call, operation in operations(document).items():
        for status, answer in operation["responses"].items():
            if "application/json" in answer.get("content", {}):
                yield call, status, answer["content"]["application/json"]


def test_examples_of_answers_are_what_the_models_give(document: dict[str, Any]) -> None:
    """Each JSON answer, 503 included, has an example that its model gives back unchanged: no field gone or renamed."""
    known = routes()
    for call, status, media in json_answers(document):
        assert "example" in media, (call, status)
        route = known[call]
        model: TypeAdapter[Any] = TypeAdapter(route.responses.get(int(status), {}).get("model", route.response_model))
        shown = model.validate_json(json.dumps(media["example"]))
        # Answers ignore fields they do not know, so that only the way back shows one that is gone.
        assert model.dump_python(shown, mode="json", exclude_unset=True) == media["example"], (call, status)


def test_examples_of_bodies_are_what_the_models_take(document: dict[str, Any]) -> None:
    """Each JSON body has an example that its model takes as it comes over the wire."""
    known = routes()
    for call, operation in operations(document).items():
        media = operation.get("requestBody", {}).get("content", {}).get("application/json")
        field = known[call].body_field
        assert (media is None) == (field is None), call
        if media is not None and field is not None:
            assert "example" in media, call
            _, errors = field.validate(json.loads(json.dumps(media["example"])), {}, loc=("body",))
            assert not errors, (call, errors)


def test_every_example_has_its_place(document: dict[str, Any]) -> None:
    """No example is left over from a call, a body or a status that is gone."""
    for name, example in EXAMPLES.items():
        method, path = name.split()
        operation = document["paths"][path][method]
        assert example.get("responses", {}).keys() <= operation["responses"].keys(), name
        assert "request" not in example or "requestBody" in operation, name


def test_the_examples_of_an_import_can_be_imported(service: Service, document: dict[str, Any]) -> None:
    """The raw file and the form that the documentation shows are taken, and give the one message they hold."""
    content = operations(document)["POST /v1/import"]["requestBody"]["content"]
    raw = service.http.post("/v1/import", content=content["*/*"]["example"])
    form = service.http.post("/v1/import", files=content["multipart/form-data"]["example"])
    for answer in (raw, form):
        assert answer.status_code == 201, answer.text
        assert answer.json()["messages"] == 1


def test_the_example_of_a_memory_can_be_imported(service: Service, chat: str, document: dict[str, Any]) -> None:
    """The memory that the documentation shows is taken, raw and as a form, by a chat that is long enough."""
    content = operations(document)["POST /v1/chats/{chat_id}/import"]["requestBody"]["content"]
    raw, form = (content[kind]["example"] for kind in ("*/*", "multipart/form-data"))
    for name, sent in (("raw", {"content": raw}), ("form", {"files": form})):
        service.say(f"{chat}-{name}", *range(1, 12), fold="none")
        answer = service.post(f"/chats/{chat}-{name}/import", **sent)
        assert (answer.status_code, answer.json()["snippets"], answer.json()["warnings"]) == (201, 1, [])


def test_docs_are_served(service: Service) -> None:
    """/docs shows it all to people."""
    answer = service.http.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
