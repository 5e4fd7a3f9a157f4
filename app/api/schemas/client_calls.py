"""Calls that a frontend answers, in and out."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import Page, Shown
from app.api.text import Content, Id, Int, Name, Number, StrictModel, Text
from app.core.calling import Reply, Trouble

LEASE_S = 60.0
Client = Annotated[Id, Field(description="Any id of the tab or program that asks.", examples=["tab-1"])]
Lease = Annotated[Number, Field(ge=5, le=600, description="Seconds until somebody else may take it.")]
Tokens = Annotated[Int, Field(ge=0, le=100_000_000)]


class PromptMessage(Shown):
    """A message of a prompt."""

    role: Literal["system", "user"]
    content: str


class ClientCall(Shown):
    """A prompt for a frontend's own model, held by whoever asked until `lease_until`."""

    id: str
    chat_id: str
    connection: str
    messages: list[PromptMessage] = Field(description="The whole prompt; send nothing else.")
    system_prompt: str = Field(description="The system message alone; may be empty.")
    prompt: str = Field(description="The user message alone.")
    max_tokens: int = Field(description="The most an answer may hold, reasoning included.")
    temperature: float
    attempt: int = Field(description="1, or more where earlier answers failed or could not be used.")
    created_at: datetime
    lease_until: datetime


class ClientCallPage(Page[ClientCall]):
    """Calls, the oldest first."""


class AnswerUsage(StrictModel):
    """What the model's server says an answer cost."""

    prompt_tokens: Tokens | None = None
    completion_tokens: Tokens | None = None


class AnswerError(StrictModel):
    """Why there is no answer. `status`: the HTTP status that the model's server gave, if it gave one."""

    message: Text = Field(max_length=10_000)
    status: Int | None = Field(default=None, ge=100, le=599)
    retry_after_s: Number | None = Field(default=None, gt=0, le=2_592_000)


class ClientAnswer(StrictModel):
    """Either `text`, or `error`."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "Mira asked for the key; Tom gave it.", "finish_reason": "stop"}]}
    )

    text: Content | None = None
    finish_reason: Annotated[Text, Field(max_length=100)] | None = None
    model: Name | None = Field(default=None, description="Which model said it.")
    usage: AnswerUsage | None = Field(default=None, description="Absent: the server counts.")
    error: AnswerError | Annotated[Text, Field(max_length=10_000)] | None = None
    client: Client | None = None

    @model_validator(mode="after")
    def _either(self) -> "ClientAnswer":
        if (self.text is None) == (self.error is None):
            raise PydanticCustomError("either", "Give either text or error.")
        return self

    @property
    def said(self) -> Reply | Trouble:
        """As the service takes it."""
        if self.error is not None:
            error = AnswerError(message=self.error) if isinstance(self.error, str) else self.error
            return Trouble(error.message, error.status, error.retry_after_s)
        usage = self.usage or AnswerUsage()
        return Reply(self.text or "", self.finish_reason, self.model, usage.prompt_tokens, usage.completion_tokens)


class Renewal(StrictModel):
    """Who holds the call, and for how long from now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"client": "tab-1", "lease_s": 60}]})

    client: Client | None = None
    lease_s: Lease = LEASE_S


class Release(StrictModel):
    """Who holds the call."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"client": "tab-1"}]})

    client: Client | None = None


class Renewed(Shown):
    """Until when the call is held."""

    lease_until: datetime
