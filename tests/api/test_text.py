"""The types requests are made of."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from app.api.json_values import MAX_DEPTH, json_fault
from app.api.problems import install_problems
from app.api.text import Bool, Content, Id, Int, JsonObject, Name, Number, StrictModel, Text

ONE_MIB = 1024 * 1024


class Part(StrictModel):
    text: str


class Body(StrictModel):
    """A body whose fields are annotated with nothing of ours: the model itself must watch."""

    title: str | None = None
    share: float | None = None
    parts: list[Part] = Field(default_factory=list)
    extra: dict[str, Any] = Field(default_factory=dict)


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    app = FastAPI()

    @app.post("/things")
    def post(body: Body) -> dict[str, Any]:
        return body.model_dump()

    @app.get("/things/{thing_id}")
    def get(thing_id: Id, q: Text = "") -> list[str]:
        return [thing_id, q]

    install_problems(app)
    async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        yield client


def accepts(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", ["a", "Mira @ 2026-03-01 12:00", "چت‌ها", "👩‍🚀", "龍　一", "x" * 200, "...", "a:b%2F"])
def test_ids_hold_any_script(name: str) -> None:
    """An id may hold spaces, signs, joiners and any script."""
    assert accepts(Id, name)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "x" * 201, "a\n", "\0", "a\u202eb", "\ud800", "\x7f", 5, None])
def test_ids_that_no_path_can_hold(name: object) -> None:
    """Slashes, dots, control characters, invisible signs and other types are no ids."""
    assert not accepts(Id, name)


@pytest.mark.parametrize("kind", [Text, Content, Name])
@pytest.mark.parametrize("text", ["a\0b", "\ud83d", "\udc00x"])
def test_unstorable_text(kind: Any, text: str) -> None:
    """NUL and lone surrogates are refused in every kind of text, whole emoji are not."""
    assert not accepts(kind, text)
    assert accepts(kind, "a👩‍🚀\n")


def test_content_is_measured_in_bytes() -> None:
    """A content is at most 1 MiB of UTF-8, not of characters."""
    assert accepts(Content, "a" * ONE_MIB)
    assert accepts(Content, "é" * (ONE_MIB // 2))
    assert not accepts(Content, "é" * (ONE_MIB // 2) + "a")


@pytest.mark.parametrize(
    ("kind", "wrong"), [(Int, "5"), (Int, True), (Int, 5.0), (Bool, 1), (Bool, "yes"), (Number, "1")]
)
def test_types_are_not_guessed(kind: Any, wrong: object) -> None:
    """In a body, text is no number, a number is no truth, and the other way round."""
    assert not accepts(kind, wrong)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**63, -(2**63) - 1, "\0", {"\ud800": 1}, [[["\0"]]]])
def test_json_that_cannot_be_stored(value: object) -> None:
    """Free-form JSON holds no NaN, no number beyond 64 bits, no unstorable text, at whatever depth."""
    assert not accepts(JsonObject, {"a": value})
    assert not accepts(JsonObject, {"a": [{"b": value}]})


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def test_depth_is_bounded() -> None:
    """JSON may be nested a hundred levels deep; ten thousand are refused without a RecursionError."""
    assert json_fault(nested(MAX_DEPTH)) is None
    assert json_fault(nested(10_000)) is not None


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="ascii", min_codepoint=1)), inner),
)


@given(PLAIN)
def test_whatever_can_be_stored_passes(value: object) -> None:
    """No storable value is refused, and every one survives JSON and UTF-8."""
    assert json_fault(value) is None
    assert json.loads(json.dumps(value, ensure_ascii=False).encode()) == value


@given(PLAIN, st.sampled_from(["\0", "\ud800", float("nan"), 2**64]))
def test_a_fault_is_found_where_it_is(value: object, bad: object) -> None:
    """One bad value among good ones is found, and its place is named."""
    fault = json_fault({"good": value, "list": [value, {"bad": bad}]})
    assert fault is not None
    assert fault.at == ("list", 1, "bad")


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


@pytest.mark.parametrize("path", ["%00", "a%0A", "%7F", "%ED%A0%80", "a?q=%00", "%2E%2E"])
async def test_bad_paths_are_no_server_errors(client: AsyncClient, path: str) -> None:
    """What no id or query can hold is a 404 or 422 in a path or query."""
    answer = await client.get(f"/things/{path}")
    assert answer.status_code in {404, 422} or (path == "%ED%A0%80" and answer.status_code == 200)
