"""Messages, in and out."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Page, Shown, Usage
from app.api.text import Bool, Content, Id, JsonObject, Name, Number, StrictModel
from app.core.model import Role
from app.services.recording import Draft, Fold

MessageState = Literal["all", "visible", "ghosted", "hidden", "deleted"]
History = Literal["keep", "omit"]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)
_READ_ONLY = frozenset({"index", "ghosted", "snippet_id", "tokens"})
"""A client that sends back what it read sends these too; they say nothing about what is to be stored."""


def _read_time(value: object) -> datetime:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            moment = datetime.min.replace(tzinfo=UTC)
        # Rounded to milliseconds, the first and last year could leave the calendar.
        if 1 < moment.year < 9999:
            return moment
    raise PydanticCustomError("time", "Must be a time with its zone, such as 2026-03-01T12:00:00Z (RFC 3339).")


def _has_id(call: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(call.get("id"), str) or not call["id"]:
        raise PydanticCustomError("no_id", "Must have an id, a string that its result names.")
    return call


Time = Annotated[datetime, BeforeValidator(_read_time), WithJsonSchema({"type": "string", "format": "date-time"})]
ToolCall = Annotated[JsonObject, AfterValidator(_has_id)]


class Said(StrictModel):
    """What a message says, in the words of the chat-completions format."""

    role: Role = Field(description="Who speaks.")
    tool_calls: list[ToolCall] | None = Field(default=None, description="Calls the assistant makes.")
    tool_call_id: Name | None = Field(default=None, description="Of a `tool` message: the call it answers.")
    name: Name | None = Field(default=None, description="Who speaks, by name.", examples=["Mira"])
    content: Content | None = Field(
        default=None,
        validate_default=True,
        description="The text; null only beside `tool_calls`.",
        examples=["Is the gate still shut?"],
    )

    @field_validator("tool_calls")
    @classmethod
    def _made_by_assistant(
        cls, calls: list[dict[str, Any]] | None, info: ValidationInfo
    ) -> list[dict[str, Any]] | None:
        if calls and info.data.get("role", Role.ASSISTANT) is not Role.ASSISTANT:
            raise PydanticCustomError("no_caller", "Only an assistant's message can make tool calls.")
        return calls

    @field_validator("content")
    @classmethod
    def _null_beside_calls(cls, content: str | None, info: ValidationInfo) -> str | None:
        if content is None and "tool_calls" in info.data and not info.data["tool_calls"]:
            raise PydanticCustomError("no_content", "Must be a string; null only beside tool_calls.")
        return content


class NewMessage(Said):
    """A message to append. Other fields go into `extra`; read-only ones of a stored message are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "additionalProperties": True,
            "examples": [{"id": "u1", "role": "user", "name": "Mira", "content": "Is the gate still shut?"}],
        }
    )

    id: Id | None = Field(default=None, description="The client's own id; without one the server makes one.")
    hidden: Bool = Field(default=False, description="Never sent, never summarized.")
    pinned: Bool = Field(default=False, description="Always sent verbatim, never folded.")
    history: History = Field(default="keep", description="`omit`: stored, but not replayed, summarized or counted.")
    created_at: Time | None = Field(default=None, description="When it was said; without it, now.")
    extra: JsonObject | None = Field(default=None, description="Whatever the frontend wants back.")

    @model_validator(mode="before")
    @classmethod
    def _gather_extra(cls, value: Any) -> Any:
        """Move unknown fields into `extra`; what is named there stands."""
        if not isinstance(value, Mapping):
            return value
        known = {name: given for name, given in value.items() if name in cls.model_fields}
        unknown = {name: value[name] for name in value.keys() - known.keys() - _READ_ONLY}
        extra = known.get("extra") or {}
        return {**known, "extra": {**unknown, **extra}} if unknown and isinstance(extra, dict) else known

    def draft(self, own_id: str | None = None) -> Draft:
        """It, as it is recorded; under `own_id` if the client gave none."""
        return Draft(
            role=self.role,
            content=self.content,
            id=self.id or own_id,
            name=self.name,
            hidden=self.hidden,
            pinned=self.pinned,
            omitted=self.history == "omit",
            created_at=self.created_at,
            tool_calls=self.tool_calls,
            tool_call_id=self.tool_call_id,
            extra=self.extra,
        )


class AppendRequest(StrictModel):
    """Messages to append, in order. One bad message refuses them all."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "messages": [
                        {"id": "u1", "role": "user", "content": "Is the gate still shut?"},
                        {"id": "a1", "role": "assistant", "content": "It is."},
                    ]
                }
            ]
        }
    )

    messages: list[NewMessage] = Field(min_length=1, max_length=1000)
    fold: Fold | None = Field(
        default=None,
        description="`background`, `none` (the next append folds) or `wait` (answers when folding has ended); a chat of"
        " rolling memory is waited for unless another is named.",
    )
    wait_s: Number = Field(default=30, ge=0, le=300, description="Seconds that `wait` waits at most.")
    session_id: Id | None = Field(
        default=None, description="The session they belong to, where a summary buffer has the scope `session`."
    )


def _is_none(value: object) -> bool:
    return value is None


class Message(Shown):
    """A stored message. `ghosted`: a live snippet, `snippet_id`, stands for it in the prompt."""

    id: str = Field(examples=["u1"])
    index: int = Field(description="Its 0-based place in the chat.")
    role: Role
    name: str | None
    content: str | None
    hidden: bool
    pinned: bool
    history: History
    ghosted: bool
    snippet_id: str | None
    tokens: int = Field(description="Of its text alone.")
    created_at: datetime
    extra: dict[str, Any]
    tool_calls: list[dict[str, Any]] | None = Field(
        default=None, exclude_if=_is_none, description="Only where there are some."
    )
    tool_call_id: str | None = Field(default=None, exclude_if=_is_none, description="Only where there is one.")


class MessagePage(Page[Message]):
    """Messages by index."""


class Appended(Shown):
    """What an append did. `items` are the messages of the request as they are stored, duplicates included."""

    appended: int
    duplicates: int = Field(description="Messages that were stored already, under the same id with the same content.")
    items: list[Message]
    job_id: str | None = Field(description="The job that folds, if one was due.")
    usage: Usage = Field(description="What the fold that was waited for cost.")
    reason: str | None = Field(
        description="Why no fold was started, or how the one that was waited for ended if not well.",
        examples=["below_threshold"],
    )


class HistoryDigest(Shown):
    """Of a chat's history."""

    messages: int
    digest: str = Field(
        description=(
            "CRC-32, eight hexadecimal digits, over the UTF-8 of each message by index: `id`, U+001F, `role`, U+001F,"
            " `name` (or nothing), U+001F, `1` if it is hidden, else `0`, U+001F, `content` (or nothing), U+001E."
        ),
        examples=["8c736521"],
    )
