"""Putting a backup in the place of a database."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app.errors import Conflict
from app.store.backup import back_up
from app.store.engine import Database
from app.store.restore import restore
from tests.store.test_backup import counts
from tests.support.damage import backups, hurt
from tests.support.rows import add_chat, add_messages


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "turnfold.db"


@pytest.fixture
def backup(db: Database, database: Path, tmp_path: Path) -> Path:
    """A copy with one chat of four messages; the database has got a second chat since."""
    with db.write() as session:
        add_messages(session, add_chat(session).key, 4)
    back_up(database, tmp_path / "backup.db")
    with db.write() as session:
        add_messages(session, add_chat(session, "later").key, 2)
    return tmp_path / "backup.db"


def test_what_the_backup_held_is_back(db: Database, database: Path, backup: Path) -> None:
    """The database is what the backup was, for its owner alone; the one before is beside it, whole, and so is the
    backup.
    """
    db.dispose()
    restored = restore(backup, database)
    assert (restored.chats, restored.messages) == (1, 4)
    assert restored.kept in backups(database, "before-restore")
    assert restored.kept is not None
    assert database.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in database.parent.iterdir()} == {database.name, backup.name, restored.kept.name}
    assert (counts(database), counts(restored.kept), counts(backup)) == ((1, 4), (2, 6), (1, 4))


def test_a_database_that_is_not_there(db: Database, backup: Path, tmp_path: Path) -> None:
    """Where there is none the backup becomes the first, and there is nothing to keep."""
    db.dispose()
    assert restore(backup, tmp_path / "new.db").kept is None
    assert counts(tmp_path / "new.db") == (1, 4)


def test_not_while_it_is_in_use(db: Database, database: Path, backup: Path) -> None:
    """While any connection is open, idle as it may be, nothing is replaced, and that is said."""
    with db.read() as session:
        session.connection()
    with pytest.raises(Conflict, match=r"is in use\. Stop the server"):
        restore(backup, database)
    assert counts(database) == (2, 6)
    assert {path.name for path in database.parent.glob("turnfold.db.*")} == set()


@pytest.mark.usefixtures("db")
def test_a_database_too_damaged_to_open(db: Database, database: Path, backup: Path) -> None:
    """What is no database any more gives way too, with its log: beside another database that would do harm."""
    db.dispose()
    database.write_bytes(b"\xff" * 8192)
    log = database.with_name("turnfold.db-wal")
    log.write_bytes(b"\xff" * 100)
    kept = restore(backup, database).kept
    assert kept is not None
    assert kept.read_bytes() == b"\xff" * 8192
    assert not log.exists()
    assert counts(database) == (1, 4)


def test_a_backup_with_its_log(db: Database, database: Path, tmp_path: Path) -> None:
    """A file that was copied together with its log is taken with what the log holds."""
    with db.write() as session:
        add_messages(session, add_chat(session).key, 4)
    for ending in ("", "-wal"):
        (tmp_path / f"plain.db{ending}").write_bytes(database.with_name(database.name + ending).read_bytes())
    restore(tmp_path / "plain.db", tmp_path / "new.db")
    assert counts(tmp_path / "new.db") == (1, 4)


def test_rows_that_break_rules_are_taken(db: Database, database: Path, backup: Path) -> None:
    """A copy from before a repair can be restored: what it holds is wrong, but the file is whole."""
    db.dispose()
    hurt(backup, "UPDATE snippets SET state = 'lost'", "UPDATE messages SET role = 'narrator'")
    assert restore(backup, database).messages == 4


def _broken(backup: Path) -> None:
    with backup.open("rb+") as file:
        file.seek(8 * 4096)
        file.write(b"\xff" * 40 * 4096)


def _foreign(backup: Path) -> None:
    backup.unlink()
    with closing(sqlite3.connect(backup)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")


def _newer(backup: Path) -> None:
    hurt(backup, "UPDATE alembic_version SET version_num = '9999'")


@pytest.mark.parametrize(
    ("spoil", "advice"),
    [
        (_broken, "damaged|cannot be read"),
        (_foreign, "no database of Turnfold"),
        (_newer, r"\(9999\). Update Turnfold"),
        (lambda backup: backup.write_text("Dear diary"), "no SQLite database"),
        (Path.unlink, "There is no file"),
    ],
)
def test_what_is_no_backup(db: Database, database: Path, backup: Path, spoil: object, advice: str) -> None:
    """A file that is damaged, foreign, of a newer version or no database is refused, and the database is as it was."""
    db.dispose()
    assert callable(spoil)
    spoil(backup)
    with pytest.raises(Conflict, match=advice):
        restore(backup, database)
    assert counts(database) == (2, 6)
    assert backups(database, "before-restore") == []


@pytest.mark.usefixtures("backup")
def test_not_itself(database: Path) -> None:
    """A database cannot be restored from itself."""
    with pytest.raises(Conflict, match="the database itself"):
        restore(database, database)
