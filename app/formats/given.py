"""What the writers of other programs' files are given: a chat, its messages as a stream, its live memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.core.model import Role


@dataclass(frozen=True, slots=True)
class GivenChat:
    """A chat. `extra` holds what an imported file said of it, by the name of the format."""

    user_name: str | None
    character_name: str | None
    created_at: datetime
    extra: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None


@dataclass(frozen=True, slots=True)
class GivenMessage:
    """A stored message; `ghosted`: a live snippet stands for it. `created_at` is in UTC."""

    role: Role
    content: str | None
    created_at: datetime
    name: str | None = None
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    ghosted: bool = False
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class GivenSnippet:
    """A live snippet. `first` and `last` are the indices of what it covers. `made_at` is when its text was made.

    `seeded`: it came from the layer above as it is. `merged`: how many snippets of layer `merged_from` it replaced;
    0 for one that was made from messages. `extra` holds what a file said of it beyond this.
    """

    layer: int
    text: str
    first: int
    last: int
    made_at: datetime
    seeded: bool = False
    regenerated: bool = False
    merged: int = 0
    merged_from: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
