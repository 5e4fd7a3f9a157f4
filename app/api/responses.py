"""How an error looks on the wire: application/problem+json (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from fastapi import Response
from pydantic import BaseModel

from app import errors
from app.errors import FieldError

MEDIA_TYPE = "application/problem+json"


class InvalidField(BaseModel):
    """One thing wrong with a request: where, and what, without the offending value."""

    loc: list[str | int]
    msg: str


class Problem(BaseModel):
    """What every error answers. `detail` says what to do; `errors` is there for requests found invalid."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[InvalidField] | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """The HTTP status of an error, and what it is called."""

    status: int
    title: str


KINDS: Mapping[type[errors.TurnfoldError], Kind] = {
    errors.InvalidRequest: Kind(422, "The request is not valid"),
    errors.IdempotencyMismatch: Kind(422, "The Idempotency-Key belongs to another request"),
    errors.UnsupportedComponent: Kind(422, "The file holds a part this server does not know"),
    errors.NotFound: Kind(404, "Not found"),
    errors.Conflict: Kind(409, "The stored state does not allow it"),
    errors.PreconditionFailed: Kind(412, "It has changed since it was read"),
    errors.PayloadTooLarge: Kind(413, "Too much at once"),
    errors.UnsupportedMediaType: Kind(415, "The body is of the wrong kind"),
    errors.Unauthorized: Kind(401, "The key is missing or wrong"),
    errors.Forbidden: Kind(403, "Requests from there are not allowed"),
    errors.ModelUnavailable: Kind(503, "The model cannot be reached now"),
    errors.ModelRejected: Kind(502, "The model's server refuses"),
    errors.ModelUnusable: Kind(502, "The model gives no usable answer"),
    errors.ModelError: Kind(502, "The model gives no usable answer"),
    errors.TurnfoldError: Kind(500, "Internal error"),
}


def problem_response(
    status: int,
    code: str,
    title: str,
    detail: str,
    errors: Sequence[FieldError] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem as a response; it is an ASGI application too, so middleware can answer with it."""
    body: dict[str, object] = {
        "type": f"urn:turnfold:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if errors:
        body["errors"] = list(errors)
    # A field's name comes from the request and may hold half of a surrogate pair.
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)


def problem_for(error: errors.TurnfoldError, headers: Mapping[str, str] | None = None) -> Response:
    """The response that tells of an error."""
    kind = next(KINDS[cls] for cls in type(error).__mro__ if cls in KINDS)
    fields = error.errors if isinstance(error, errors.InvalidRequest) else None
    return problem_response(
        kind.status, error.code, kind.title, error.detail, fields, {**_headers(error), **(headers or {})}
    )


def _headers(error: errors.TurnfoldError) -> dict[str, str]:
    if isinstance(error, errors.Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, errors.Conflict) and error.retry_after_s is not None:
        return {"Retry-After": str(error.retry_after_s)}
    if isinstance(error, errors.ModelUnavailable) and error.retry_at is not None:
        seconds = (error.retry_at - datetime.now(UTC)).total_seconds()
        return {"Retry-After": str(max(1, ceil(seconds)))}
    return {}
