"""Chats, in and out."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.api.schemas.common import Page, Shown
from app.api.schemas.settings import EffectiveSettings, SettingsValues
from app.api.text import Id, Name, StrictModel, Text
from app.core.model import Strategy

Title = Annotated[Text, Field(max_length=1000)]


class ChatFields(StrictModel):
    """What can be set of a chat. Absent fields stay as they are; null clears a title or a name."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "The gate", "user_name": "Mira", "settings": {"layered": {"verbatim_turns": 12}}}]
        }
    )

    title: Title | None = Field(default=None, description="For people.", examples=["The gate"])
    user_name: Name | None = Field(default=None, description="Who speaks as `user`.", examples=["Mira"])
    character_name: Name | None = Field(default=None, description="Who speaks as `assistant`.", examples=["Tom"])
    strategy: Strategy | None = Field(default=None, description="The kind of memory; a new chat's is layered.")
    settings: SettingsValues | None = Field(default=None, description="The chat's own settings, merged.")
    parent_chat_id: Id | None = Field(default=None, description="The chat this one branched from.")
    forked_at_message_id: Id | None = Field(default=None, description="The last message both have.")


class ForkFields(StrictModel):
    """How a chat branches. Without a body it does so at its newest message."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"id": "harbour-at-dawn", "at_message_id": "a42"}]})

    id: Id | None = Field(default=None, description="The new chat's id; a taken one is a 409.")
    at_message_id: Id | None = Field(default=None, description="The last message both have.")


class Counts(Shown):
    """Messages by state: messages = visible + ghosted + hidden + omitted; `turns` (closed) and `skipped` are turns."""

    messages: int
    turns: int
    visible: int
    ghosted: int
    hidden: int
    omitted: int
    pinned: int
    skipped: int


class Switched(Shown):
    """What a switch of strategy means for the next prompt, in messages and tokens."""

    before: Strategy
    after: Strategy
    visible_messages: int = Field(description="Told by the former memory until now, and sent word for word again.")
    visible_tokens: int
    ghosted_messages: int = Field(description="The other way round.")
    ghosted_tokens: int
    memory_tokens: int = Field(description="Of the summaries that are sent now.")


class Chat(Shown):
    """A chat. `settings` are its own values, `effective_settings` what is in force."""

    id: str = Field(examples=["mira-and-tom"])
    title: str | None
    user_name: str | None
    character_name: str | None
    strategy: Strategy
    settings: dict[str, Any] = Field(examples=[{"layered": {"verbatim_turns": 12}}])
    effective_settings: EffectiveSettings
    parent_chat_id: str | None
    forked_at_message_id: str | None
    memory_version: int = Field(description="Committed changes to the list of live snippet texts.")
    counts: Counts | None = Field(description="Null only in a list that was asked for without.")
    warnings: list[str] = Field(description="Settings that were clamped, and why.")
    switched: Switched | None = Field(default=None, description="What the request's switch of strategy means.")
    created_at: datetime
    updated_at: datetime


class ChatPage(Page[Chat]):
    """Chats, newest activity first."""
