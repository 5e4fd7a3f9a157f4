"""Reading and writing connections."""

from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlmodel import Session, col

from app.store.clock import now_ms
from app.store.engine import changed
from app.store.prepared import Prepared
from app.store.tables import ConnectionRow

_MODEL = Prepared(
    select(col(ConnectionRow.provider), col(ConnectionRow.model)).where(col(ConnectionRow.name) == bindparam("name"))
)


def find(session: Session, name: str) -> ConnectionRow | None:
    """One stored connection. That there is none, which is common, is found out first, and in a tenth of the time."""
    return session.get(ConnectionRow, name) if model_of(session, name) is not None else None


def model_of(session: Session, name: str) -> tuple[str, str | None] | None:
    """Provider and model of a stored connection."""
    return next(((provider, model) for provider, model in _MODEL.all(session, {"name": name})), None)


def all_stored(session: Session) -> list[ConnectionRow]:
    """Every stored connection, by name."""
    return list(session.execute(select(ConnectionRow).order_by(col(ConnectionRow.name))).scalars())


def save(session: Session, name: str, fields: dict[str, Any]) -> None:
    """Replace a connection."""
    session.merge(ConnectionRow(name=name, updated_at=now_ms(), **fields))
    session.flush()


def remove(session: Session, name: str) -> bool:
    """Delete a connection; False if there was none."""
    return changed(session, delete(ConnectionRow).where(col(ConnectionRow.name) == name)) > 0
