"""The prompt: what a request says about the one it wants, and the one it gets."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.api.schemas.common import Notice, Place, Shown
from app.api.schemas.frames import Template
from app.api.schemas.messages import Said
from app.api.schemas.settings import Names
from app.api.schemas.strategies import Placement
from app.api.text import Content, Id, Int, JsonObject, Name, StrictModel
from app.core.left_out import Reason
from app.core.projection import ToolHistory
from app.formats.prompt_formats import Format
from app.services.framing import Position
from app.services.itemizing import Part
from app.services.projection_query import ProjectionQuery

_EXPLAIN = "Adds `sent`: the prompt piece by piece, with where each comes from and what it costs."

StrategyName = Literal["layered", "rolling", "summary_buffer", "none"]
Authors = Annotated[list[Name], Field(max_length=100)]


class Options(StrictModel):
    """What both calls take, and a view keeps. What is left out follows the view, then the chat's settings."""

    system_prompt: Content | None = Field(default=None, description="Before all else, in the one system message.")
    memory_placement: Placement | None = Field(
        default=None, description="`system_end`, `system_message`, `user_message` or `in_chat:DEPTH`."
    )
    format: Format | None = Field(default=None, description="The shape of the prompt; `openai` by default.")
    names: Names | None = Field(default=None, description="How the prompt says who speaks.")
    tool_history: ToolHistory | None = Field(
        default=None, description="`pair`: calls of past turns with all their results; `omit`: none of them."
    )


class ProjectionParams(Options):
    """The query of the GET. Parameters that are not listed are ignored."""

    model_config = ConfigDict(extra="ignore")

    context_size: int | None = Field(default=None, ge=1, description="Tokens of the model's window.")
    max_tokens: int | None = Field(default=None, ge=1, description="Tokens of it kept free for the answer.")
    view: Id | None = Field(default=None, description="The view whose options and window are used.")
    known_prefix: Name | None = Field(default=None, description="The `prefix_hash` of a prompt you still have.")
    messages: bool = Field(
        default=True, description="`false` leaves the messages out of the answer, for who wants all the rest."
    )
    explain: bool = Field(default=False, description=_EXPLAIN)
    strategy: StrategyName | None = Field(
        default=None, description="The prompt as it would be with this memory, as that is by now. Nothing is switched."
    )

    def query(self) -> ProjectionQuery:
        """It, as it is asked."""
        return ProjectionQuery(**self.model_dump(exclude={"messages"}))


class CurrentMessage(Said):
    """A message that is not stored yet, or not at all. Fields that are not listed are not sent."""

    model_config = ConfigDict(extra="ignore")

    def shown(self) -> dict[str, Any]:
        """It, as it is sent: role and content, and of the rest what it has."""
        rest = {"name": self.name, "tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id}
        had = {name: value for name, value in rest.items() if value is not None}
        return {"role": self.role.value, "content": self.content, **had}


class Framing(StrictModel):
    """What is put around the current user message. It is never stored. What is left out is the view's own."""

    template: Template | None = None
    values: JsonObject | None = Field(default=None, description="What stands for its names.")
    position: Position | None = Field(default=None, description="Where it stands; `before_system` by default.")

    def given(self) -> dict[str, Any]:
        """The parts that are there."""
        return self.model_dump(exclude_none=True)


class ProjectionRequest(Options):
    """The body of the POST."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"context_size": 8192, "current": [{"role": "user", "content": "Is the gate still shut?"}]}]
        }
    )

    context_size: Int | None = Field(default=None, ge=1, description="Tokens of the model's window.")
    max_tokens: Int | None = Field(default=None, ge=1, description="Of it, kept free for the answer.")
    omit_authors: Authors | None = Field(default=None, description="Names whose messages are not sent.")
    current: list[CurrentMessage] = Field(default=[], description="Messages that are not stored yet, at the end.")
    tools: list[JsonObject] = Field(default=[], description="Sent beside the messages; here they only cost tokens.")
    frame: Framing | None = Field(default=None, description="Put around the current user message.")
    view: Id | None = Field(default=None, description="The view whose options are used and whose window moves on.")
    session_id: Id | None = Field(default=None, description="The session that the request belongs to.")
    known_prefix: Name | None = Field(default=None, description="The `prefix_hash` of a prompt you still have.")
    explain: bool = Field(default=False, description=_EXPLAIN)

    def query(self) -> ProjectionQuery:
        """It, as it is asked."""
        plain = self.model_dump(exclude={"current", "frame"})
        current = [message.shown() for message in self.current]
        return ProjectionQuery(**plain, current=current, frame=self.frame.given() if self.frame else None)


class PromptMessage(Shown):
    """A message of the prompt; `name`, `tool_calls` and `tool_call_id` only where there are some.

    In the format `anthropic` its content may be a list of blocks.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class MemoryPart(Shown):
    """The memory block in the prompt."""

    text: str
    version: int
    tokens: int
    snippets: int
    covered_through: Place | None = Field(description="The newest message it stands for.")


class Window(Shown):
    """The verbatim turns: where they begin, how many are sent, how many a budget left out."""

    first_index: int | None
    turns: int
    dropped_turns: int


class TokenParts(Shown):
    """The parts of the prompt, in tokens; `budget` is null where no window is known."""

    system: int
    tools: int
    memory: int
    history: int
    current: int
    total: int
    budget: int | None


class LeftOut(Shown):
    """Messages that are not sent, and why."""

    first_index: int
    last_index: int
    reason: Reason


class ProjectionError(Shown):
    """Why the fold before a prompt failed (`summary_buffer.expose_error_output`)."""

    code: str | None
    detail: str | None
    connection: str | None
    status: int | None = Field(description="Of the server's answer, if there was one.")


class StoredMessage(Shown):
    """A stored message that no summary covers (`summary_buffer.expose_messages_output`)."""

    id: str
    role: Literal["system", "user", "assistant", "tool"]
    name: str | None
    content: str | None


class SentPiece(Shown):
    """A piece of the prompt. `tool_calls` and `tool_call_id` only where there are some."""

    part: Part
    role: Literal["system", "user", "assistant", "tool"]
    name: str | None = Field(description="The message's own, whether or not the prompt shows it.")
    content: str | None = Field(description="As the prompt says it, with a speaker's name before it where it has one.")
    message_id: str | None = Field(description="Of the stored message that it is.")
    index: int | None
    tokens: int = Field(description="Those of a part add up to that part of `tokens`.")
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class Projection(Shown):
    """What the model should be sent now."""

    messages: list[PromptMessage]
    system: str | list[dict[str, Any]] | None = Field(description="`anthropic` keeps it apart; null elsewhere.")
    text: str | None = Field(description="The whole prompt as one text in the format `text`; null elsewhere.")
    memory: MemoryPart
    window: Window
    tokens: TokenParts
    prefix_hash: str = Field(description="Another one once the beginning of the prompt changed; turns may join.")
    prefix_changed_by: Literal["system_prompt", "fold", "memory", "trim", "edit"] | None = Field(
        description="Why the beginning is not that of the view's last prompt, or of `known_prefix`."
    )
    skipped: dict[str, Any] | None = Field(description="Why the last check folded nothing, if it did not.")
    left_out: list[LeftOut]
    warnings: list[Notice]
    error: ProjectionError | None = Field(description="Why the fold before it failed, where that is exposed.")
    stored_messages: list[StoredMessage] | None = Field(
        description="The stored messages that no summary covers, where they are exposed."
    )
    sent: list[SentPiece] | None = Field(description="The prompt piece by piece, with `explain`; else null.")
