"""What several answers are made of."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

T = TypeVar("T")

NOT_AVAILABLE = "Is not available in this version."


class Shown(BaseModel):
    """An answer, read from what a service returns. Times are RFC 3339 in UTC."""

    model_config = ConfigDict(from_attributes=True)


class Page(Shown, Generic[T]):
    """One page of a list."""

    items: list[T]
    next_cursor: str | None = Field(description="Send it as `cursor` for the next page; null on the last one.")


class Usage(Shown):
    """What summaries cost: calls to a model, and the tokens of these."""

    calls: int = Field(examples=[3])
    prompt_tokens: int = Field(examples=[5120])
    completion_tokens: int = Field(examples=[240])


class Place(Shown):
    """A message, by id and 0-based index."""

    message_id: str = Field(examples=["a21"])
    index: int = Field(examples=[41])


class Notice(Shown):
    """Something to know: `code` for programs, `detail` for people."""

    code: str = Field(examples=["window_unknown"])
    detail: str


def _refuse(value: object) -> None:
    if value is not None:
        raise PydanticCustomError("not_available", NOT_AVAILABLE)


Unavailable = Annotated[
    str | None,
    BeforeValidator(_refuse),
    WithJsonSchema({"type": "null", "description": f"Reserved. {NOT_AVAILABLE}"}),
]
"""A field of the contract that this version does not serve: only null is taken."""


def only(available: str, *later: str) -> BeforeValidator:
    """Says of values that the contract knows, but this version does not serve, that it is so."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(later):
            raise PydanticCustomError("not_available", "{why} Use {use}.", {"why": NOT_AVAILABLE, "use": available})
        return value

    return BeforeValidator(check)
