"""API keys at rest, and the key file."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import InvalidRequest
from app.store.keyfile import KeyFile
from app.store.vault import open_vault

MAKE = "import pathlib, sys; from app.store.keyfile import KeyFile; print(KeyFile(pathlib.Path(sys.argv[1])).make())"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "turnfold.db"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    return tmp_path / "turnfold.db.key"


def test_only_a_stored_key_makes_the_file(database: Path, key_file: Path) -> None:
    """Opening a vault, or reading a key that another secret locked, leaves no file; storing one makes it."""
    vault = open_vault(None, database)
    with pytest.raises(InvalidRequest, match="cannot be read"):
        vault.unlock(open_vault("other", None).lock("sk-1"))
    assert list(database.parent.iterdir()) == []
    locked = vault.lock("sk-1")
    assert list(database.parent.iterdir()) == [key_file]
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert "sk-1" not in locked


def test_a_later_process_reads_what_was_stored(database: Path) -> None:
    """The file holds from one process to the next."""
    locked = open_vault(None, database).lock("sk-1")
    assert open_vault(None, database).unlock(locked) == "sk-1"


def test_two_vaults_share_the_file(database: Path) -> None:
    """A vault opened before another made the file uses that file."""
    early, late = open_vault(None, database), open_vault(None, database)
    locked = late.lock("sk-1")
    assert early.unlock(locked) == "sk-1"
    assert late.unlock(early.lock("sk-2")) == "sk-2"


@pytest.mark.parametrize("content", [b"", b"\n"])
def test_an_empty_file_is_refused(database: Path, key_file: Path, content: bytes) -> None:
    """Nothing is encrypted under an empty secret, and the file is not replaced."""
    key_file.write_bytes(content)
    vault = open_vault(None, database)
    with pytest.raises(InvalidRequest, match=r"turnfold\.db\.key .* is empty"):
        vault.lock("sk-1")
    with pytest.raises(InvalidRequest, match="is empty"):
        vault.unlock("whatever")
    assert key_file.read_bytes() == content


def test_an_unreadable_file_is_refused(database: Path, key_file: Path) -> None:
    """What cannot be read is said, with what to do."""
    key_file.mkdir()
    with pytest.raises(InvalidRequest, match=r"cannot be read: .*TURNFOLD_SECRET_KEY"):
        open_vault(None, database).lock("sk-1")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Where no file can be made no key is stored."""
    with pytest.raises(InvalidRequest, match="cannot be written"):
        open_vault(None, tmp_path / "missing" / "turnfold.db").lock("sk-1")


def test_a_full_disk_leaves_nothing_behind(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the secret cannot be written to the end there is no file, not a part of one."""

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidRequest, match="No space left"):
        KeyFile(key_file).make()
    assert list(key_file.parent.iterdir()) == []


def test_a_file_system_without_hard_links(key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is made there too."""

    def no_links(_source: Path, _target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    assert KeyFile(key_file).make() == KeyFile(key_file).make() == key_file.read_bytes()
    assert list(key_file.parent.iterdir()) == [key_file]


def test_processes_that_make_it_at_once(key_file: Path) -> None:
    """Whoever comes first, all have the same secret."""
    command = [sys.executable, "-c", MAKE, str(key_file)]
    folder = Path(__file__).parents[2]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) for _ in range(4)]
    said = {process.communicate()[0].decode().strip() for process in running}
    assert said == {str(key_file.read_bytes())}
    assert list(key_file.parent.iterdir()) == [key_file]


def test_a_secret_of_ones_own(database: Path) -> None:
    """TURNFOLD_SECRET_KEY takes the place of the file; with another one nothing stored can be read."""
    locked = open_vault("a phrase", database).lock("sk-1")
    assert open_vault("a phrase", None).unlock(locked) == "sk-1"
    assert list(database.parent.iterdir()) == []
    with pytest.raises(InvalidRequest, match="has changed"):
        open_vault("another phrase", database).unlock(locked)


def test_a_database_that_is_no_file() -> None:
    """Without a secret that outlives the process no key is stored."""
    with pytest.raises(InvalidRequest, match="Set TURNFOLD_SECRET_KEY"):
        open_vault(None, None).lock("sk-1")
