"""Every error is a problem that says what to do and nothing it should not."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.responses import StreamingResponse
from fastapi.staticfiles import StaticFiles
from httpx import ASGITransport, AsyncClient
from pydantic import BaseModel, Field, field_validator
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from app import errors
from app.api.problems import install_problems, problem_docs, problem_response
from app.api.validation import MAX_ERRORS
from tests.support.logs import captured_logs


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Body(BaseModel):
    size: int = 0
    name: str = ""
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    many: list[int] = []

    @field_validator("name")
    @classmethod
    def check(cls, name: str) -> str:
        if name.startswith("quoted"):
            raise ValueError(f"{name} is wrong")
        if name:
            raise ValueError("must be empty")
        return name


RAISED: dict[str, Exception] = {}


@pytest.fixture
def app() -> FastAPI:
    app = FastAPI()
    nested = APIRouter(prefix="/v1")

    @app.get("/raise/{what}", responses=problem_docs(404, 409))
    async def fail(what: str) -> None:
        raise RAISED[what]

    @nested.post("/body")
    async def post(body: Body) -> None: ...

    @nested.get("/body")
    async def get(limit: int = 1) -> None: ...

    @app.get("/half")
    async def half() -> StreamingResponse:
        def pieces() -> Iterator[str]:
            yield "half"
            raise KeyError

        return StreamingResponse(pieces())

    @app.get("/unfit", response_model=Cat)
    async def unfit() -> dict[str, str]:
        return {"kind": "secret"}

    app.include_router(nested)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent))
    install_problems(app)
    return app


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(transport=ASGITransport(app), base_url="http://test") as client:
        yield client


async def raised(client: AsyncClient, error: Exception) -> Any:
    RAISED["it"] = error
    return await client.get("/raise/it")


OWN = [
    (errors.InvalidRequest("d", [{"loc": ["body"], "msg": "m"}]), 422, "invalid_request"),
    (errors.IdempotencyMismatch("d"), 422, "idempotency_mismatch"),
    (errors.UnsupportedComponent("d"), 422, "unsupported_component"),
    (errors.NotFound("d"), 404, "not_found"),
    (errors.Conflict("d"), 409, "conflict"),
    (errors.PreconditionFailed("d"), 412, "precondition_failed"),
    (errors.PayloadTooLarge("d"), 413, "payload_too_large"),
    (errors.UnsupportedMediaType("d"), 415, "unsupported_media_type"),
    (errors.Unauthorized("d"), 401, "unauthorized"),
    (errors.Forbidden("d"), 403, "forbidden"),
    (errors.ModelUnavailable("d", connection="c"), 503, "provider_unavailable"),
    (errors.ModelRejected("d", connection="c"), 502, "provider_rejected"),
    (errors.ModelUnusable("d", connection="c"), 502, "provider_rejected"),
]


@pytest.mark.parametrize(("error", "status", "code"), OWN, ids=[type(error).__name__ for error, *_ in OWN])
async def test_own_errors(client: AsyncClient, error: Exception, status: int, code: str) -> None:
    """Every error of the tree has the status and the code of the contract."""
    answer = await raised(client, error)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert {key: problem[key] for key in ("status", "code", "detail")} == {
        "status": status,
        "code": code,
        "detail": "d",
    }
    assert problem["type"]
    assert problem["title"]
    assert problem.get("errors") == ([{"loc": ["body"], "msg": "m"}] if code == "invalid_request" else None)


async def test_when_to_try_again(client: AsyncClient) -> None:
    """Conflicts and absent models say when to try again, a missing key how to send it."""
    assert (await raised(client, errors.Conflict("d", retry_after_s=7))).headers["Retry-After"] == "7"
    soon = datetime.now(UTC) + timedelta(hours=1)
    absent = await raised(client, errors.ModelUnavailable("d", connection="c", retry_at=soon))
    assert 3500 < int(absent.headers["Retry-After"]) <= 3600
    assert (await raised(client, errors.Unauthorized("d"))).headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("words", "status"),
    [("database is locked", 503), ("database or disk is full", 503), ("no such table: chats", 500)],
)
async def test_a_database_that_does_not_answer(client: AsyncClient, words: str, status: int) -> None:
    """A locked or full database is a 503 with Retry-After; our own mistakes stay a 500."""
    with captured_logs() as logs:
        answer = await raised(client, OperationalError("SELECT secret", {"text": "secret"}, Exception(words)))
    assert answer.status_code == status
    assert answer.json()["code"] == "internal"
    assert ("Retry-After" in answer.headers) is (status == 503)
    assert "secret" not in answer.text
    assert logs[0]["log_level"] == "error"


async def test_a_database_whose_connections_are_all_taken(client: AsyncClient) -> None:
    """To wait for a connection in vain is a 503 with Retry-After like any busy database."""
    answer = await raised(client, PoolTimeout("QueuePool limit of size 5 overflow 10 reached"))
    assert (answer.status_code, answer.json()["code"]) == (503, "internal")
    assert int(answer.headers["Retry-After"]) > 0
    assert "QueuePool" not in answer.text


UNSTORABLE = [
    OverflowError("int too large"),
    DataError("", {}, Exception("NUL")),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
]


@pytest.mark.parametrize("error", UNSTORABLE, ids=[type(error).__name__ for error in UNSTORABLE])
async def test_what_the_store_cannot_hold(client: AsyncClient, error: Exception) -> None:
    """What slips through and breaks the store is the request's fault, not the server's."""
    assert (await raised(client, error)).status_code == 422


async def test_nothing_internal_is_shown(client: AsyncClient) -> None:
    """An unforeseen error is a 500 without its words, logged with its traceback."""
    with captured_logs() as logs:
        answer = await raised(client, KeyError("secret"))
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "secret" not in answer.text
    assert isinstance(logs[0]["exc_info"], KeyError)


async def test_the_log_holds_no_texts(client: AsyncClient) -> None:
    """Neither a statement's parameters nor a value that does not fit its model stand in the log."""
    with captured_logs() as logs:
        await raised(client, OperationalError("SELECT ?", {"text": "secret"}, Exception("syntax error")))
        await client.get("/unfit")
    assert "secret" not in str(logs[0]["exc_info"])
    assert "syntax error" in str(logs[0]["exc_info"])
    assert logs[1]["error"] == "ResponseValidationError"
    assert logs[1]["invalid"] == [("literal_error", "response.kind")]
    assert "secret" not in str(logs[1])


