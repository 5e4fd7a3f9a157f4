"""How often the history of a chat was changed other than by appending"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A plain column: a rebuild of the table would take every message with it.
    op.add_column("chats", sa.Column("changes", sa.Integer(), server_default=sa.text("0"), nullable=False))


def downgrade() -> None:
    op.drop_column("chats", "changes")
