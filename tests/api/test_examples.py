"""The examples of the documentation: there is one for everything, and each fits its model."""

from typing import Any

import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from app.api.examples import EXAMPLES
from app.api.routes import routers
from tests.support.service import Service

ROUTES: dict[str, APIRoute] = {
    f"{method.lower()} {route.path}": route
    for router in routers
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
}


def test_everything_has_an_example(service: Service) -> None:
    """Every body and every good answer of every operation shows what it looks like."""
    document: dict[str, Any] = service.http.get("/openapi.json").json()
    bare = [
        f"{method} {path} {where}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        for where, described in [("body", operation.get("requestBody", {})), *operation["responses"].items()]
        if where == "body" or where.startswith("2")
        for media in described.get("content", {}).values()
        if "example" not in media
    ]
    assert bare == []


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_fits_its_model(name: str) -> None:
    """What the examples show is what the models take and give."""
    route = ROUTES[name]
    gives: Any = route.response_model
    for answer in EXAMPLES[name].get("responses", {}).values():
        TypeAdapter(gives).validate_python(answer)
    request = EXAMPLES[name].get("request")
    if request and route.body_field:
        takes: Any = route.body_field.field_info.annotation
        TypeAdapter(takes).validate_python(request)
