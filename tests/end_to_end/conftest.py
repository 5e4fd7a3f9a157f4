"""What the tests of killed processes share."""

from collections.abc import Iterator

import pytest

from tests.support.zygote import Zygote


@pytest.fixture(scope="session")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    """Starts processes quickly."""
    with Zygote(tmp_path_factory.mktemp("zygote")) as started:
        yield started
