"""Alembic's entry: runs the migrations on the connection that `app.store.migrate` hands over.

A migration that rebuilds a table with `op.batch_alter_table` says what SQLite's reflection does not see, CHECK
constraints and AUTOINCREMENT: `table_args=(sa.CheckConstraint(…), …)`, `table_kwargs={"sqlite_autoincrement": True}`.
A rebuilt table loses its triggers: rebuilding messages or snippets, create those of 0003_search.py again.
tests/store/test_migrate.py compares what comes out with the tables.
"""

from alembic import context
from sqlmodel import SQLModel

from app.store import call_tables, kept_tables, search, tables, view_tables

assert tables.Chat  # importing them is what fills the metadata
assert kept_tables.KeptMessage
assert view_tables.View
assert call_tables.ClientCall
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
    include_name=search.is_described,
)
with context.begin_transaction():
    context.run_migrations()
