"""Tables, nothing else. Constraints make the promises of layered.md impossible to break.

Times are whole milliseconds since 1970 in UTC. Request data never reaches a table class: SQLModel does not validate
tables on construction.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Text,
    UniqueConstraint,
)
from sqlalchemy import text as sql
from sqlmodel import Field, SQLModel

from app.store.columns import Json, Key, key_of, primary_key, time


class Chat(SQLModel, table=True):
    """A chat. `epoch` rises when memory is cleared, imported or reset: what was planned before no longer holds.

    `backlog_answer`: none yet, `all`, `one`, `skip`, or `began` when folding went on before there was a backlog.
    `held`: stopped by a person; nothing folds until the next append, sync or explicit call. `retry_at`: when folding
    that failed is taken up again by itself. `extra`: what an imported file said of it, for an export to say again.
    `session_of`: the chat that this one is a session of (scope `session`), last asked for at `used_at`. `changes`:
    how often history was changed other than by appending.
    """

    __tablename__ = "chats"
    __table_args__ = (
        *(Index(None, "updated_at", "key"), Index(None, "retry_at"), Index(None, "session_of", "used_at")),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    id: str = Field(max_length=200, unique=True)
    title: str | None = None
    user_name: str | None = None
    character_name: str | None = None
    strategy: str = Field(default="layered", max_length=20)
    settings: dict[str, Any] = Field(default_factory=dict, sa_column=Column(Json, nullable=False))
    parent_chat_id: str | None = None
    forked_at_message_id: str | None = None
    memory_version: int = 0
    epoch: int = 0
    revision: int = 0
    backlog_answer: str | None = None
    held: bool = False
    retry_at: int | None = time(nullable=True)
    last_error: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    usage: dict[str, Any] = Field(default_factory=dict, sa_column=Column(Json, nullable=False))
    extra: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    created_at: int = time()
    updated_at: int = time()
    session_of: int | None = key_of(nullable=True)
    used_at: int | None = time(nullable=True)
    changes: int = Field(default=0, sa_column_kwargs={"server_default": sql("0")})


class Snippet(SQLModel, table=True):
    """One line of memory. `position` orders a layer; `parent_key` is set exactly when it was absorbed.

    `edited`: its text is a person's. `stale`: what is under it has changed since; `failures` counts how often making
    it anew has failed since then. `asked`: a person wants it made anew, whatever its state.

    `state`: live, absorbed, superseded or deleted. A snippet of a strategy the chat does not use now is live here and
    shown as dormant: which strategy is present is the chat's fact, not the snippet's.
    """

    __tablename__ = "snippets"
    __table_args__ = (
        Index(
            "uq_snippets_place",
            "chat_key",
            "strategy",
            "layer",
            "position",
            unique=True,
            sqlite_where=sql("state = 'live'"),
            postgresql_where=sql("state = 'live'"),
        ),
        Index(
            "ix_snippets_worn",
            "chat_key",
            "strategy",
            sqlite_where=sql("stale OR asked"),
            postgresql_where=sql("stale OR asked"),
        ),
        UniqueConstraint("chat_key", "key"),
        Index("uq_snippets_id", "chat_key", "id", unique=True),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        # No cascade: whoever deletes a merged snippet says what becomes of its parts.
        ForeignKeyConstraint(["chat_key", "parent_key"], ["snippets.chat_key", "snippets.key"]),
        CheckConstraint("(state = 'absorbed') = (parent_key IS NOT NULL)", name="absorbed_has_parent"),
        CheckConstraint("state IN ('live', 'absorbed', 'superseded', 'deleted')", name="state"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    id: str = Field(max_length=200)
    strategy: str = Field(max_length=20)
    layer: int
    position: int
    state: str = Field(default="live", max_length=12)
    kind: str = Field(max_length=12)
    parent_key: int | None = key_of(nullable=True, index=True)
    revision: int = 0
    text: str = Field(sa_column=Column(Text, nullable=False))
    tokens: int
    source_tokens: int
    stale: bool = False
    degraded: bool = False
    edited: bool = False
    asked: bool = Field(default=False, sa_column_kwargs={"server_default": sql("false")})
    failures: int = Field(default=0, sa_column_kwargs={"server_default": sql("0")})
    connection: str | None = None
    model: str | None = None
    usage: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    created_at: int = time()
    edited_at: int | None = time(nullable=True)


def _leaf() -> Any:
    return Field(default=None, sa_column=Column(Key, nullable=True))


class Message(SQLModel, table=True):
    """A message. `position` is its index. It has one leaf column per strategy, so it has one leaf per strategy at most:
    the message is ghosted exactly while the present strategy's column is set. `tokens` counts its text alone,
    `call_tokens` its tool calls as a prompt holds them.

    `blank` and `closes` say what its own content makes of it (layered.md, Words). `content` comes last, so that reading
    the rest of a long row costs little.
    """

    __tablename__ = "messages"
    __table_args__ = (
        Index("uq_messages_place", "chat_key", "position", unique=True),
        Index("uq_messages_id", "chat_key", "id", unique=True),
        Index(
            "ix_messages_layered_leaf",
            *("chat_key", "layered_leaf", "position"),
            # Counting must not read the messages themselves.
            *("closes", "tokens", "hidden", "omitted", "skipped", "pinned"),
        ),
        # Deleting a snippet asks, for each strategy, which messages still point at it.
        *(
            Index(
                *(f"ix_messages_{leaf}", "chat_key", leaf, "position", "closes"),
                sqlite_where=sql(f"{leaf} IS NOT NULL"),
                postgresql_where=sql(f"{leaf} IS NOT NULL"),
            )
            for leaf in ("rolling_leaf", "buffer_leaf")
        ),
        Index("ix_messages_name", "chat_key", "name", "role"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        *(
            ForeignKeyConstraint(["chat_key", leaf], ["snippets.chat_key", "snippets.key"])
            for leaf in ("layered_leaf", "rolling_leaf", "buffer_leaf")
        ),
        CheckConstraint(
            "(layered_leaf IS NULL AND rolling_leaf IS NULL AND buffer_leaf IS NULL)"
            " OR NOT (hidden OR pinned OR omitted)",
            name="covered_is_plain",
        ),
        CheckConstraint("role IN ('user', 'assistant', 'system', 'tool')", name="role"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    position: int
    id: str = Field(max_length=200)
    role: str = Field(max_length=10)
    name: str | None = None
    tokens: int
    call_tokens: int = 0
    blank: bool = False
    closes: bool = False
    hidden: bool = False
    pinned: bool = False
    omitted: bool = False
    skipped: bool = False
    revision: int = 0
    layered_leaf: int | None = _leaf()
    rolling_leaf: int | None = _leaf()
    buffer_leaf: int | None = _leaf()
    created_at: int = time()
    tool_call_id: str | None = None
    tool_calls: list[dict[str, Any]] | None = Field(default=None, sa_column=Column(Json))
    extra: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    content: str | None = Field(default=None, sa_column=Column(Text))


class Job(SQLModel, table=True):
    """Work on one chat. At most one per chat is queued or running; the lease says which process runs it."""

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "uq_jobs_active",
            "chat_key",
            unique=True,
            sqlite_where=sql("state IN ('queued', 'running')"),
            postgresql_where=sql("state IN ('queued', 'running')"),
        ),
        Index("ix_jobs_chat_key", "chat_key", "key"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted')", name="state"
        ),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    id: str = Field(max_length=200, unique=True)
    chat_key: int = key_of()
    kind: str = Field(max_length=20)
    state: str = Field(default="queued", max_length=12)
    done: int = 0
    total: int = 0
    failed: int = 0
    usage: dict[str, Any] = Field(default_factory=dict, sa_column=Column(Json, nullable=False))
    reason: str | None = None
    error: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    lease_owner: str | None = None
    lease_until: int | None = time(nullable=True)
    created_at: int = time()
    started_at: int | None = time(nullable=True)
    finished_at: int | None = time(nullable=True)


class Event(SQLModel, table=True):
    """What happened to a chat, for those who watch it, or to the server if it is no chat's. `data` never holds what was
    said, nor a key; `job_key`: the job that it happened in, or to.
    """

    __tablename__ = "events"
    __table_args__ = (
        Index(None, "chat_key", "key"),
        Index(None, "job_key", "key"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        ForeignKeyConstraint(["job_key"], ["jobs.key"], ondelete="CASCADE"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int | None = key_of(nullable=True)
    job_key: int | None = key_of(nullable=True)
    kind: str = Field(max_length=20)
    data: dict[str, Any] = Field(sa_column=Column(Json, nullable=False))
    created_at: int = time()


class ConnectionRow(SQLModel, table=True):
    """A way to reach a model. The key is encrypted; see app.store.vault."""

    __tablename__ = "connections"

    name: str = Field(primary_key=True, max_length=200)
    provider: str = Field(max_length=20)
    base_url: str | None = None
    model: str | None = None
    encrypted_api_key: str | None = None
    context_size: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float | None = None
    concurrency: int | None = None
    extra_body: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    updated_at: int = time()


class ServerSettings(SQLModel, table=True):
    """The server-wide settings that chats follow: one row."""

    __tablename__ = "server_settings"
    __table_args__ = (CheckConstraint("key = 1", name="one_row"),)

    key: int = Field(default=1, primary_key=True)
    settings: dict[str, Any] = Field(default_factory=dict, sa_column=Column(Json, nullable=False))


class StoredAnswer(SQLModel, table=True):
    """The answer given to an Idempotency-Key; `status` is null while the first call still runs."""

    __tablename__ = "stored_answers"

    scope: str = Field(primary_key=True, max_length=600)
    body_hash: str = Field(max_length=64)
    status: int | None = None
    headers: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    body: bytes | None = None
    created_at: int = Field(sa_column=Column(BigInteger, nullable=False, index=True))
