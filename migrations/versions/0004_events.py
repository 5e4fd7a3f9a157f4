"""What happened to chats and jobs, for those who watch them"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("data", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_events_chat_key"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_key"], ["jobs.key"], name=op.f("fk_events_job_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_events")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_events_chat_key_key"), ["chat_key", "key"], unique=False)
        batch_op.create_index(batch_op.f("ix_events_job_key_key"), ["job_key", "key"], unique=False)


def downgrade() -> None:
    op.drop_table("events")
