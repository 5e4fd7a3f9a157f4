"""How lines of the log look, and what never stands in them."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from app.logs import Libraries, configure_logs, story

MARK = "brasskey"
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    """What has been logged, as a program reads it; each test configures the log itself, with its own standard error."""
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    structlog.reset_defaults()
    logging.root.handlers = [handler for handler in logging.root.handlers if not isinstance(handler, Libraries)]


def _fail() -> None:
    try:
        int(MARK)
    except ValueError as error:
        raise LookupError(f"no {MARK}") from error


def _log_crash() -> None:
    try:
        _fail()
    except LookupError:
        structlog.get_logger().exception("job_crashed")


def test_a_line_is_a_json_object(lines: Lines) -> None:
    """With the event, the level, the time in UTC and whatever is bound."""
    configure_logs("info")
    with structlog.contextvars.bound_contextvars(job="j1"):
        structlog.get_logger().info("job_ended", done=2)
    [line] = lines()
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "job_ended", "level": "info", "job": "j1", "done": 2}


def test_levels_below_the_chosen_one_are_left_out(lines: Lines) -> None:
    """At `info` no `debug`."""
    configure_logs("info")
    structlog.get_logger().debug("seen")
    assert lines() == []


def test_a_traceback_names_kinds_and_places(lines: Lines) -> None:
    """The cause first, then what came of it; none of their words."""
    configure_logs("info")
    _log_crash()
    [line] = lines()
    cause, result = line["exception"].split("\n\n")
    assert cause.splitlines()[-1] == "builtins.ValueError"
    assert result.splitlines()[-1] == "builtins.LookupError"
    assert "in _fail" in result
    assert MARK not in str(line)


def test_groups_of_errors_are_told_in_full() -> None:
    """Each of them, and the group."""
    told = story(ExceptionGroup(MARK, [ValueError(MARK), KeyError(MARK)]))
    assert told.split("\n\n") == ["builtins.KeyError", "builtins.ValueError", "builtins.ExceptionGroup"]


def test_what_libraries_say_comes_in_the_same_form(lines: Lines) -> None:
    """Their warnings too are JSON, up to the first value in them."""
    configure_logs("info")
    configure_logs("info")  # a second time changes nothing
    logging.getLogger("asyncio").error(
        "Task exception was never retrieved\nfuture: <Task exception=KeyError('%s')>", MARK
    )
    logging.getLogger("asyncio").warning("Exception in callback say('%s')", MARK)
    logging.getLogger("asyncio").info("idle")
    assert [(line["event"], line["level"], line["logger"], line["detail"]) for line in lines()] == [
        ("library", "error", "asyncio", "Task exception was never retrieved …"),
        ("library", "warning", "asyncio", "Exception in callback say …"),
    ]


def test_an_error_that_a_library_caught_is_told_without_its_words(lines: Lines) -> None:
    """As our own are."""
    configure_logs("info")
    try:
        _fail()
    except LookupError:
        logging.getLogger("some.library").exception("It failed\n")
    [line] = [line for line in lines() if line.get("logger") == "some.library"]  # others may log too
    assert line["exception"].endswith("builtins.LookupError")
    assert MARK not in str(line)


@pytest.mark.parametrize("terminal", [True, False])
def test_people_read_lines_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    """No JSON there; and no words of errors either."""
    capsys.readouterr()
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    configure_logs("info")
    _log_crash()
    said = capsys.readouterr().err
    structlog.reset_defaults()
    assert said.startswith("{") != terminal
    assert "LookupError" in said
    assert MARK not in said
