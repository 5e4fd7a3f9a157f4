"""Copies of a database that is in use."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

from app.errors import Conflict
from app.store.backup import back_up, back_up_before_repair, file_of, require_room
from app.store.engine import Database
from tests.support.damage import backups
from tests.support.rows import add_chat, add_messages


def counts(file: Path) -> tuple[int, int]:
    """Chats and messages in a file, which must be whole."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = connection.execute("SELECT (SELECT count(*) FROM chats), (SELECT count(*) FROM messages)")
        chats, messages = found.fetchone()
        return chats, messages


def test_what_was_just_written_is_in_it(db: Database, tmp_path: Path) -> None:
    """A copy holds what only the log beside the database holds yet, is its owner's alone, and leaves nothing else."""
    with db.write() as session:
        add_messages(session, add_chat(session).key, 4)
    steps: list[tuple[int, int]] = []
    back_up(tmp_path / "turnfold.db", tmp_path / "copy.db", lambda done, total: steps.append((done, total)))
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert {path.name for path in tmp_path.glob("copy*")} == {"copy.db"}
    assert counts(tmp_path / "copy.db") == (1, 4)
    assert steps[-1][0] == steps[-1][1] > 0


def test_a_writer_is_not_kept_waiting(db: Database, tmp_path: Path) -> None:
    """While another connection writes without a pause, a copy ends, and holds whole transactions."""
    written, stop = Event(), Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            with db.write() as session:
                add_messages(session, add_chat(session, f"c{number}").key, 50)
            number += 1
            written.set()

    writer = Thread(target=write)
    writer.start()
    try:
        assert written.wait(20)
        for number in range(3):
            back_up(tmp_path / "turnfold.db", tmp_path / f"copy{number}.db")
    finally:
        stop.set()
        writer.join()
    found = [counts(tmp_path / f"copy{number}.db") for number in range(3)]
    assert all(messages == 50 * chats > 0 for chats, messages in found)


def test_a_damaged_database_is_copied_as_it_is(db: Database, tmp_path: Path) -> None:
    """Pages that make no sense are copied too: a copy from before a repair is for those who want to look."""
    with db.write() as session:
        add_messages(session, add_chat(session).key, 2000)
    db.dispose()
    with (tmp_path / "turnfold.db").open("rb+") as file:
        file.seek(4096)
        file.write(b"\xff" * 20 * 4096)
    back_up(tmp_path / "turnfold.db", tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes()[4096 : 21 * 4096] == b"\xff" * 20 * 4096


@pytest.mark.usefixtures("db")
def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file that is there is left alone, and so is all else."""
    (tmp_path / "copy.db").write_text("precious", encoding="utf-8")
    with pytest.raises(Conflict, match="is there already"):
        back_up(tmp_path / "turnfold.db", tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text(encoding="utf-8") == "precious"


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("target", ["missing/copy.db", "/proc/copy.db"])
def test_where_nothing_can_be_written(tmp_path: Path, target: str) -> None:
    """A folder that is not there or takes no files is said, and nothing is left behind."""
    before = set(tmp_path.iterdir())
    with pytest.raises(Conflict, match=r"could not be copied|too little room"):
        back_up(tmp_path / "turnfold.db", tmp_path / target)
    assert set(tmp_path.iterdir()) == before


def test_there_must_be_a_database(tmp_path: Path) -> None:
    """What is not there is not made, and what is no SQLite file is PostgreSQL's pg_dump's to copy."""
    with pytest.raises(Conflict, match="There is no database"):
        back_up(tmp_path / "turnfold.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []
    for url, advice in (
        ("postgresql://turnfold@localhost/chats", "pg_dump"),
        ("sqlite://", "SQLite"),
        ("x", "sqlite:"),
    ):
        with pytest.raises(Conflict, match=advice):
            file_of(url)


def test_there_must_be_room(tmp_path: Path) -> None:
    """More than the disk has free is refused before anything is written, with both sizes."""
    with pytest.raises(Conflict, match=r"too little room .* needs [\d,]+\.\d MiB, and [\d,]+\.\d MiB are free"):
        require_room(tmp_path, 2**60)
    require_room(tmp_path, 1)


@pytest.mark.usefixtures("db")
def test_one_copy_a_minute(tmp_path: Path) -> None:
    """Before repairs at most one copy is made in a minute; one that is older, or has another name, does not serve."""
    database = tmp_path / "turnfold.db"
    old = datetime.now(UTC) - timedelta(seconds=61)
    for name in (f"{old:%Y%m%dT%H%M%SZ}", "mine"):
        database.with_name(f"turnfold.db.before-repair-{name}").touch()
    first = back_up_before_repair(database)
    assert back_up_before_repair(database) == first
    assert len(backups(database)) == 3
    assert counts(first) == (0, 0)
