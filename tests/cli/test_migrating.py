"""`turnfold migrate`, and the databases no command can use."""

from pathlib import Path

import pytest

from app.store.engine import make_engine
from app.store.migrate import is_current
from tests.cli.programs import Run


def test_a_new_database_is_made(run: Run, tmp_path: Path) -> None:
    """Migrating where there is no database makes one of the newest schema and says so."""
    shown = run("migrate")
    assert shown.exit_code == 0
    assert "turnfold.db migrated from nothing to 0008" in shown.stdout
    engine = make_engine(f"sqlite:///{tmp_path / 'turnfold.db'}")
    assert is_current(engine)
    engine.dispose()


def test_a_second_time_does_nothing(run: Run) -> None:
    """Migrating a current database is a success and says that there was nothing to do."""
    run("migrate")
    shown = run("migrate")
    assert shown.exit_code == 0
    assert "newest schema already" in shown.stdout


def test_a_newer_schema_is_refused(run: Run, tmp_path: Path) -> None:
    """A database that a newer version made is left alone, with the advice to update."""
    run("migrate")
    engine = make_engine(f"sqlite:///{tmp_path / 'turnfold.db'}")
    with engine.connect().execution_options(turnfold_write=True) as connection, connection.begin():
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    _refused(run, "update Turnfold")


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("sqlite:///missing/folder/chats.db", "does not exist; create it"),
        ("sqlite:////proc/chats.db", "TURNFOLD_DATABASE_URL"),
        ("sqlite:///folder", "is a folder"),
        ("sqlite:///text.db", "not a database"),
        ("sqlite://", "sqlite:///FILE"),
        ("postgresql://turnfold@localhost/chats", "turnfold migrate"),
        ("chats.db", "write sqlite:///FILE"),
    ],
)
def test_what_cannot_be_a_database(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, advice: str
) -> None:
    """A database address that cannot work ends in one line that says what to do."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.db").write_text("no database " * 500, encoding="utf-8")
    monkeypatch.setenv("TURNFOLD_DATABASE_URL", url)
    _refused(run, advice)


def test_a_wrong_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting that cannot be read is named, without its value."""
    monkeypatch.setenv("TURNFOLD_PORT", "secret-word")
    shown = _refused(run, "TURNFOLD_PORT")
    assert "secret-word" not in shown


def _refused(run: Run, advice: str) -> str:
    """`turnfold migrate` fails with one line, which is returned."""
    shown = run("migrate")
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert advice in shown.stderr
    assert shown.stderr.count("\n") == 1
    return str(shown.stderr)
