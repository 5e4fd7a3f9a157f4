"""Alembic's entry: runs the migrations on the connection that `app.store.migrate` hands over."""

from alembic import context
from sqlmodel import SQLModel

from app.store import tables

assert tables  # importing it is what fills the metadata
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
