"""What is said of a database that does not answer."""

import pytest
from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.store.faults import cause, reason


def failed(message: str) -> OperationalError:
    """As the driver tells it."""
    return OperationalError("INSERT …", {"content": "a secret of the chat"}, Exception(message))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (failed("database is locked"), "other work kept it locked"),
        (failed("database or disk is full"), "its disk is full"),
        (failed("attempt to write a readonly database"), "it is read-only"),
        (failed("disk I/O error"), "it did not answer"),
        (PoolTimeout("QueuePool limit reached"), "it did not answer"),
    ],
)
def test_reasons(error: SQLAlchemyError, said: str) -> None:
    """People read why, in plain words."""
    assert reason(error) == said


def test_no_chat_text_in_logs() -> None:
    """The log gets the driver's words alone, not the statement and its parameters."""
    assert cause(failed("disk I/O error")) == "disk I/O error"
