"""A model server and a clock for each test."""

from collections.abc import Iterator

import pytest

from tests.support.fake_model import FakeModel
from tests.support.fake_time import FakeTime


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()
