"""Examining a chat and repairing it."""

from pydantic import ConfigDict, Field

from app.api.schemas.common import Shown
from app.api.text import StrictModel


class RepairRequest(StrictModel):
    """Whether only to look."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"dry_run": False}]})

    dry_run: bool = Field(default=True, description="Say what is wrong, and change nothing.")


class RepairFinding(Shown):
    """Something that is not as it must be."""

    code: str = Field(examples=["leaf_missing"])
    detail: str = Field(description="What is wrong and what is done about it, for people.")
    fixed: bool = Field(description="Whether it is right by now; never in a dry run.")


class RepairReport(Shown):
    """What was found; nothing where all is well."""

    findings: list[RepairFinding]
