"""Copies of a SQLite database that are whole while it is in use.

SQLite's backup API copies it page by page, a damaged one too, which `VACUUM INTO` would refuse or change. Inside a read
transaction it sees one moment and never has to begin again, however much others write meanwhile; in WAL mode it keeps
nobody waiting (https://www.sqlite.org/c3ref/backup_finish.html, https://www.sqlite.org/wal.html).
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from sqlalchemy.exc import ArgumentError

from app.errors import Conflict
from app.store.engine import BUSY_TIMEOUT_S, sqlite_file

_PAGES = 2000
"""How many pages are copied between two looks at how far it is: 8 MB."""

SPARE = 16 * 2**20
"""Bytes that are left free whatever is copied."""

_ONE_PER_S = 60
_STAMP = "%Y%m%dT%H%M%SZ"

Watch = Callable[[int, int], None]
"""Told how many of how many pages are copied."""


def file_of(url: str) -> Path:
    """The file of the database. Raises Conflict where there is none."""
    try:
        file = sqlite_file(url)
    except ArgumentError:
        raise Conflict("TURNFOLD_DATABASE_URL is no database address; write sqlite:///FILE.") from None
    if file is None:
        raise Conflict(
            "Only a database that is a SQLite file can be copied here: back PostgreSQL up with pg_dump, and restore it"
            " with pg_restore or psql."
        )
    return file


def back_up(database: Path, target: Path, watch: Watch | None = None) -> None:
    """Copy a database to a file that is not there yet: whole, on the disk and readable by its owner alone.

    Raises Conflict where that cannot be; then nothing is left behind.
    """
    if not database.is_file():
        raise Conflict(f"There is no database at {database}.")
    try:
        with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as source:
            copy_into(source, size_of(database), target, watch)
    except FileExistsError:
        raise Conflict(f"{target} is there already; name a file that is not.") from None


def back_up_before_repair(database: Path) -> Path:
    """A copy beside the database, named after this second; one that was made within the last minute serves again."""
    now = datetime.now(UTC)
    for file in database.parent.glob(f"{escape(database.name)}.before-repair-*"):
        with suppress(ValueError):  # something else with such a name
            made = datetime.strptime(file.name.rpartition("-")[2], _STAMP).replace(tzinfo=UTC)
            if 0 <= (now - made).total_seconds() < _ONE_PER_S:
                return file
    target = stamped(database, "before-repair")
    try:
        back_up(database, target)
    except Conflict:
        if not target.is_file():  # else another repair was faster
            raise
    return target


def stamped(database: Path, why: str) -> Path:
    """A name beside the database that says why the file is there and since when."""
    return database.with_name(f"{database.name}.{why}-{datetime.now(UTC).strftime(_STAMP)}")


def copy_into(source: sqlite3.Connection, size: int, target: Path, watch: Watch | None = None) -> None:
    """Copy what a connection sees, about `size` bytes, into a new file. Raises FileExistsError, and Conflict where it
    cannot be written.
    """
    if target.exists():
        raise FileExistsError(target)
    try:
        source.execute("BEGIN")
        source.execute("PRAGMA schema_version").fetchall()  # reads no schema, which may be damaged
        require_room(target.absolute().parent, size)
        descriptor, name = tempfile.mkstemp(dir=target.absolute().parent, prefix=f"{target.name}.")  # with mode 0600
        os.close(descriptor)
        part = Path(name)
        try:
            _copy(source, part, watch)
            publish(part, target)
        finally:
            part.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except (OSError, sqlite3.Error) as error:
        raise Conflict(f"The database could not be copied to {target}: {told(error)}.") from None


def size_of(database: Path) -> int:
    """The bytes of a database and its log: more than a copy of it takes."""
    files = (database, database.with_name(f"{database.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _copy(source: sqlite3.Connection, part: Path, watch: Watch | None) -> None:
    def progress(_status: int, remaining: int, total: int) -> None:
        if watch is not None:
            watch(total - remaining, total)

    with closing(sqlite3.connect(part, isolation_level=None)) as copy:
        # Nobody else knows the file, and it is brought to the disk as a whole.
        copy.execute("PRAGMA journal_mode = OFF")
        copy.execute("PRAGMA synchronous = OFF")
        source.backup(copy, pages=_PAGES, progress=progress, sleep=0)
    _sync(part)


def require_room(folder: Path, needed: int) -> None:
    """Raises Conflict when a folder's disk has no room for so many bytes."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise Conflict(
            f"There is too little room in {folder} for a copy of the database: it needs {megabytes(needed + SPARE)},"
            f" and {megabytes(free)} are free. Make room, or have the copy made elsewhere."
        )


def megabytes(size: int) -> str:
    """A number of bytes, for people."""
    return f"{size / 2**20:,.1f} MiB"


def publish(part: Path, target: Path) -> None:
    """Give a finished file its name. Raises FileExistsError if another has it."""
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no hard links (FAT, Android).
        if target.exists():
            raise FileExistsError(target) from None
        part.rename(target)
    sync_folder(target.absolute().parent)


def _sync(file: Path) -> None:
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def told(error: OSError | sqlite3.Error) -> str:
    """What an error says, without a path."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
