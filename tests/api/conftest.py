"""A running server for each file of tests, and a chat for each test."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.support.service import Service, running

_numbers = count(1)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server that no other file of tests uses."""
    with running(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture
def chat() -> str:
    """The id of a chat that no other test uses."""
    return f"chat-{next(_numbers)}"
