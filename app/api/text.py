"""The types that requests are made of: what they let through can be stored, sent back and put into a path.

`Text`, `Content`, `Name` and `Id` serve bodies, queries and paths alike. What a body holds beside them was checked as
it was read, by app.api.json_bodies.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from app.api.json_values import text_fault
from app.core.limits import is_id, is_too_long

MAX_NAME = 500


def _check_text(text: str) -> str:
    msg = text_fault(text)
    if msg is not None:
        raise PydanticCustomError("unstorable", "{msg}", {"msg": msg})
    return text


def _check_size(text: str) -> str:
    if is_too_long(text):
        raise PydanticCustomError("content_too_long", "Must be at most 1 MiB of UTF-8.")
    return text


def _check_id(text: str) -> str:
    if not is_id(text):
        raise PydanticCustomError("id", 'Must be 1 to 200 printable characters without "/", and not "." or "..".')
    return text


Text = Annotated[str, AfterValidator(_check_text)]
Content = Annotated[Text, AfterValidator(_check_size)]
Name = Annotated[Text, Field(max_length=MAX_NAME)]
Id = Annotated[str, AfterValidator(_check_id)]
JsonObject = dict[str, Any]

# For bodies, where JSON tells numbers and truth from text. Queries have only text: plain int and bool serve there.
Int = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Bool = Annotated[bool, Strict()]


class StrictModel(BaseModel):
    """A body, or an object in one: no unknown fields, and nothing of it in an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)
