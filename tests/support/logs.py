"""What is logged while a test looks, whatever an application in the same process configured before."""

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog
from structlog.testing import capture_logs


@contextmanager
def captured_logs(*, bound: bool = False) -> Iterator[list[MutableMapping[str, Any]]]:
    """The events of every level, as logged; with `bound` also what is bound to all lines of a job or a request."""
    before = structlog.get_config()
    structlog.reset_defaults()
    try:
        with capture_logs(processors=[structlog.contextvars.merge_contextvars] if bound else []) as logs:
            yield logs
    finally:
        structlog.configure(**before)
