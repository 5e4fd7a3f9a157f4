"""The types requests are made of."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from pydantic import TypeAdapter, ValidationError

from app.api.problems import install_problems
from app.api.text import Bool, Content, Id, Int, Name, Number, Text

ONE_MIB = 1024 * 1024


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    app = FastAPI()

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


@pytest.mark.parametrize("path", ["%00", "a%0A", "%7F", "%ED%A0%80", "a?q=%00", "%2E%2E"])
async def test_bad_paths_are_no_server_errors(client: AsyncClient, path: str) -> None:
    """What no id or query can hold is a 404 or 422 in a path or query."""
    answer = await client.get(f"/things/{path}")
    assert answer.status_code in {404, 422} or (path == "%ED%A0%80" and answer.status_code == 200)
