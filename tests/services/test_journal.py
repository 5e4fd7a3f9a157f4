"""What the log tells of steps that were stored."""

from app.core.model import Usage
from app.core.summary import Summary
from app.services.journal import committed
from tests.support.logs import captured_logs


def test_a_stored_step_is_one_line() -> None:
    """What was stored, how far the job is, and what it cost; nothing of the text."""
    summary = Summary("Anna left.", 3, "default", "small", Usage(2, 100, 10), degraded=True)
    with captured_logs() as logs:
        committed("fold 7", summary, folds=2, seconds=1.2345)
    assert logs == [{
        "event": "batch_committed", "log_level": "info", "batch": "fold 7", "connection": "default", "degraded": True,
        "folds": 2, "calls": 2, "prompt_tokens": 100, "completion_tokens": 10, "seconds": 1.23,
    }]  # fmt: skip


def test_a_move_costs_nothing() -> None:
    """A snippet that goes to the next layer by itself is stored too."""
    with captured_logs() as logs:
        committed("snippet 3", None, folds=2, seconds=0)
    assert (logs[0]["connection"], logs[0]["calls"]) == (None, 0)
