"""Events that are no chat's: of the server's settings, and of chats that are gone"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    _set_nullable(True)


def downgrade() -> None:
    op.execute("DELETE FROM events WHERE chat_key IS NULL")
    _set_nullable(False)


def _set_nullable(nullable: bool) -> None:
    is_sqlite = op.get_context().dialect.name == "sqlite"
    last = op.get_bind().scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'events'")) if is_sqlite else None
    with op.batch_alter_table("events", table_kwargs={"sqlite_autoincrement": True}) as batch_op:
        batch_op.alter_column("chat_key", existing_type=_KEY, nullable=nullable)
    if last is not None:
        # SQLite builds the table anew. Whoever watches goes on after the last key seen, so none may come again.
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'events'")
        op.execute(sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('events', :last)").bindparams(last=last))
