"""Putting a backup in the place of a database."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.errors import Conflict
from app.store.backup import Watch, copy_into, size_of, stamped, sync_folder, told
from app.store.integrity import check_raw, known_revisions

_HEADER = b"SQLite format 3\0"
_WAIT_S = 2.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@dataclass(frozen=True, slots=True)
class Restored:
    """What a backup held, and where the database that stood there is now; None if there was none."""

    chats: int
    messages: int
    kept: Path | None


def restore(backup: Path, database: Path, watch: Watch | None = None) -> Restored:
    """Make the database what the backup is; the one that was there is kept beside it.

    Raises Conflict for a file that is no whole database of a schema this version knows, and while a process uses the
    database; then nothing has changed.
    """
    if database.exists() and backup.exists() and backup.samefile(database):
        raise Conflict(f"{backup} is the database itself; name a backup of it.")
    with closing(_open(backup)) as source:
        chats, messages = _look_through(source, backup)
        part = stamped(database, "restoring")
        try:
            copy_into(source, size_of(backup), part, watch)
            kept = _swap(part, database)
        except FileExistsError:
            raise Conflict(f"{part} is there already: is another restore running?") from None
        finally:
            part.unlink(missing_ok=True)
    return Restored(chats, messages, kept)


def _open(backup: Path) -> sqlite3.Connection:
    """The backup, read only: beside one without a log of its own nothing is written."""
    if not backup.is_file():
        raise Conflict(f"There is no file {backup}.")
    with backup.open("rb") as stream:
        if stream.read(len(_HEADER)) != _HEADER:
            raise Conflict(f"{backup} is no SQLite database.")
    log = backup.with_name(f"{backup.name}-wal")
    how = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    return sqlite3.connect(f"{backup.absolute().as_uri()}?{how}", uri=True, isolation_level=None, timeout=_WAIT_S)


def _look_through(source: sqlite3.Connection, backup: Path) -> tuple[int, int]:
    """How many chats and messages a backup holds. Raises Conflict if it cannot be used."""
    try:
        damage = check_raw(source)
        revisions = source.execute("SELECT version_num FROM alembic_version").fetchall()
        counts = [source.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("chats", "messages")]
    except sqlite3.Error as error:
        missing = "no such table" in str(error)
        why = "it is no database of Turnfold" if missing else f"it cannot be read: {error}"
        raise Conflict(f"{backup} is not taken, because {why}.") from None
    if damage.broken or damage.indexes:
        first = (*damage.broken, *damage.indexes)[0]
        raise Conflict(f"{backup} is not taken, because it is damaged: {first}. Use another backup.")
    if len(revisions) != 1 or revisions[0][0] not in known_revisions():
        found = ", ".join(str(row[0]) for row in revisions) or "none"
        raise Conflict(
            f"{backup} is not taken: this version does not know its schema ({found}). Update Turnfold to use it."
        )
    return int(counts[0]), int(counts[1])


def _swap(part: Path, database: Path) -> Path | None:
    """Put the finished copy in place; where the old database is now."""
    if not database.exists():
        part.rename(database)
        sync_folder(database.absolute().parent)
        return None
    kept = stamped(database, "before-restore")
    with _alone(database, kept):
        _keep(database, kept)
        part.replace(database)
    sync_folder(database.absolute().parent)
    return kept


def _keep(database: Path, kept: Path) -> None:
    """Give the old database a second name; where there are no hard links, another one."""
    try:
        os.link(database, kept)
    except FileExistsError:
        raise Conflict(f"{kept} is there already; try again in a second.") from None
    except OSError:
        database.rename(kept)


@contextmanager
def _alone(database: Path, kept: Path) -> Iterator[None]:
    """While nobody else can use the database; all of it is in its one file then. Raises Conflict if somebody does.

    In WAL mode every connection holds a lock as long as it is open, and leaving that mode needs all of them gone. Of
    a database too damaged for that the log is put beside the file that is kept: beside another it would damage that.
    """
    with closing(sqlite3.connect(database, timeout=_WAIT_S, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _BUSY:
                raise Conflict(
                    f"{database} is in use. Stop the server, and every other program that has it open, and try again."
                ) from None
            if code not in _DAMAGED:
                raise Conflict(f"{database} cannot be replaced: {told(error)}.") from None
            for ending in ("-wal", "-shm"):
                log = database.with_name(database.name + ending)
                if log.exists():
                    log.rename(kept.with_name(kept.name + ending))
        yield
