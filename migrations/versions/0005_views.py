"""Views of chats, what rolling memory says of its turns, and sessions of a chat"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "views",
        sa.Column("key", _KEY, autoincrement=True, nullable=False),
        sa.Column("chat_key", _KEY, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("options", _JSON, nullable=False),
        sa.Column("window", _JSON, nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_views_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_views")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_views_name", "views", ["chat_key", "name"], unique=True)
    op.create_table(
        "diagnostics",
        sa.Column("key", _KEY, autoincrement=True, nullable=False),
        sa.Column("chat_key", _KEY, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("data", _JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_diagnostics_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_diagnostics")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_diagnostics_turn", "diagnostics", ["chat_key", "turn"], unique=True)
    # Two plain columns: a rebuild of the table would take every message with it.
    op.add_column("chats", sa.Column("session_of", _KEY, nullable=True))
    op.add_column("chats", sa.Column("used_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_chats_session_of_used_at", "chats", ["session_of", "used_at"])
    _index_leaves("position", "closes")  # counting folded turns must not read the messages themselves


def _index_leaves(*more: str) -> None:
    for leaf in ("rolling_leaf", "buffer_leaf"):
        where = sa.text(f"{leaf} IS NOT NULL")
        op.drop_index(f"ix_messages_{leaf}", "messages")
        op.create_index(
            f"ix_messages_{leaf}", "messages", ["chat_key", leaf, *more], sqlite_where=where, postgresql_where=where
        )


def downgrade() -> None:
    _index_leaves()
    op.drop_index("ix_chats_session_of_used_at", "chats")
    op.drop_column("chats", "used_at")
    op.drop_column("chats", "session_of")
    op.drop_table("diagnostics")
    op.drop_table("views")
