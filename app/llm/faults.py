"""What people are told when a connection fails: its name, what happened, and the next step. Never keys or chat text."""

from dataclasses import asdict
from datetime import datetime
from http import HTTPStatus

from app.core.acceptance import BLANK
from app.core.limits import UNSTORABLE
from app.core.model import Usage
from app.core.retry import Failure
from app.core.summary import Connection
from app.errors import ModelError, ModelRejected, ModelUnavailable, ModelUnusable

MOST_SAID = 2000
"""Characters that are kept of an answer that was refused."""

_NOTHING = Usage()
# RFC 9110 renamed these, Python did with version 3.13.
_RENAMED = {413: "Content Too Large", 422: "Unprocessable Content"}
_NEXT_STEPS = {
    400: "check its model and what else it sends (max_tokens, temperature, extra_body)",
    401: "check its API key",
    402: "its account has no credit left",
    403: "its API key may not use this model; check both",
    404: "check its base URL and its model",
    405: "check its base URL",
    408: "its server was too slow",
    409: "look at its server, or wait",
    413: "the passage is too large for its server; lower passage_tokens",
    422: "check its model and what else it sends (max_tokens, temperature, extra_body)",
    425: "look at its server, or wait",
    429: "too many calls, or its quota is used up",
    501: "check its base URL",
}


def describe(connection: Connection, failure: Failure) -> str:
    """One sentence for people: "Connection 'default' answered 401 Unauthorized: check its API key."."""
    name = f"Connection {connection.name!r}"
    if failure.kind == "status" and failure.status is not None:
        return f"{name} answered {_status(failure.status)}: {failure.reason or _next_step(failure.status)}."
    if failure.kind == "unusable":
        return f"The model of connection {connection.name!r} {failure.reason}."
    return f"{name} {failure.reason}."


def error(
    connection: Connection,
    failure: Failure,
    *,
    retry_at: datetime | None = None,
    used: Usage = _NOTHING,
    said: str = "",
) -> ModelError:
    """The error that a failure becomes once nothing more is tried, by what can be done about it.

    `used` is what all attempts cost, `said` the last answer.
    """
    kind: type[ModelError] = ModelUnavailable if failure.retried else ModelRejected
    if failure.kind == "unusable":
        kind = ModelUnusable
    found = kind(
        describe(connection, failure),
        connection=connection.name,
        status=failure.status,
        retry_at=retry_at,
        **asdict(used),
    )
    if isinstance(found, ModelUnusable):
        found.blank = failure.reason == BLANK
        found.said = UNSTORABLE.sub("\ufffd", said[:MOST_SAID])
    return found


def nothing_to_extract(connection: str) -> ModelUnusable:
    """The error of a passage without a phrase."""
    found = ModelUnusable("The extractive summarizer found no phrase in these turns.", connection=connection)
    found.blank = True
    return found


def cooling_down(connection: Connection, retry_at: datetime, last_error: str | None, used: Usage) -> ModelUnavailable:
    """The error of a call that is not made."""
    why = f" Before that: {last_error}" if last_error else ""
    return ModelUnavailable(
        f"Connection {connection.name!r} is left alone until {retry_at:%H:%M:%S} UTC, then tried again by itself.{why}",
        connection=connection.name,
        retry_at=retry_at,
        **asdict(used),
    )


def _status(status: int) -> str:
    try:
        return f"{status} {_RENAMED.get(status, HTTPStatus(status).phrase)}"
    except ValueError:
        return f"{status}"


def _next_step(status: int) -> str:
    if 300 <= status < 400:
        return "redirects are not followed; give the final address as its base URL"
    general = "look at its server, or wait" if status >= 500 else "check its base URL and its server"
    return _NEXT_STEPS.get(status, general)
