"""What the OpenAPI document says about errors."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.constants import REF_TEMPLATE

from app.api.examples import add_examples
from app.api.responses import KINDS, MEDIA_TYPE, Problem

_OPERATIONS = {"get", "put", "post", "patch", "delete", "options", "head", "trace"}
_SCHEMA = {"$ref": REF_TEMPLATE.format(model="Problem")}

# One example for each status, in the words a caller meets.
_EXAMPLES = {
    401: ("unauthorized", "Send the key as Authorization: Bearer or as X-API-Key."),
    403: ("forbidden", "This origin is not among TURNFOLD_CORS_ORIGINS."),
    404: ("not_found", "There is no chat with this id."),
    405: ("method_not_allowed", "This path takes GET, PUT."),
    409: ("conflict", "A message with this id holds another content."),
    412: ("precondition_failed", "The chat has changed since it was read. Read it again."),
    413: ("payload_too_large", "A body may hold at most 16 MiB."),
    415: ("unsupported_media_type", "Send application/json."),
    422: ("invalid_request", "body.messages.0.content: Holds a NUL character."),
    429: ("rate_limited", "Try again later."),
    500: ("internal", "Something went wrong here. The server's log tells more under the request id 5f0c."),
    502: ("provider_rejected", "The model's server refuses the key. Look at the connection."),
    503: ("provider_unavailable", "The model's server cannot be reached. The work goes on by itself."),
}
_TITLES = {405: "The path does not take this method", 429: "Too many requests"} | {
    kind.status: kind.title for kind in reversed(list(KINDS.values()))
}


def problem_docs(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Entries for a route's `responses=`, one for each status."""
    return {status: _entry(status) for status in statuses}


def document_problems(app: FastAPI) -> None:
    """Put the schema of problems and all examples into the OpenAPI document; FastAPI's own 422 becomes a problem."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = describe()
            _rewrite(document)
            add_examples(document)
        return describe()

    app.openapi = openapi  # type: ignore[method-assign]  # the way FastAPI documents


def _entry(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES[status]
    title = _TITLES[status]
    example: dict[str, Any] = {
        "type": f"urn:turnfold:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if status == 422:
        example["errors"] = [{"loc": ["body", "messages", 0, "content"], "msg": "Holds a NUL character."}]
    return {"description": title, "content": {MEDIA_TYPE: {"schema": _SCHEMA, "example": example}}}


def _rewrite(document: dict[str, Any]) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schema = Problem.model_json_schema(ref_template=REF_TEMPLATE)
    schemas |= schema.pop("$defs", {})
    schemas["Problem"] = schema
    for path in document.get("paths", {}).values():
        for method in _OPERATIONS & path.keys():
            responses = path[method].get("responses", {})
            if "application/json" in responses.get("422", {}).get("content", {}):
                responses["422"] = _entry(422)
