"""The order of the layers around the routes, outermost first, whatever the order they are installed in."""

from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

ORDER = (
    "RequestIds",  # every answer has one, and one line in the log
    "SafetyHeaders",
    "Hosts",
    "Origins",  # outside all that follows, so that a browser may read those errors
    "Failures",
    "Heads",
    "Paths",
    "Keys",  # before anything of the body is read
    "MediaTypes",
    "BodyLimits",
    "Idempotency",  # inside the limits: it reads the body
)


def add_layer(app: FastAPI, layer: Any, **options: Any) -> None:
    """Put a middleware of `ORDER` in its place; others stay inside, in their own order."""
    app.user_middleware.append(Middleware(layer, **options))
    app.user_middleware.sort(key=_rank)


def _rank(middleware: Middleware) -> int:
    name = getattr(middleware.cls, "__name__", "")
    return ORDER.index(name) if name in ORDER else len(ORDER)
