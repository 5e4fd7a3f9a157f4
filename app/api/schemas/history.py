"""Changing history: a whole sync, one message, and what was there before."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Page, Shown
from app.api.schemas.messages import History, NewMessage
from app.api.text import Bool, Content, Id, JsonObject, Name, StrictModel
from app.core.model import Role
from app.services.syncing import Line


class SyncRequest(StrictModel):
    """The frontend's whole history, in order. What it does not say of a known message stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "messages": [
                        {"id": "u1", "role": "user", "content": "Is the gate still shut?"},
                        {"id": "a1", "role": "assistant", "content": "It is, since the storm."},
                    ]
                }
            ]
        }
    )

    messages: list[NewMessage]
    reset: Bool = Field(default=False, description="Forget all memory too; an empty history needs it.")
    allow_shrink: Bool = Field(default=False, description="Let more than half of 20 or more messages go.")
    parent_chat_id: Id | None = Field(
        default=None, description="Of a chat's first sync: the chat it branched from. What both begin with comes along."
    )

    def lines(self) -> list[Line]:
        """The messages, as they are synced."""
        return [Line(message.draft(), frozenset(message.model_fields_set)) for message in self.messages]


class Synced(Shown):
    """What a sync changed."""

    appended: int = Field(description="Messages that are new, wherever they came in.")
    edited: int
    deleted: int
    unchanged: int
    stale_snippets: int = Field(description="Live snippets under which something changed.")


class MessagePatch(StrictModel):
    """What is to be different about a message; what is absent stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "Is the gate still locked?"}]})

    content: Content | None = Field(default=None, description="The text; null only beside tool calls.")
    name: Name | None = Field(default=None, description="Who speaks; null for nobody by name.")
    hidden: Bool = Field(default=False, description="Never sent, never summarized.")
    pinned: Bool = Field(default=False, description="Always sent verbatim, never folded.")
    history: History = Field(default="keep", description="`omit`: not replayed, summarized or counted.")
    extra: JsonObject | None = Field(default=None, description="Takes the place of what was there.")

    def changes(self) -> dict[str, Any]:
        """New values by column, of the fields that were given."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if "history" in given:
            given["omitted"] = given.pop("history") == "omit"
        return given


class RestoreRequest(StrictModel):
    """Which text is to come back; without a body the last one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": "12"}]})

    version: Name | None = Field(default=None, description="Of an earlier text of the message.")


class EarlierText(Shown):
    """What a message said before. `why`: it was `overwritten`, or the message was `deleted`."""

    version: str = Field(description="What a restore names it by.")
    role: Role
    name: str | None
    content: str | None
    why: str
    replaced_at: datetime
    kept_until: datetime = Field(description="Until then it can be restored.")


class EarlierTextPage(Page[EarlierText]):
    """Earlier texts, newest first."""
