"""The prompt: what a request says about the one it wants, and the one it gets."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.api.schemas.common import Notice, Place, Shown, Unavailable, only
from app.api.schemas.messages import Said
from app.api.schemas.settings import Names
from app.api.schemas.strategies import Placement
from app.api.text import Content, Int, JsonObject, StrictModel
from app.core.left_out import Reason
from app.services.projecting import ProjectionQuery

Format = Annotated[Literal["openai"], only("openai", "anthropic", "text")]
ToolHistory = Annotated[Literal["pair"], only("pair", "omit")]


class ProjectionOptions(StrictModel):
    """What both calls take."""

    system_prompt: Content | None = Field(default=None, description="Before all else, in the one system message.")
    names: Names | None = Field(default=None, description="How the prompt says who speaks; default: the setting.")
    memory_placement: Placement | None = Field(default=None, description="Default: the setting.")
    format: Format = Field(default="openai", description="The shape of `messages`.")
    tool_history: ToolHistory = Field(default="pair", description="Calls are sent with all their results.")
    view: Unavailable = None


class ProjectionParams(ProjectionOptions):
    """The query of the GET. Parameters that are not listed are ignored."""

    model_config = ConfigDict(extra="ignore")

    context_size: int | None = Field(default=None, ge=1, description="Tokens of the model's window.")
    max_tokens: int | None = Field(default=None, ge=1, description="Tokens of it kept free for the answer.")

    def query(self) -> ProjectionQuery:
        """It, as it is asked."""
        return ProjectionQuery(
            system_prompt=self.system_prompt,
            context_size=self.context_size,
            max_tokens=self.max_tokens,
            names=self.names,
        )


class CurrentMessage(Said):
    """A message that is not stored yet, or not at all. Fields that are not listed are not sent."""

    model_config = ConfigDict(extra="ignore")

    def shown(self) -> dict[str, Any]:
        """It, as it is sent: role and content, and of the rest what it has."""
        rest = {"name": self.name, "tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id}
        had = {name: value for name, value in rest.items() if value is not None}
        return {"role": self.role.value, "content": self.content, **had}


class ProjectionRequest(ProjectionOptions):
    """The body of the POST."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"context_size": 8192, "current": [{"role": "user", "content": "Is the gate still shut?"}]}]
        }
    )

    context_size: Int | None = Field(default=None, ge=1, description="Tokens of the model's window.")
    max_tokens: Int | None = Field(default=None, ge=1, description="Of it, kept free for the answer.")
    current: list[CurrentMessage] = Field(default=[], description="Messages that are not stored yet, at the end.")
    tools: list[JsonObject] = Field(default=[], description="Sent beside the messages; here they only cost tokens.")
    frame: Unavailable = None
    session_id: Unavailable = None

    def query(self) -> ProjectionQuery:
        """It, as it is asked."""
        return ProjectionQuery(
            system_prompt=self.system_prompt,
            context_size=self.context_size,
            max_tokens=self.max_tokens,
            names=self.names,
            current=[message.shown() for message in self.current],
            tools=self.tools,
        )


class PromptMessage(Shown):
    """A message of the prompt; `name`, `tool_calls` and `tool_call_id` only where there are some."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
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


class Projection(Shown):
    """What the model should be sent now."""

    messages: list[PromptMessage]
    memory: MemoryPart
    window: Window
    tokens: TokenParts
    prefix_hash: str = Field(description="Of what stays the same until the next fold or trim.")
    prefix_changed_by: str | None
    skipped: dict[str, Any] | None = Field(description="Why a fold before the answer was skipped, if one was.")
    left_out: list[LeftOut]
    warnings: list[Notice]
