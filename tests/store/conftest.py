"""A migrated database in the test's folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.engine import Database
from tests.support.parts import lay_database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    lay_database(tmp_path / "turnfold.db")
    database = Database(f"sqlite:///{tmp_path / 'turnfold.db'}")
    yield database
    database.dispose()
