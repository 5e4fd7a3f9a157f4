"""Whose messages they are."""

from collections.abc import Collection

from sqlalchemy import bindparam, or_, select
from sqlmodel import Session, SQLModel

from app.store.engine import rows
from app.store.messages import leaf_of, uncovered_by

_M = SQLModel.metadata.tables["messages"].c
_NAMED = _M.name.in_(bindparam("names", expanding=True))
_UNNAMED = _M.name.is_(None) & _M.role.in_(bindparam("roles", expanding=True))


def uncovered_of(
    session: Session, chat_key: int, strategy: str, names: Collection[str], roles: Collection[str]
) -> frozenset[int]:
    """Keys of the messages that no live snippet of the strategy covers and that bear one of these names, or none and
    have one of these roles.
    """
    query = select(_M.key).where(_M.chat_key == chat_key, uncovered_by(leaf_of(strategy)), or_(_NAMED, _UNNAMED))
    found = rows(session, query, {"names": list(names), "roles": list(roles)})
    return frozenset(int(key) for (key,) in found)
