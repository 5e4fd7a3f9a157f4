"""What never stands in the log, whatever goes well or wrong: chat text, prompts, answers, keys, addresses."""

import json
import logging
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import structlog

from app.logs import Libraries, configure_logs
from tests.end_to_end.fault_stage import Stage, staged
from tests.end_to_end.faults import ANSWERS, GOOD, LINES, STATUSES, Fault
from tests.support import fake_replies as replies

MARK = "brasskey"
"""In whatever people, frontends and operators enter. What the scripted model server says begins with Anna."""

MARKED: dict[str, Any] = {
    "title": f"{MARK} title",
    "user_name": f"Mira {MARK}",
    "character_name": f"Tom {MARK}",
    "settings": {"layered": {"user_prompt": f"{MARK} {{{{story_txt}}}}", "strip_patterns": [MARK]}},
}


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    """What is printed, the log at its most talkative included, once it is configured."""
    yield capsys
    structlog.reset_defaults()
    logging.root.handlers = [handler for handler in logging.root.handlers if not isinstance(handler, Libraries)]


def _address(stage: Stage, fault: Fault) -> str:
    port = stage.dead_port if fault.act == "nobody listens" else stage.model.port
    host = "models..invalid" if fault.act == "no such host" else "127.0.0.1"
    return f"http://{host}:{port}/{MARK}"


def _act(stage: Stage, number: int, fault: Fault) -> None:
    """Let a marked chat meet the fault, with each provider in turn."""
    provider, name = ("openai", "ollama")[number % 2], f"fault-{number}"
    extra, timeout_s = {"user": MARK}, 0.1 if fault.slow else 30
    stage.connect(name, provider, _address(stage, fault), api_key=f"sk-{MARK}", extra_body=extra, timeout_s=timeout_s)
    marked = {**MARKED, "settings": {**MARKED["settings"], "connection": name}}
    assert stage.service.put(f"/chats/{name}", marked).is_success
    lines = [{"role": role, "content": f"{MARK} {turn}"} for turn in range(13) for role in ("user", "assistant")]
    with nullcontext() if isinstance(fault.act, str) else stage.model.only(fault.act):
        assert stage.service.post(f"/chats/{name}/messages", {"messages": lines, "fold": "wait"}).is_success
        stage.service.post(f"/connections/{name}/test")
        stage.service.get(f"/connections/{name}/models")


def _open_a_breaker(stage: Stage) -> None:
    """Three refused batches in a row, and a person who mends it."""
    [refused] = [fault for fault in STATUSES if fault.status == 401]
    _act(stage, 900, refused)
    for turn in range(2):
        stage.model.do(replies.status(401, body=MARK))
        lines = [{"role": "user", "content": MARK}, {"role": "assistant", "content": f"{MARK} {turn}"}]
        stage.service.post("/chats/fault-900/messages", {"messages": lines, "fold": "wait"})
    assert stage.service.post("/connections/fault-900/test").json()["ok"]


def _ask(stage: Stage) -> None:
    """Requests with texts in all their parts, good ones and bad ones."""
    service = stage.service
    service.get("/chats/fault-0/projection", params={"system_prompt": MARK})
    service.get("/chats/fault-0/search", params={"q": MARK})
    service.post("/chats/fault-0/commands", {"text": f"/sc-search {MARK}"})
    service.post("/chats/fault-0/messages", {"messages": [{"role": MARK, "content": MARK}]})
    service.put("/settings", {MARK: MARK})


def test_no_text_key_or_address_is_logged(tmp_path: Path, logged: pytest.CaptureFixture[str]) -> None:
    """Marked chats, prompts, keys and addresses meet every fault of a model server, and no mark is in any line."""
    with staged(tmp_path, attempts=2) as stage:
        configure_logs("debug")
        for number, fault in enumerate([*STATUSES[::3], *LINES, *ANSWERS, *GOOD]):
            _act(stage, number, fault)
        _open_a_breaker(stage)
        _ask(stage)
        sent = stage.model.calls[0]
    assert all(MARK in part for part in (sent.path, sent.headers["authorization"], sent.user, str(sent.body)))
    said = logged.readouterr()
    lines = [json.loads(line) for line in said.err.splitlines()]
    assert {line["event"] for line in lines} >= {
        "request", "model_called", "retry_scheduled", "breaker_opened", "breaker_closed", "job_failed", "job_ended",
    }  # fmt: skip
    calls = [line for line in lines if line["event"] == "model_called"]
    assert {call["outcome"] for call in calls} >= {
        "accepted",
        "too_long",
        "unusable",
        "status",
        "connection",
        "timeout",
    }
    assert [line for line in lines if MARK in str(line) or "Anna" in str(line)] == []
    assert said.out == ""
