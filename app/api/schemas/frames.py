"""Frames: what a request or a view puts around the current turn of a prompt."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from app.api.text import JsonObject, StrictModel, Text
from app.services.framing import Frame as PlainFrame
from app.services.framing import Position
from app.services.mustache import check_template

MAX_TEMPLATE_CHARS = 100_000


def _is_mustache(template: str) -> str:
    try:
        return check_template(template)
    except ValueError as error:
        raise PydanticCustomError("mustache", "{why}", {"why": str(error)}) from None


# The length is looked at first: what is too long is not read.
Template = Annotated[
    Text,
    Field(
        max_length=MAX_TEMPLATE_CHARS,
        description="Mustache: unescaped, no partials; names that `values` lacks are empty.",
        examples=["It is {{hour}}. {{#here}}{{name}} is here. {{/here}}"],
    ),
    AfterValidator(_is_mustache),
]


class Frame(StrictModel):
    """Knowledge, instructions and variables around the current turn; it is sent and never stored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "template": "It is {{hour}}. {{#here}}{{name}} is here. {{/here}}",
                    "values": {"hour": "midnight", "here": [{"name": "Tom"}]},
                    "position": "before_system",
                }
            ]
        }
    )

    template: Template
    values: JsonObject = Field(default={}, description="What the template's names stand for: data, never templates.")
    position: Position = Field(
        default="before_system",
        description=(
            "Before or after the turn's last user message, as user or system; `replace`: in its place, with its text as"
            " `user_message`."
        ),
    )

    def plain(self) -> PlainFrame:
        """It, as it is applied."""
        return PlainFrame(self.template, self.values, self.position)
