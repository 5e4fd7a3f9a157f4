"""Stored rows as objects that no session watches, for reading alone: an object of a session's own takes ten times as
long as its row.
"""

from collections.abc import Collection, Mapping
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, inspect, select
from sqlalchemy.orm.attributes import instance_dict
from sqlmodel import Session, SQLModel

from app.store.prepared import Prepared

T = TypeVar("T", bound=SQLModel)


class Copies(Generic[T]):
    """Reads the row of a table that a condition selects; columns `without` are left out, and read as None.

    What is changed in a copy is not stored. Changes that wait in the session must have been flushed.
    """

    def __init__(self, table: type[T], which: ColumnElement[bool], without: Collection[str] = ()) -> None:
        mapped = inspect(table)
        columns = [column for column in mapped.columns if column.name not in without]
        self._make = mapped.class_manager.new_instance
        self._names = tuple(column.name for column in columns)
        self._query = Prepared(select(*columns).where(which))

    def one(self, session: Session, values: Mapping[str, Any]) -> T | None:
        """The first row that is found, or None."""
        found = self._query.all(session, values)
        if not found:
            return None
        copy: T = self._make()
        instance_dict(copy).update(zip(self._names, found[0], strict=True))
        return copy
