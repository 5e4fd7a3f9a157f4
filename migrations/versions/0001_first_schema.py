"""First schema"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "chats",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("user_name", sa.String(), nullable=True),
        sa.Column("character_name", sa.String(), nullable=True),
        sa.Column("strategy", sa.String(length=20), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("parent_chat_id", sa.String(), nullable=True),
        sa.Column("forked_at_message_id", sa.String(), nullable=True),
        sa.Column("memory_version", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("backlog_answer", sa.String(), nullable=True),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("retry_at", sa.BigInteger(), nullable=True),
        sa.Column("last_error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("usage", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_chats")),
        sa.UniqueConstraint("id", name=op.f("uq_chats_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("chats", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_chats_retry_at"), ["retry_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_chats_updated_at_key"), ["updated_at", "key"], unique=False)

    op.create_table(
        "connections",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("base_url", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("encrypted_api_key", sa.String(), nullable=True),
        sa.Column("context_size", sa.Integer(), nullable=True),
        sa.Column("temperature", sa.Float(), nullable=True),
        sa.Column("max_tokens", sa.Integer(), nullable=True),
        sa.Column("timeout_s", sa.Float(), nullable=True),
        sa.Column("concurrency", sa.Integer(), nullable=True),
        sa.Column("extra_body", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_connections")),
    )
    op.create_table(
        "server_settings",
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(none_as_null=True), nullable=False),
        sa.CheckConstraint("key = 1", name=op.f("ck_server_settings_one_row")),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_server_settings")),
    )
    op.create_table(
        "stored_answers",
        sa.Column("scope", sa.String(length=600), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_stored_answers")),
    )
    with op.batch_alter_table("stored_answers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_stored_answers_created_at"), ["created_at"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("usage", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("lease_owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'interrupted')",
            name=op.f("ck_jobs_state"),
        ),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_jobs_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_jobs")),
        sa.UniqueConstraint("id", name=op.f("uq_jobs_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index("ix_jobs_chat_key", ["chat_key", "key"], unique=False)
        batch_op.create_index(
            "uq_jobs_active",
            ["chat_key"],
            unique=True,
            sqlite_where=sa.text("state IN ('queued', 'running')"),
            postgresql_where=sa.text("state IN ('queued', 'running')"),
        )

    op.create_table(
        "snippets",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("strategy", sa.String(length=20), nullable=False),
        sa.Column("layer", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("parent_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("source_tokens", sa.Integer(), nullable=False),
        sa.Column("stale", sa.Boolean(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("edited", sa.Boolean(), nullable=False),
        sa.Column("connection", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("usage", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("edited_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(state = 'absorbed') = (parent_key IS NOT NULL)", name=op.f("ck_snippets_absorbed_has_parent")
        ),
        sa.CheckConstraint("state IN ('live', 'absorbed', 'superseded', 'deleted')", name=op.f("ck_snippets_state")),
        sa.ForeignKeyConstraint(
            ["chat_key", "parent_key"],
            ["snippets.chat_key", "snippets.key"],
            name=op.f("fk_snippets_chat_key_parent_key"),
        ),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_snippets_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_snippets")),
        sa.UniqueConstraint("chat_key", "key", name=op.f("uq_snippets_chat_key_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("snippets", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_snippets_parent_key"), ["parent_key"], unique=False)
        batch_op.create_index("uq_snippets_id", ["chat_key", "id"], unique=True)
        batch_op.create_index(
            "uq_snippets_place",
            ["chat_key", "strategy", "layer", "position"],
            unique=True,
            sqlite_where=sa.text("state = 'live'"),
            postgresql_where=sa.text("state = 'live'"),
        )

    op.create_table(
        "messages",
        sa.Column("key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("chat_key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("call_tokens", sa.Integer(), nullable=False),
        sa.Column("blank", sa.Boolean(), nullable=False),
        sa.Column("closes", sa.Boolean(), nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("omitted", sa.Boolean(), nullable=False),
        sa.Column("skipped", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("layered_leaf", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("rolling_leaf", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("buffer_leaf", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("tool_call_id", sa.String(), nullable=True),
        sa.Column("tool_calls", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("extra", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.CheckConstraint("role IN ('user', 'assistant', 'system', 'tool')", name=op.f("ck_messages_role")),
        sa.CheckConstraint(
            "(layered_leaf IS NULL AND rolling_leaf IS NULL AND buffer_leaf IS NULL)"
            " OR NOT (hidden OR pinned OR omitted)",
            name=op.f("ck_messages_covered_is_plain"),
        ),
        sa.ForeignKeyConstraint(
            ["chat_key", "buffer_leaf"],
            ["snippets.chat_key", "snippets.key"],
            name=op.f("fk_messages_chat_key_buffer_leaf"),
        ),
        sa.ForeignKeyConstraint(
            ["chat_key", "layered_leaf"],
            ["snippets.chat_key", "snippets.key"],
            name=op.f("fk_messages_chat_key_layered_leaf"),
        ),
        sa.ForeignKeyConstraint(
            ["chat_key", "rolling_leaf"],
            ["snippets.chat_key", "snippets.key"],
            name=op.f("fk_messages_chat_key_rolling_leaf"),
        ),
        sa.ForeignKeyConstraint(["chat_key"], ["chats.key"], name=op.f("fk_messages_chat_key"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_messages")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index(
            "ix_messages_buffer_leaf",
            ["chat_key", "buffer_leaf"],
            unique=False,
            sqlite_where=sa.text("buffer_leaf IS NOT NULL"),
            postgresql_where=sa.text("buffer_leaf IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_messages_layered_leaf",
            ["chat_key", "layered_leaf", "position", "closes", "tokens", "hidden", "omitted", "skipped", "pinned"],
            unique=False,
        )
        batch_op.create_index("ix_messages_name", ["chat_key", "name", "role"], unique=False)
        batch_op.create_index(
            "ix_messages_rolling_leaf",
            ["chat_key", "rolling_leaf"],
            unique=False,
            sqlite_where=sa.text("rolling_leaf IS NOT NULL"),
            postgresql_where=sa.text("rolling_leaf IS NOT NULL"),
        )
        batch_op.create_index("uq_messages_id", ["chat_key", "id"], unique=True)
        batch_op.create_index("uq_messages_place", ["chat_key", "position"], unique=True)


def downgrade() -> None:
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.drop_index("uq_messages_place")
        batch_op.drop_index("uq_messages_id")
        batch_op.drop_index(
            "ix_messages_rolling_leaf",
            sqlite_where=sa.text("rolling_leaf IS NOT NULL"),
            postgresql_where=sa.text("rolling_leaf IS NOT NULL"),
        )
        batch_op.drop_index("ix_messages_name")
        batch_op.drop_index("ix_messages_layered_leaf")
        batch_op.drop_index(
            "ix_messages_buffer_leaf",
            sqlite_where=sa.text("buffer_leaf IS NOT NULL"),
            postgresql_where=sa.text("buffer_leaf IS NOT NULL"),
        )

    op.drop_table("messages")
    with op.batch_alter_table("snippets", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_snippets_place", sqlite_where=sa.text("state = 'live'"), postgresql_where=sa.text("state = 'live'")
        )
        batch_op.drop_index("uq_snippets_id")
        batch_op.drop_index(batch_op.f("ix_snippets_parent_key"))

    op.drop_table("snippets")
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_jobs_active",
            sqlite_where=sa.text("state IN ('queued', 'running')"),
            postgresql_where=sa.text("state IN ('queued', 'running')"),
        )
        batch_op.drop_index("ix_jobs_chat_key")

    op.drop_table("jobs")
    with op.batch_alter_table("stored_answers", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_stored_answers_created_at"))

    op.drop_table("stored_answers")
    op.drop_table("server_settings")
    op.drop_table("connections")
    with op.batch_alter_table("chats", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_chats_updated_at_key"))
        batch_op.drop_index(batch_op.f("ix_chats_retry_at"))

    op.drop_table("chats")
