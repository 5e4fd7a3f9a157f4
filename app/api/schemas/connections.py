"""Connections to models, in and out. A key goes in and never comes out."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, HttpUrl, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Page, Shown
from app.api.text import Int, JsonObject, Name, Number, StrictModel, Text
from app.core.summary import Provider

_MAX_TOKENS = 100_000_000
_URL = TypeAdapter(HttpUrl)


def _check_address(address: str) -> str:
    try:
        url = _URL.validate_python(address)
    except ValidationError:
        raise PydanticCustomError("address", "Must be an http or https address.") from None
    if url.username or url.password:
        raise PydanticCustomError("address", "Must not hold a user or a password; a key goes into api_key.")
    return address


Address = Annotated[Text, Field(min_length=1, max_length=2000), AfterValidator(_check_address)]
Key = Annotated[Text, Field(min_length=1, max_length=10_000, pattern=r"^[\x21-\x7e]+$")]


class ConnectionFields(StrictModel):
    """All of a connection: a PUT replaces it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"provider": "openai", "base_url": "http://127.0.0.1:8080/v1", "model": "small"}]
        }
    )

    provider: Provider = Field(description="What kind of server it is.")
    base_url: Address | None = Field(default=None, description="Where it is.", examples=["http://127.0.0.1:8080/v1"])
    model: Name | None = Field(default=None, description="Which of its models is asked.", examples=["small"])
    api_key: Key | None = Field(
        default=None,
        description="Absent: the key stays if provider and base_url stay. Null removes it.",
        json_schema_extra={"writeOnly": True},
    )
    context_size: Int | None = Field(default=None, ge=256, le=_MAX_TOKENS, description="Of the model.")
    temperature: Number | None = Field(default=None, ge=0, le=5)
    max_tokens: Int | None = Field(default=None, ge=1, le=_MAX_TOKENS, description="Of one answer.")
    timeout_s: Number | None = Field(default=None, gt=0, le=3600, description="Seconds one attempt may take.")
    concurrency: Int | None = Field(default=None, ge=1, le=64, description="Calls at once.")
    extra_body: JsonObject | None = Field(default=None, description="Fields added to every request to it.")

    def stored(self) -> dict[str, Any]:
        """All fields but the key."""
        return self.model_dump(exclude={"api_key"})


class Connection(Shown):
    """A connection. `source`: from the environment, stored by a PUT, or built in."""

    name: str = Field(examples=["default"])
    provider: Provider
    base_url: str | None
    model: str | None
    has_api_key: bool
    context_size: int | None
    temperature: float | None
    max_tokens: int | None
    timeout_s: float
    concurrency: int
    extra_body: dict[str, Any]
    source: Literal["environment", "stored", "built_in"]


class ConnectionPage(Page[Connection]):
    """Connections by name."""


class ModelPage(Page[str]):
    """Names of models."""


class Trial(Shown):
    """How a test went; `detail` says what the model answered, or what to do."""

    ok: bool
    latency_ms: int
    detail: str
