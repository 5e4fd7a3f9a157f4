"""How a JSON body becomes the model a route takes."""

import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from httpx import ASGITransport, AsyncClient
from pydantic import AfterValidator, Field

from app.api.json_bodies import INLINE_BYTES, JsonRoute
from app.api.problems import install_problems
from app.api.routes import routers
from app.api.text import StrictModel

_validated_in: list[threading.Thread] = []


def _note_thread(text: str) -> str:
    _validated_in.append(threading.current_thread())
    return text


class Part(StrictModel):
    text: str


class Body(StrictModel):
    """A body whose fields are annotated with nothing of ours: reading it must watch."""

    title: Annotated[str, AfterValidator(_note_thread)] | None = None
    share: float | None = None
    parts: list[Part] = Field(default_factory=list)
    extra: dict[str, Any] = Field(default_factory=dict)


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    router = APIRouter(route_class=JsonRoute)

    @router.post("/things")
    def post(body: Body) -> dict[str, Any]:
        return body.model_dump(exclude_unset=True)

    app = FastAPI()
    app.include_router(router)
    install_problems(app)
    _validated_in.clear()
    async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        yield client


def test_every_route_reads_its_body_so() -> None:
    """No route of the application leaves its body to FastAPI."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    assert sum(route.body_field is not None for route in routes) > 5
    assert all(isinstance(route, JsonRoute) for route in routes)


async def test_a_body_is_validated_once_and_a_long_one_beside_the_event_loop(client: AsyncClient) -> None:
    """However long it is, its fields are looked at once; a long one does not hold up other calls."""
    for length in (10, INLINE_BYTES):
        answer = await client.post("/things", json={"title": "x" * length, "parts": [{"text": "a"}]})
        assert answer.json() == {"title": "x" * length, "parts": [{"text": "a"}]}
    here = threading.current_thread()
    assert [thread is here for thread in _validated_in] == [True, False]


async def test_a_long_body_is_found_wrong_like_a_short_one(client: AsyncClient) -> None:
    """The same place and the same words."""
    for padding in (0, INLINE_BYTES):
        answer = await client.post("/things", json={"parts": [{"text": "x" * padding}, {"txt": "a"}]})
        assert [wrong["loc"] for wrong in answer.json()["errors"]] == [
            ["body", "parts", 1, "text"],
            ["body", "parts", 1, "txt"],
        ]


BAD_BODIES = {
    "surrogate": b'{"title":"\\ud800"}',
    "raw surrogate": b'{"title":"\xed\xa0\x80"}',
    "NUL": b'{"title":"a\\u0000"}',
    "nested model": b'{"parts":[{"text":"ok"},{"text":"\\udfff"}]}',
    "surrogate key": b'{"extra":{"\\ud800":1}}',
    "unknown surrogate field": b'{"\\ud800":1}',
    "NaN": b'{"extra":{"a":NaN}}',
    "Infinity": b'{"share":-Infinity}',
    "huge float": b'{"share":1e999}',
    "65 bits": b'{"extra":{"a":18446744073709551616}}',
    "5000 digits": b'{"extra":{"a":' + b"9" * 5000 + b"}}",
    "500 deep": b'{"extra":' + b'{"a":' * 500 + b"1" + b"}" * 501,
    "100,000 deep": b'{"extra":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "no UTF-8": b'{"title":"\xff"}',
    "unknown field": b'{"nope":1}',
    "list": b"[]",
    "half": b'{"title":',
    "empty": b"",
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
async def test_no_body_breaks_the_server(client: AsyncClient, body: bytes) -> None:
    """Every bad body is a 422 problem in valid UTF-8."""
    answer = await client.post("/things", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "invalid_request"
    answer.content.decode()


async def test_a_nested_fault_is_named(client: AsyncClient) -> None:
    """The place of a fault inside free-form JSON stands in loc."""
    answer = await client.post("/things", json={"extra": {"deep": [{"er": "a\0secret"}]}})
    assert answer.json()["errors"] == [
        {"loc": ["body", "extra", "deep", 0, "er"], "msg": "Holds a NUL character."},
    ]
    assert "secret" not in answer.text


async def test_duplicate_keys_are_fine(client: AsyncClient) -> None:
    """Of a field that is given twice the last one counts."""
    answer = await client.post(
        "/things", content=b'{"title":"a","title":"b"}', headers={"Content-Type": "application/json"}
    )
    assert answer.json()["title"] == "b"