async def test_half_an_answer_is_not_completed(client: AsyncClient) -> None:
    """An error in the middle of an answer cuts the connection: nothing is added that would look like the rest."""
    with pytest.raises(KeyError):
        await client.get("/half")


async def test_the_framework_s_errors(client: AsyncClient) -> None:
    """A wrong path and a wrong method are problems; Allow names the methods of all routes of the path."""
    missing = await client.get("/nope")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    wrong = await client.delete("/v1/body")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong.headers["Allow"] == "GET, HEAD, POST"
    file = await client.put("/static/test_problems.py")
    assert (file.status_code, file.headers["Allow"]) == (405, "GET, HEAD")
    teapot = await raised(client, HTTPException(418, "short and stout", {"X-Pot": "1"}))
    assert (teapot.status_code, teapot.json()["detail"], teapot.headers["X-Pot"]) == (418, "short and stout", "1")


@pytest.mark.parametrize(
    "body",
    [
        {"size": "secret"},
        {"name": "quoted secret"},
        {"pet": {"kind": "secret"}},
        {"many": ["secret"] * 1000},
    ],
)
async def test_input_is_never_echoed(client: AsyncClient, body: dict[str, object]) -> None:
    """Neither errors nor detail hold what was sent, and there are at most fifty errors."""
    answer = await client.post("/v1/body", json=body)
    assert answer.status_code == 422
    assert "secret" not in answer.text
    problem = answer.json()
    assert 0 < len(problem["errors"]) <= MAX_ERRORS
    assert all(error.keys() == {"loc", "msg"} for error in problem["errors"])
    assert problem["detail"].startswith("body.")


async def test_our_own_words_are_kept(client: AsyncClient) -> None:
    """A validator's message that quotes nothing is shown, without pydantic's prefix."""
    answer = await client.post("/v1/body", json={"name": "x1"})
    assert answer.json()["errors"] == [{"loc": ["body", "name"], "msg": "must be empty"}]
    assert (await client.get("/v1/body?limit=x")).json()["errors"][0]["loc"] == ["query", "limit"]


async def test_where_json_breaks(client: AsyncClient) -> None:
    """A body that is no JSON is told by line and column."""
    answer = await client.post(
        "/v1/body", content=b'{\n "size": 1,\n "name" "secret"}', headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422
    assert "line 3, column 9" in answer.json()["detail"]
    assert "secret" not in answer.text


def test_a_problem_is_always_utf_8() -> None:
    """Half a surrogate pair in a field's name does not break the answer that tells of it."""
    answer = problem_response(422, "c", "t", "d", [{"loc": ["\ud800"], "msg": "m"}])
    assert bytes(answer.body).decode()


async def test_the_document_knows_problems(client: AsyncClient) -> None:
    """OpenAPI shows problems with their media type and an example, the framework's own 422 included."""
    document = (await client.get("/openapi.json")).json()
    documented = document["paths"]["/raise/{what}"]["get"]["responses"]
    for status in ("404", "409", "422"):
        content = documented[status]["content"]
        assert content.keys() == {"application/problem+json"}
        assert content["application/problem+json"]["example"]["status"] == int(status)
        assert content["application/problem+json"]["schema"] == {"$ref": "#/components/schemas/Problem"}
    schemas = document["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    assert {"Problem", "InvalidField"} <= schemas.keys()
