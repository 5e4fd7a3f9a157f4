"""How a chat's memory stands, and what steering it answers."""

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.api.schemas.chats import Counts
from app.api.schemas.common import Place, Shown, Usage
from app.api.schemas.jobs import Failure, Job
from app.api.text import StrictModel
from app.core.model import Strategy


class Layer(Shown):
    """A layer of memory; `turns` are those under its snippets."""

    layer: int
    snippets: int
    limit: int
    tokens: int
    turns: int


class Backlog(Shown):
    """Turns over the window, and what folding them would take."""

    turns: int
    batches: int
    estimated_calls: int
    estimated_input_tokens: int
    estimated_s: float | None = Field(description="At the pace of the newest batches; null before there are any.")
    choice_needed: bool = Field(description="Nothing folds until POST …/backlog answers.")


class Waiting(Shown):
    """Prompts that wait for a frontend's own model; `leased` of them are being answered."""

    connection: str
    calls: int
    since: datetime
    leased: int


class ConnectionStatus(Shown):
    """The connection that makes the summaries."""

    name: str
    provider: str
    model: str | None
    state: Literal["ok", "cooling_down", "failing"]
    retry_at: datetime | None
    waiting: Waiting | None = Field(description="Of the provider `client`: what waits for a frontend to answer it.")


class Status(Shown):
    """All a frontend shows about a chat's memory."""

    strategy: Strategy
    memory_version: int
    enabled: bool
    paused: bool
    counts: Counts
    summarized_through: Place | None = Field(description="The newest covered message.")
    layers: list[Layer]
    memory_tokens: int
    raw_tokens: int = Field(description="Tokens of all messages that are not hidden.")
    compression: float | None = Field(description="Tokens of ghosted messages / memory_tokens.")
    backlog: Backlog
    summarizer_usage: Usage
    job: Job | None = Field(description="The job that is queued or running.")
    last_error: Failure | None = Field(description="The last failure, until a summary succeeds.")
    stale_snippets: int
    degraded_snippets: int
    connection: ConnectionStatus
    warnings: list[str] = Field(description="Settings that were clamped, and why.")


class Preview(Shown):
    """The memory block alone, as injected."""

    text: str
    tokens: int
    version: int


class JobStarted(Shown):
    """The job that was started or joined; without one, the reason why there is nothing to do."""

    job: Job | None
    reason: str | None = Field(default=None, exclude_if=lambda reason: reason is None, examples=["nothing_to_fold"])


class BacklogChoice(StrictModel):
    """`all`: fold everything. `one`: one batch now and one more per reply. `skip`: leave them visible."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"choice": "all"}]})

    choice: Literal["all", "skip", "one"]


class Skipped(Shown):
    """Turns that stay visible and are never folded unasked."""

    skipped_turns: int


class Stopped(Shown):
    """Whether something ran, and the job that was cut."""

    stopped: bool
    job: Job | None


class Paused(Shown):
    """Whether automatic folding is paused."""

    paused: bool


class Cleared(Shown):
    """What clearing took away."""

    cleared_snippets: int
    unghosted_messages: int


class Preset(Shown):
    """The texts of a preset, as a person can copy them."""

    name: str = Field(examples=["narrative"])
    focus: str
    system_prompt: str
    user_prompt: str
    merge_prompt: str
