"""What commands say, where a person must not be misled."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.model import Usage
from app.core.progress import Progress
from app.services import phrasing
from app.services.reporting import BacklogView, ConnectionStatus, CountsView, LayerView, Status
from app.services.steering import Started, Stopped
from app.services.working import ErrorView, JobView

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 3, 1, 12, 10, 5, tzinfo=UTC)
JOB = JobView(
    id="j",
    chat_id="c",
    kind="backlog",
    state="running",
    progress=Progress(120, 996, 2, 12, 754.0),
    usage=Usage(),
    reason=None,
    error=None,
    created_at=NOW,
    started_at=NOW,
    finished_at=None,
)
STATUS = Status(
    strategy="layered",
    memory_version=0,
    enabled=True,
    paused=False,
    counts=CountsView(6000, 3000, 6000, 0, 0, 0, 0, 0),
    summarized_through=None,
    layers=[],
    memory_tokens=0,
    raw_tokens=600_000,
    compression=None,
    backlog=BacklogView(2990, 996, 1439, 6_100_000, None, choice_needed=True),
    summarizer_usage=Usage(),
    job=None,
    last_error=None,
    stale_snippets=0,
    degraded_snippets=0,
    connection=ConnectionStatus("default", "openai", "tiny", "ok", None),
    warnings=[],
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 seconds"),
        (1, "1 second"),
        (89.4, "89 seconds"),
        (91, "2 minutes"),
        (3_590, "1 hour 0 minutes"),
        (7_500, "2 hours 5 minutes"),
    ],
)
def test_times_are_said_as_one_says_them(seconds: float, words: str) -> None:
    """Seconds up to a minute and a half, then minutes, then hours."""
    assert phrasing.spoken(seconds) == words


def test_what_a_backlog_costs() -> None:
    """Turns, batches, calls, tokens, once known the time, and what each choice does; the built-in one is free."""
    told = phrasing.choices_text(STATUS)
    assert told.startswith(
        "2,990 turns over the window, 996 batches.\nTo fold them all takes about 1,439 calls to tiny"
    )
    assert "with 6,100,000 input tokens." in told
    assert all(f"/sc-backlog {choice}: " in told for choice in ("all", "one", "skip"))
    timed = replace(STATUS, backlog=replace(STATUS.backlog, estimated_s=2880.0))
    assert "6,100,000 input tokens, about 48 minutes." in phrasing.choices_text(timed)
    free = replace(STATUS, connection=ConnectionStatus("default", "extractive", None, "ok", None))
    assert "no model is called, and it costs nothing" in phrasing.choices_text(free)


@pytest.mark.parametrize(("strategy", "when"), [("rolling", "after a reply"), ("summary_buffer", "before an answer")])
def test_one_summary_has_no_layers(strategy: str, when: str) -> None:
    """Where one summary is written anew nobody is told of windows, layers or a choice."""
    layer = LayerView(0, 1, 1, 90, 12)
    status = replace(STATUS, strategy=strategy, layers=[layer], backlog=BacklogView(4, 1, 1, 900))
    told = phrasing.status_text(status)
    assert "Summary: one, over 12 turns" in told
    assert f"Waiting: 4 turns. They fold {when}" in told
    choices = phrasing.choices_text(status)
    assert "nothing to choose" in choices
    for text in (told, choices, phrasing.paused_text(status), phrasing.skipped_text(0, status)):
        assert "4 turns" in text
        assert not {"window", "Layer", "/sc-backlog"} & set(text.replace(":", "").split())


def test_how_far_a_job_is() -> None:
    """Percent, what failed, and the time that is left; a job that has not begun says so."""
    told = phrasing.status_text(replace(STATUS, job=JOB))
    assert "Folding: 120 of 996 batches (12 %), 2 failed, about 13 minutes left" in told
    queued = replace(JOB, state="queued", progress=Progress(0, 996, 0, 0, None))
    assert "Folding: 996 batches, about to begin" in phrasing.status_text(replace(STATUS, job=queued))


def test_trouble_is_told_with_the_time_it_ends() -> None:
    """A connection that cools down, and an error that is tried again, say until when, with a day that is not near."""
    soon = datetime.now(UTC) + timedelta(minutes=10)
    for moment, when in ((soon, f"{soon:%H:%M:%S} UTC"), (LATER, "2026-03-01 12:10:05 UTC")):
        error = ErrorView("provider_unavailable", "The model is away.", "default", None, NOW, moment)
        connection = replace(STATUS.connection, state="cooling_down", retry_at=moment)
        told = phrasing.status_text(replace(STATUS, last_error=error, connection=connection))
        assert f"Summarizer: default (openai), cooling down until {when}" in told
        assert f"Last error: The model is away. Tried again at {when}." in told
        assert "The model is away." in phrasing.started_text(Started(JOB), replace(STATUS, last_error=error), "all")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (STATUS, "Nothing folds until /sc-backlog"),
        (replace(STATUS, paused=True, backlog=BacklogView()), "Nothing folds until /sc-backlog"),
        (replace(STATUS, backlog=BacklogView()), "The next message goes on"),
    ],
)
def test_what_ends_a_stop(status: Status, words: str) -> None:
    """The next message goes on with it, but not on a chat that waits for an answer or the end of a pause."""
    assert words in phrasing.stopped_text(Stopped(True, JOB), status)
    assert words in phrasing.stopped_text(Stopped(False, None), status)


def test_why_there_is_nothing_to_do() -> None:
    """A reason is a sentence, and one that is not known is at least a reason."""
    assert "disabled" in phrasing.started_text(Started(None, "disabled"), STATUS, "all")
    assert phrasing.started_text(Started(None, "odd"), STATUS, "all") == "Nothing to do: odd."
