"""What a chat was before: deleted messages, overwritten texts, earlier texts of snippets, and what can be undone"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _checks() -> tuple[sa.CheckConstraint, ...]:
    """SQLite's reflection does not see them, so rebuilding the table names them."""
    return (
        sa.CheckConstraint(
            "(state = 'absorbed') = (parent_key IS NOT NULL)", name=op.f("ck_snippets_absorbed_has_parent")
        ),
        sa.CheckConstraint("state IN ('live', 'absorbed', 'superseded', 'deleted')", name=op.f("ck_snippets_state")),
    )


def upgrade() -> None:
    op.create_table(
        "kept_messages",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("why", sa.String(length=12), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("after_id", sa.String(length=200), nullable=True),
        sa.Column("kept_at", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", sa.JSON(none_as_null=True), nullable=False),
        sa.CheckConstraint("why IN ('deleted', 'overwritten')", name=op.f("ck_kept_messages_why")),
        sa.ForeignKeyConstraint(
            ["chat_key"], ["chats.key"], name=op.f("fk_kept_messages_chat_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_kept_messages")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("kept_messages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_kept_messages_chat_key_id_key"), ["chat_key", "id", "key"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_kept_messages_chat_key_why_position_key"),
            ["chat_key", "why", "position", "key"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_kept_messages_chat_key_after_id_key"), ["chat_key", "after_id", "key"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_kept_messages_kept_at"), ["kept_at"], unique=False)

    op.create_table(
        "snippet_versions",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("snippet_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("why", sa.String(length=12), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("connection", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("replaced_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["snippet_key"], ["snippets.key"], name=op.f("fk_snippet_versions_snippet_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_snippet_versions")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("snippet_versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_snippet_versions_snippet_key_key"), ["snippet_key", "key"], unique=False)

    op.create_table(
        "undo_steps",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("snippet_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("covered", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('edit', 'delete', 'manual', 'regenerate')", name=op.f("ck_undo_steps_kind")),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_undo_steps_chat_key"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["snippet_key"], ["snippets.key"], name=op.f("fk_undo_steps_snippet_key"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["version_key"], ["snippet_versions.key"], name=op.f("fk_undo_steps_version_key"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_undo_steps")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("undo_steps", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_undo_steps_chat_key_key"), ["chat_key", "key"], unique=False)
        batch_op.create_index(batch_op.f("ix_undo_steps_snippet_key"), ["snippet_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_undo_steps_version_key"), ["version_key"], unique=False)

    with op.batch_alter_table("chats", recreate="always", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.add_column(sa.Column("extra", sa.JSON(none_as_null=True), nullable=True))

    with op.batch_alter_table(
        "snippets",
        recreate="always",
        table_args=_checks(),
        table_kwargs={"sqlite_autoincrement": True},
    ) as batch_op:
        batch_op.add_column(sa.Column("asked", sa.Boolean(), server_default=sa.text("false"), nullable=False))
        batch_op.add_column(sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False))
        batch_op.create_index(
            "ix_snippets_worn",
            ["chat_key", "strategy"],
            sqlite_where=sa.text("stale OR asked"),
            postgresql_where=sa.text("stale OR asked"),
        )


def downgrade() -> None:
    for table in ("undo_steps", "snippet_versions", "kept_messages"):
        op.drop_table(table)
    with op.batch_alter_table(
        "snippets", recreate="always", table_args=_checks(), table_kwargs={"sqlite_autoincrement": True}
    ) as batch_op:
        batch_op.drop_index("ix_snippets_worn")
        batch_op.drop_column("failures")
        batch_op.drop_column("asked")
    with op.batch_alter_table("chats", recreate="always", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.drop_column("extra")
