"""The types that requests are made of: what they let through can be stored, sent back and put into a path.

`Text`, `Content`, `Name` and `Id` serve bodies, queries and paths alike. A `StrictModel` also checks everything in its
body, whatever its fields are annotated with, and so does `JsonObject` where there is no model around it.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, model_validator
from pydantic_core import PydanticCustomError

from app.api.json_values import json_fault, text_fault

MAX_CONTENT_BYTES = 1024 * 1024
MAX_ID = 200
MAX_NAME = 500

# str.isprintable refuses them, but Persian and Indic names and emoji are joined by the first two, and the third is
# the space of Chinese and Japanese.
_PRINTABLE_TOO = str.maketrans("", "", "\u200c\u200d\u3000")


def is_printable(text: str) -> bool:
    """Whether a text has 1–200 characters and every one of them can be seen or is a plain space."""
    return 0 < len(text) <= MAX_ID and text.translate(_PRINTABLE_TOO).isprintable()


def _check_text(text: str) -> str:
    msg = text_fault(text)
    if msg is not None:
        raise PydanticCustomError("unstorable", "{msg}", {"msg": msg})
    return text


def _check_size(text: str) -> str:
    if len(text.encode()) > MAX_CONTENT_BYTES:
        raise PydanticCustomError("content_too_long", "Must be at most 1 MiB of UTF-8.")
    return text


def _check_id(text: str) -> str:
    if not is_printable(text) or "/" in text or text in {".", ".."}:
        raise PydanticCustomError("id", 'Must be 1 to 200 printable characters without "/", and not "." or "..".')
    return text


def _check_json(value: Any) -> Any:
    fault = json_fault(value)
    if fault is not None:
        raise PydanticCustomError("unstorable", "{msg}", {"msg": fault.msg, "at": fault.at})
    return value


Text = Annotated[str, AfterValidator(_check_text)]
Content = Annotated[Text, AfterValidator(_check_size)]
Name = Annotated[Text, Field(max_length=MAX_NAME)]
Id = Annotated[str, AfterValidator(_check_id)]
JsonValue = Annotated[Any, BeforeValidator(_check_json)]
JsonObject = Annotated[dict[str, Any], BeforeValidator(_check_json)]

# For bodies, where JSON tells numbers and truth from text. Queries have only text: plain int and bool serve there.
Int = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Bool = Annotated[bool, Strict()]


class StrictModel(BaseModel):
    """A body, or an object in one: no unknown fields, and no text, number or nesting that cannot be stored."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _check_everything(cls, data: Any) -> Any:
        return _check_json(data) if isinstance(data, dict) else data
