"""A migrated database in the test's folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.engine import Database
from app.store.migrate import migrate


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    migrate(database.engine)
    yield database
    database.dispose()
