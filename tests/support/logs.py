"""What is logged while a test looks, whatever an application in the same process configured before."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.testing import capture_logs


@contextmanager
def captured_logs() -> Iterator[list[MutableMapping[str, Any]]]:
    """The events of every level, as they are logged."""
    before = structlog.get_config()
    structlog.reset_defaults()
    try:
        with capture_logs() as logs:
            yield logs
    finally:
        structlog.configure(**before)
