"""Makes every error of the application a problem: its own, the framework's, and those nobody foresaw.

Also what OpenAPI says about them: `problem_docs(404, 409)` goes into a route's `responses=`.
"""

from collections.abc import Mapping, Sequence

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match, Mount
from starlette.types import Scope

from app.api.failures import Failures
from app.api.problem_docs import document_problems, problem_docs
from app.api.responses import Problem, problem_for, problem_response
from app.api.stack import add_layer
from app.api.validation import invalid_request, unreadable_body
from app.errors import InvalidRequest, TurnfoldError

__all__ = ["Problem", "install_problems", "problem_docs", "problem_for", "problem_response"]

log = structlog.get_logger()

_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")

# What the framework raises by itself, by status: code, title and, where its own words would not help, the detail.
_FRAMEWORK: Mapping[int, tuple[str, str, str | None]] = {
    401: ("unauthorized", "The key is missing or wrong", None),
    403: ("forbidden", "Requests from there are not allowed", None),
    404: ("not_found", "Not found", "There is nothing at this path. /openapi.json lists what there is."),
    405: ("method_not_allowed", "The path does not take this method", None),
    409: ("conflict", "The stored state does not allow it", None),
    412: ("precondition_failed", "It has changed since it was read", None),
    413: ("payload_too_large", "Too much at once", None),
    415: ("unsupported_media_type", "The body is of the wrong kind", None),
    429: ("rate_limited", "Too many requests", None),
}


def install_problems(app: FastAPI) -> None:
    """Answer every error of `app` as a problem, and say so in its OpenAPI document."""
    app.add_exception_handler(TurnfoldError, _own_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _framework_error)
    app.add_exception_handler(ClientDisconnect, _cut_short)
    for kind in (UnicodeEncodeError, OverflowError, DataError):
        app.add_exception_handler(kind, _unstorable)
    add_layer(app, Failures)
    document_problems(app)


def allowed_methods(routes: Sequence[BaseRoute], scope: Scope) -> list[str]:
    """The methods the path of a request takes, from all routes together: the framework names only the first's.

    A mount takes whatever its own application takes: here that is files, to be read. HEAD goes with GET.
    """
    plain = [route for route in routes if not isinstance(route, Mount)]
    found = {
        method
        for method in _METHODS
        if any(route.matches({**scope, "method": method})[0] is Match.FULL for route in plain)
    } or {"GET"}
    return sorted(found | {"HEAD"} if "GET" in found else found)


async def _own_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, TurnfoldError)
    return problem_for(error)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem_for(invalid_request(error.errors(), error.body))


async def _framework_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the body could not be read: FastAPI's only use of it
        return problem_for(unreadable_body(error.__cause__))
    if error.status_code == 405:
        return _wrong_method(request)
    default = "internal" if error.status_code >= 500 else "invalid_request"
    code, title, detail = _FRAMEWORK.get(error.status_code, (default, "The request cannot be answered", None))
    if detail is None or error.detail != "Not Found":
        detail = str(error.detail)
    return problem_response(error.status_code, code, title, detail, headers=error.headers)


def _wrong_method(request: Request) -> Response:
    code, title, _ = _FRAMEWORK[405]
    allow = ", ".join(allowed_methods(request.app.router.routes, request.scope))
    return problem_response(405, code, title, f"This path takes {allow}.", headers={"Allow": allow})


async def _cut_short(_request: Request, _error: Exception) -> Response:
    return problem_for(unreadable_body(None))  # nobody reads it; it keeps the log free of a traceback


async def _unstorable(_request: Request, error: Exception) -> Response:
    """What slipped through the types of app.api.text and broke the store: the request's fault all the same."""
    log.warning("unstorable_request", error=type(error).__name__)
    return problem_for(InvalidRequest("The request holds a character or a number that cannot be stored."))
