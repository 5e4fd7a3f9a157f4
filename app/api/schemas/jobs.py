"""Jobs, as they are shown."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.api.schemas.common import Page, Shown, Usage

JobState = Literal["queued", "running", "succeeded", "failed", "cancelled", "interrupted"]


class Progress(Shown):
    """Batches; `eta_s`: seconds that are left, null before the first batch is done."""

    done: int
    total: int
    failed: int
    percent: int = Field(ge=0, le=100)
    eta_s: float | None


class Failure(Shown):
    """Why a summary could not be had. `retry_at`: when it is tried again by itself."""

    code: str = Field(examples=["provider_unavailable"])
    detail: str
    connection: str
    status: int | None = Field(description="The model server's HTTP status, if it answered.")
    at: datetime
    retry_at: datetime | None


class Job(Shown):
    """Work on one chat; at most one per chat is queued or running."""

    id: str
    chat_id: str
    kind: str = Field(description="fold, summarize, backlog, one, heal or regenerate.", examples=["fold"])
    state: JobState
    progress: Progress
    usage: Usage
    reason: str | None = Field(description="Why it ended as it did, where that needs saying.")
    error: Failure | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class JobPage(Page[Job]):
    """Jobs, newest first."""
