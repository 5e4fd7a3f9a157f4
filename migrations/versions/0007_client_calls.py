"""Calls that wait for a frontend, and when one last asked for them"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_JSON = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "client_calls",
        sa.Column("key", _KEY, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("chat_key", _KEY, nullable=False),
        sa.Column("told_key", _KEY, nullable=False),
        sa.Column("connection", sa.String(length=200), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("prompt", _JSON, nullable=True),
        sa.Column("reply", _JSON, nullable=True),
        sa.Column("timeout_ms", sa.BigInteger(), nullable=False),
        sa.Column("alive_until", sa.BigInteger(), nullable=False),
        sa.Column("leased_at", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("client", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'answered', 'timed_out', 'withdrawn', 'cut', 'orphaned')",
            name=op.f("ck_client_calls_state"),
        ),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_client_calls_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_client_calls")),
        sqlite_autoincrement=True,
    )
    op.create_index("uq_client_calls_id", "client_calls", ["id"], unique=True)
    op.create_index("ix_client_calls_told_key_key", "client_calls", ["told_key", "key"])
    op.create_index("ix_client_calls_chat_key", "client_calls", ["chat_key"])
    op.create_index("ix_client_calls_state_key", "client_calls", ["state", "key"])
    op.create_table(
        "client_looks",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("looked_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("key = 1", name=op.f("ck_client_looks_one_row")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_client_looks")),
    )


def downgrade() -> None:
    op.drop_table("client_looks")
    op.drop_table("client_calls")
