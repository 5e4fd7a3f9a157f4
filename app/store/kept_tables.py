"""Tables for what was: deleted messages, overwritten texts, earlier texts of snippets, and what can be undone.

Rules as in app.store.tables.
"""

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, Text
from sqlmodel import Field, SQLModel

from app.store.columns import Json, key_of, primary_key, time


class KeptMessage(SQLModel, table=True):
    """A message that was deleted, or the text one had before it was changed (`overwritten`); kept for a while.

    `position` is where it stood, `after_id` the message it stood behind, be that still there or deleted too.
    `snapshot` holds the columns of the message that a restore writes back.
    """

    __tablename__ = "kept_messages"
    __table_args__ = (
        Index(None, "chat_key", "id", "key"),
        Index(None, "chat_key", "why", "position", "key"),
        Index(None, "chat_key", "after_id", "key"),
        Index(None, "kept_at"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        CheckConstraint("why IN ('deleted', 'overwritten')", name="why"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    id: str = Field(max_length=200)
    why: str = Field(max_length=12)
    position: int
    after_id: str | None = Field(default=None, max_length=200)
    kept_at: int = time()
    snapshot: dict[str, Any] = Field(sa_column=Column(Json, nullable=False))


class SnippetVersion(SQLModel, table=True):
    """A text that a snippet had before: `why` it went (edit, regenerate, heal, undo) and when."""

    __tablename__ = "snippet_versions"
    __table_args__ = (
        Index(None, "snippet_key", "key"),
        ForeignKeyConstraint(["snippet_key"], ["snippets.key"], ondelete="CASCADE"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    snippet_key: int = key_of()
    why: str = Field(max_length=12)
    text: str = Field(sa_column=Column(Text, nullable=False))
    tokens: int
    edited: bool = False
    stale: bool = False
    degraded: bool = False
    connection: str | None = None
    model: str | None = None
    replaced_at: int = time()


class UndoStep(SQLModel, table=True):
    """A change by hand that can be taken back. `version_key`: the text from before an edit or a regeneration;
    `covered`: the messages that a deletion uncovered, as {leaf's key: [messages' keys]}.
    """

    __tablename__ = "undo_steps"
    __table_args__ = (
        Index(None, "chat_key", "key"),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        ForeignKeyConstraint(["snippet_key"], ["snippets.key"], ondelete="CASCADE"),
        ForeignKeyConstraint(["version_key"], ["snippet_versions.key"], ondelete="CASCADE"),
        CheckConstraint("kind IN ('edit', 'delete', 'manual', 'regenerate')", name="kind"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    kind: str = Field(max_length=12)
    snippet_key: int = key_of(index=True)
    version_key: int | None = key_of(nullable=True, index=True)
    covered: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    made_at: int = time()
