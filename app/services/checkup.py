"""Examining a whole database: its file, what SQLite says of it, what belongs to no chat, and every chat."""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy.exc import DatabaseError, IntegrityError
from sqlmodel import Session

from app.core.facts import count, listed
from app.errors import Conflict, InvalidRequest
from app.services.repairing import Repaired, Repairing
from app.services.troubles import RESTORE, Trouble, look, look_at_search
from app.store import backup, connections, integrity
from app.store.engine import Database
from app.store.faults import UNAVAILABLE, cause
from app.store.migrate import is_current, migrate
from app.store.vault import Vault

_UNREADABLE = (KeyError, TypeError, ValueError)
"""What reading rows raises that somebody wrote by hand: a role or a setting that there is not."""

Watch = Callable[[int, int], None]
"""Told how many of how many chats are examined."""


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and the id of the chat it is of; None if it belongs to no chat."""

    chat_id: str | None
    what: Repaired


@dataclass(frozen=True, slots=True)
class Report:
    """What a checkup found, and the copy of the database that was made before it was touched."""

    found: list[Found]
    backup: Path | None


@dataclass
class _Copy:
    """Copies the database when it is first to be touched, and then no more."""

    repairing: Repairing
    made: Path | None = None

    def __call__(self) -> None:
        self.made = self.made or self.repairing.back_up()


@dataclass(frozen=True)
class Checkup:
    """Examines the database and, if asked to, repairs what has one right fix."""

    db: Database
    repairing: Repairing
    vault: Vault

    def run(self, *, fix: bool = False, watch: Watch | None = None) -> Report:
        """Everything that is wrong. Raises Conflict where no copy can be made; nothing has changed then."""
        copy = _Copy(self.repairing)
        try:
            found = self._all(copy if fix else None, watch)
        except DatabaseError as error:
            if isinstance(error, UNAVAILABLE):
                raise
            damaged = _told("database_damaged", f"The file cannot be read: {cause(error)}. {RESTORE}")
            found = [Found(None, damaged)]
        return Report(found, copy.made)

    def _all(self, copy: _Copy | None, watch: Watch | None) -> list[Found]:
        outside = [*self._place(), *self._schema(copy)]
        if not is_current(self.db.engine):
            return [Found(None, one) for one in outside]
        first = self._database(copy)
        if any(one.code == "database_damaged" for one in first):
            copy = None  # whatever is written to a damaged file may damage it more
        inside = list(self._chats(copy, watch))
        if copy is not None and not all(one.fixed for one in first):
            # Some of it could only be put right once the chats were.
            left = {one.code for one in self._database(copy) if not one.fixed}
            first = [replace(one, fixed=one.code not in left) for one in first]
        return [*(Found(None, one) for one in [*outside, *first]), *inside]

    def _file(self) -> Path:
        return backup.file_of(self.db.engine.url.render_as_string(hide_password=False))

    def _place(self) -> list[Repaired]:
        file = self._file().absolute()
        found = []
        for place in (file, file.parent):
            if not os.access(place, os.W_OK):
                found.append(_told("not_writable", f"{place} cannot be written. Change its permissions."))
        needed, free = backup.size_of(file) + backup.SPARE, shutil.disk_usage(file.parent).free
        if free < needed:
            found.append(
                _told(
                    "disk_low",
                    f"Only {backup.megabytes(free)} are free in {file.parent}; a copy of the database needs"
                    f" {backup.megabytes(needed)}. Make room.",
                )
            )
        return found

    def _schema(self, copy: _Copy | None) -> list[Repaired]:
        if is_current(self.db.engine):
            return []
        with self.db.read() as session:
            there = integrity.revision(session.connection())
        if there not in integrity.known_revisions():
            told = "It is no database of Turnfold's." if there is None else f"Its schema is {there}; update Turnfold."
            return [_told("schema_unknown", f"This version cannot use the database. {told}")]
        detail = f"The database has an older schema ({there}) than this version. It has to be migrated."
        if copy is None:
            return [_told("schema_old", detail)]
        copy()
        try:
            migrate(self.db.engine)
        except Conflict as error:
            return [_told("schema_old", f"{detail} {error.detail}")]
        return [Repaired("schema_old", detail, fixed=True)]

    def _database(self, copy: _Copy | None) -> list[Repaired]:
        troubles = self._look()
        left = {trouble.code for trouble in troubles}
        if copy is not None and any(trouble.mend for trouble in troubles):
            copy()
            with self.db.write() as session:
                for trouble in troubles:
                    _mend(session, trouble)
            left = {trouble.code for trouble in self._look()}
        return [Repaired(trouble.code, trouble.detail, trouble.code not in left) for trouble in troubles]

    def _look(self) -> list[Trouble]:
        with self.db.read() as session:
            found = [*look(session), *self._keys(session)]
        codes = {trouble.code for trouble in found}
        if not codes & {"database_damaged", "search_damaged"} and os.access(self._file(), os.W_OK):
            with self.db.write() as session:
                found += look_at_search(session)
        return found

    def _keys(self, session: Session) -> list[Trouble]:
        locked = [row for row in connections.all_stored(session) if row.encrypted_api_key is not None]
        unreadable = [row.name for row in locked if not self._opens(row.encrypted_api_key or "")]
        if not unreadable:
            return []
        detail = (
            f"The API keys of {count(len(unreadable), 'connection')} cannot be read ({listed(unreadable)}): the key"
            " file beside the database, or TURNFOLD_SECRET_KEY, is not the one they were stored with. Bring it back, or"
            " enter the keys again."
        )
        return [Trouble("keys_unreadable", detail)]

    def _opens(self, locked: str) -> bool:
        try:
            self.vault.unlock(locked)
        except InvalidRequest:
            return False
        return True

    def _chats(self, copy: _Copy | None, watch: Watch | None) -> Iterable[Found]:
        with self.db.read() as session:
            ids = integrity.chat_ids(session)
        for done, chat_id in enumerate(ids):
            if watch is not None:
                watch(done, len(ids))
            try:
                found = self.repairing.repair(chat_id, dry_run=copy is None, back_up=copy)
            except DatabaseError as error:
                found = [_told("unreadable", f"The chat could not be examined: {cause(error)}.")]
            except _UNREADABLE as error:
                found = [_told("unreadable", f"The chat's rows hold what no version writes: {error!r}.")]
            yield from (Found(chat_id, one) for one in found)


def _told(code: str, detail: str) -> Repaired:
    return Repaired(code, detail, fixed=False)


def _mend(session: Session, trouble: Trouble) -> None:
    """Rows that are not unique keep an index from being built; those are a chat's to put right."""
    if trouble.mend is None:
        return
    try:
        with session.begin_nested():
            trouble.mend(session)
    except IntegrityError:
        session.expire_all()
