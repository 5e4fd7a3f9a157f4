"""Tables of views, and of what rolling memory says of its turns; nothing else."""

from typing import Any

from sqlalchemy import Column, ForeignKeyConstraint, Index
from sqlmodel import Field, SQLModel

from app.store.columns import Json, key_of, primary_key, time


class View(SQLModel, table=True):
    """One consumer's way to see a chat. `options` are as they were PUT; `window` is what a POST keeps between requests:
    where the window begins and what the last prompt's beginning was made of.
    """

    __tablename__ = "views"
    __table_args__ = (
        Index("uq_views_name", "chat_key", "name", unique=True),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    name: str = Field(max_length=200)
    options: dict[str, Any] = Field(sa_column=Column(Json, nullable=False))
    window: dict[str, Any] | None = Field(default=None, sa_column=Column(Json))
    revision: int = 0
    created_at: int = time()
    updated_at: int = time()


class Diagnosis(SQLModel, table=True):
    """What a check after a reply decided, while `diagnostics` is on. `turn` is the index of the reply's turn."""

    __tablename__ = "diagnostics"
    __table_args__ = (
        Index("uq_diagnostics_turn", "chat_key", "turn", unique=True),
        ForeignKeyConstraint(["chat_key"], ["chats.key"], ondelete="CASCADE"),
        {"sqlite_autoincrement": True},
    )

    key: int = primary_key()
    chat_key: int = key_of()
    turn: int
    data: dict[str, Any] = Field(sa_column=Column(Json, nullable=False))
    created_at: int = time()
