"""Tables of calls that wait for a frontend; nothing else. Rules as in app.store.tables."""

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index
from sqlmodel import Field, SQLModel

from app.store.columns import Json, key_of, primary_key, time


class ClientCall(SQLModel, table=True):
    """A call that a frontend answers (decision 29). `chat_key` is whose summary it is, `told_key` the chat that it is
    shown under, which for a session is its chat.

    `state`: waiting, or how it ended. `prompt` and `reply` are emptied once nobody needs them. The process that asks
    keeps `alive_until` ahead of the clock; `leased_at`, `lease_until` and `client` are those of app.core.calling.
    """

    __tablename__ = "client_calls"
    __table_args__ = (
        Index("uq_client_calls_id", "id", unique=True),
        Index(None, "told_key", "key"),
        Index(None, "chat_key"),
        Index(None, "state", "key"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        CheckConstraint("state IN ('waiting', 'answered', 'timed_out', 'withdrawn', 'cut', 'orphaned')", name="state"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    id: str = Field(max_length=200)
    chat_key: int = key_of()
    told_key: int = key_of()
    connection: str = Field(max_length=200)
    state: str = Field(default="waiting", max_length=12)
    prompt: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    reply: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    timeout_ms: int = time()
    alive_until: int = time()
    leased_at: int | None = time(nullable=True)
    lease_until: int | None = time(nullable=True)
    client: str | None = Field(default=None, max_length=200)
    created_at: int = time()


class ClientLook(SQLModel, table=True):
    """When a frontend last asked for calls: one row."""

    __tablename__ = "client_looks"
    __table_args__ = (CheckConstraint("key = 1", name="one_row"),)

    key: int = Field(default=1, primary_key=True)
    looked_at: int = time()
