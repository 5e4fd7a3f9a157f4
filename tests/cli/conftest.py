"""Running commands: in this process, and as programs of their own."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner, Result

from app.cli import app
from app.store.migrate import migrate
from tests.cli.programs import COMMAND, Run, Start, environment, write_chat
from tests.support.parts import assembled


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs a command in this process; `feed` is its standard input."""
    runner = CliRunner()

    def invoke(*args: str, feed: bytes | None = None) -> Result:
        return runner.invoke(app, args, input=feed, catch_exceptions=False)

    yield invoke
    structlog.reset_defaults()  # commands send logs to the standard error of their run, which is closed after it


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command as a program in the test's folder, with TURNFOLD_ settings by their short names."""
    with ExitStack() as started:

        def begin(*args: str, **settings: str) -> "subprocess.Popen[str]":
            process = started.enter_context(
                subprocess.Popen(
                    [*COMMAND, *args],
                    env=environment(**settings),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                )
            )
            started.callback(process.kill)
            return process

        yield begin


@pytest.fixture
def chat_file(tmp_path: Path) -> Path:
    """Sixteen turns as OpenAI messages: over the window of ten are six, no backlog, two folds."""
    return write_chat(tmp_path / "chat.json", 16)


@pytest.fixture(scope="session")
def folded_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the chat `gates` of sixteen turns, as `import --fold` leaves it; to be copied."""
    folder = tmp_path_factory.mktemp("folded")
    file = write_chat(folder / "chat.json", 16)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shown = CliRunner().invoke(app, ["import", str(file), "--chat-id", "gates", "--fold"], catch_exceptions=False)
    structlog.reset_defaults()
    assert shown.exit_code == 0
    return folder / "turnfold.db"


@pytest.fixture
def folded(folded_database: Path, tmp_path: Path) -> Path:
    """That database as the one that commands use."""
    return Path(shutil.copy(folded_database, tmp_path))


@pytest.fixture(scope="session")
def old_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the chat `gates` of forty turns, thirty of which wait to be folded; to be copied."""
    folder = tmp_path_factory.mktemp("old")
    server = assembled(folder / "turnfold.db")
    migrate(server.db.engine)
    with write_chat(folder / "chat.json", 40).open("rb") as file:
        server.services.importing.load(file, chat_id="gates", title=None, format=None)
    server.db.dispose()
    return folder / "turnfold.db"


@pytest.fixture
def old(old_database: Path, tmp_path: Path) -> str:
    """The id of that chat in the database that commands use."""
    shutil.copy(old_database, tmp_path)
    return "gates"
