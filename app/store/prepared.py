"""Small queries that every request asks, straight from SQLite's driver: SQLAlchemy takes several times as long for one
as the database itself.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Dialect, Select, bindparam
from sqlalchemy.exc import OperationalError
from sqlmodel import Session

Rows = Sequence[tuple[Any, ...]]
_Read = Callable[[Any], Any]


class Prepared:
    """A SELECT that is compiled once. None of its values is a list, or a literal that is written into it late.

    Rows are plain tuples. As for `app.store.engine.rows`, nothing is flushed before it.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]]) -> None:
        self._statement = statement
        self._form: _Form | None = None

    def all(self, session: Session, values: Mapping[str, Any]) -> Rows:
        """All rows, read in the session's transaction. Raises what SQLAlchemy raises."""
        connection = _connection(session)
        if connection.dialect.name == "sqlite":
            form = self._form or self._made(connection.dialect)
            driver: Any = connection.connection.driver_connection
            try:
                return form.read(driver.execute(form.sql, form.given(values)).fetchall())
            except sqlite3.OperationalError as error:  # locked, perhaps: who has waited once does not wait again
                raise OperationalError(form.sql, None, error, hide_parameters=True) from error
            except sqlite3.Error:  # told below, as SQLAlchemy tells it
                pass
        return [tuple(row) for row in connection.execute(self._statement, values)]

    def value(self, session: Session, values: Mapping[str, Any]) -> Any:
        """The first column of the first row; None if there is no row."""
        found = self.all(session, values)
        return found[0][0] if found else None

    def _made(self, dialect: Dialect) -> "_Form":
        self._form = _Form(self._statement, dialect)  # by two threads at once: alike
        return self._form


class PreparedAmong:
    """SELECTs of rows whose column `key` is one of a list, each compiled once for as many values as a power of two.

    The last value stands in the list over and over, which changes nothing. Not more than one statement may name.
    """

    def __init__(self, statement: Select[*tuple[Any, ...]], key: ColumnElement[Any]) -> None:
        self._statement = statement
        self._key = key
        self._forms: dict[int, Prepared] = {}

    def all(self, session: Session, keys: Sequence[Any], values: Mapping[str, Any] | None = None) -> Rows:
        """All rows for a list that is not empty, read in the session's transaction. Raises what SQLAlchemy raises."""
        size = 1 << (len(keys) - 1).bit_length()
        asked = {f"among{place}": keys[min(place, len(keys) - 1)] for place in range(size)}
        form = self._forms.get(size) or self._made(size, asked)
        return form.all(session, {**asked, **values} if values else asked)

    def _made(self, size: int, names: Iterable[str]) -> Prepared:
        chosen = self._key.in_([bindparam(name) for name in names])
        return self._forms.setdefault(size, Prepared(self._statement.where(chosen)))


def _connection(session: Session) -> Connection:
    """That of the session's transaction; where one was begun for the session, without its long way there."""
    bind = session.bind
    return bind if isinstance(bind, Connection) and bind.in_transaction() else session.connection()


class _Form:
    """A statement as the driver takes it."""

    def __init__(self, statement: Select[*tuple[Any, ...]], dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect)
        self.sql = str(compiled)
        self._names: Sequence[str] = compiled.positiontup or ()
        self._own = compiled.params
        types = [column.type.dialect_impl(dialect) for column in compiled.statement.selected_columns]
        found = [bool if kind.python_type is bool else kind.result_processor(dialect, None) for kind in types]
        self._readers: list[tuple[int, _Read]] = [(place, read) for place, read in enumerate(found) if read is not None]

    def given(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in order, those that the statement brings itself among them."""
        return [values[name] if name in values else self._own[name] for name in self._names]

    def read(self, found: Rows) -> Rows:
        """Rows of the driver as rows of the statement."""
        if not (found and self._readers):
            return found
        columns: list[Sequence[Any]] = list(zip(*found, strict=True))
        for place, read in self._readers:
            columns[place] = [None if value is None else read(value) for value in columns[place]]
        return list(zip(*columns, strict=True))
