"""A frontend's own model folds chats: through crashes, closed tabs, two chats at once, and answers that wait for it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.checks import assert_promises
from tests.support.frontend import Call, Frontend, one_line
from tests.support.service import Service, running, turn_lines
from tests.support.serving import Serving, age_leases, forked, served
from tests.support.waiting import until_seen
from tests.support.zygote import Zygote

FOLDS = {"connection": "SillyTavern", "on_backlog": "all", "layered": {"verbatim_turns": 2, "turns_per_batch": 1}}
BUFFER = {"max_messages_before_summary": 4, "recent_messages_to_keep": 2}


def _connect(service: Service, chat: str, **changed: Any) -> None:
    service.put("/connections/SillyTavern", {"provider": "client", "concurrency": 2})
    assert service.put(f"/chats/{chat}", {"settings": FOLDS, **changed}).is_success


def _buffer(service: Service, timeout_s: float, **changed: Any) -> None:
    settings = {"connection": "SillyTavern", "summary_buffer": {**BUFFER, "timeout_s": timeout_s, **changed}}
    _connect(service, "c", strategy="summary_buffer", settings=settings)
    service.say("c", 1, 2, 3, fold="none")


def _warned(prompt: dict[str, Any]) -> str:
    """What a prompt says of a fold that was not made."""
    return "".join(warning["detail"] for warning in prompt["warnings"] if warning["code"] == "fold_failed")


def _calls(serving: Serving, **query: Any) -> list[Call]:
    answer = serving.http.get("/v1/client-calls", params={"client": "tab", "wait_s": 20, **query})
    items: list[Call] = answer.json()["items"]
    return items


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_killed_between_lease_and_answer(zygote: Zygote, tmp_path: Path) -> None:
    """The answer to a call of a killed server is nobody's; the next one asks anew, and nothing is lost or doubled."""
    with served(forked(zygote), tmp_path) as server:
        server.ask("PUT", "/connections/SillyTavern", {"provider": "client"})
        server.ask("PUT", "/chats/c", {"settings": FOLDS})
        lines = [line for turn in range(1, 6) for line in turn_lines(turn)]
        server.ask("POST", "/chats/c/messages", {"messages": lines, "fold": "background"})
        [held] = _calls(server)
        server.kill()
    age_leases(tmp_path)
    with served(forked(zygote), tmp_path) as server:
        renewal = f"/v1/client-calls/{held['id']}/renew"
        until_seen(lambda: server.http.post(renewal).status_code == 409, 60)  # its job has been found dead
        late = server.http.post(f"/v1/client-calls/{held['id']}", json={"text": "Too late."})
        assert (late.status_code, "process that has ended" in late.text) == (409, True)
        with Frontend(server.url) as tab:
            until_seen(lambda: server.ask("GET", "/chats/c/status")["job"] is None, 60)
        assert held["id"] not in [call["id"] for call in tab.calls]
        texts = [snippet["text"] for snippet in server.ask("GET", "/chats/c/snippets")["items"]]
        assert (len(texts), "Too late." in texts) == (3, False)
    assert_promises(tmp_path / "turnfold.db", "c", 2)


def test_a_closed_browser_starves_nobody(tmp_path: Path) -> None:
    """Of two chats on one connection that folds whose frontend is there; the other waits, and folds once it comes."""
    with running(tmp_path) as service:
        for chat in ("away", "here"):
            _connect(service, chat)
            service.put(f"/chats/{chat}", {"settings": {"layered": {"backlog_concurrency": 4}}})
            service.say(chat, *range(1, 9), fold="background")
        until_seen(lambda: (service.status("away")["connection"]["waiting"] or {}).get("calls") == 2)
        with Frontend(service.url, chat_id="here"):
            assert service.settled("here")["layers"][0]["snippets"] == 6
        assert service.status("away")["connection"]["waiting"]["calls"] == 2
        with Frontend(service.url):
            assert service.settled("away")["layers"][0]["snippets"] == 6


def test_a_frontend_that_waits_for_its_own_answer(tmp_path: Path) -> None:
    """A prompt that folds first is there at the end of its time limit, with a warning; its fold waits on, is written
    between two answers, and is in the next one. The connection is to blame for nothing.
    """
    with running(tmp_path) as service:
        _buffer(service, 0.5)
        begun = time.monotonic()
        first = service.post("/chats/c/projection", {}).json()
        assert time.monotonic() - begun < 20
        assert "A frontend writes it" in _warned(first)
        status = service.status("c")
        assert (status["connection"]["state"], status["connection"]["waiting"]["calls"]) == ("ok", 1)
        assert service.post("/chats/c/projection", {}).json()["memory"]["snippets"] == 0  # does not wait again so soon
        with Frontend(service.url) as tab:
            service.settled("c")
        assert len(tab.calls) == 1
        found = service.post("/chats/c/projection", {}).json()
        assert (found["memory"]["snippets"], _warned(found)) == (1, "")


@pytest.mark.parametrize("scope", ["thread", "call"])
def test_a_frontend_that_answers_meanwhile(tmp_path: Path, scope: str) -> None:
    """One that can answer prompts while it waits for its own has the fold in it."""
    with running(tmp_path) as service, Frontend(service.url) as tab:
        _buffer(service, 30, scope=scope)
        brought = [line for turn in (1, 2, 3) for line in turn_lines(turn)] if scope == "call" else []
        current = [{name: line[name] for name in ("role", "content")} for line in brought]
        found = service.post("/chats/c/projection", {"current": current} if current else {}).json()
        assert _warned(found) == ""
        assert "Tom opens a gate for Mira" in found["memory"]["text"]
        assert len(tab.calls) == 1


def test_nobody_is_there_for_memory_of_one_call(tmp_path: Path) -> None:
    """The prompt comes at its time limit as it was brought; its call is gone, and the connection has not failed."""
    with running(tmp_path) as service:
        _buffer(service, 0.3, scope="call")
        current = [{name: line[name] for name in ("role", "content")} for line in turn_lines(1) * 4]
        found = service.post("/chats/c/projection", {"current": current}).json()
        assert "A frontend writes it" in _warned(found)
        status = service.status("c")
        assert (status["connection"]["state"], status["connection"]["waiting"]) == ("ok", None)


def test_a_failing_frontend_is_retried(tmp_path: Path) -> None:
    """Trouble passes, an unusable answer is asked again, and each attempt says which it is."""
    said: Iterator[dict[str, Any]] = iter([{"error": {"message": "Overloaded", "status": 529}}, {"text": ""}])
    with running(tmp_path, retry_base_s=0.01) as service:
        _connect(service, "c")
        with Frontend(service.url, answer=lambda call: next(said, one_line(call))) as tab:
            service.say("c", 1, 2, 3, fold="background")
            status = service.settled("c")
        assert (status["layers"][0]["snippets"], status["last_error"]) == (1, None)
        assert [call["attempt"] for call in tab.calls] == [1, 2, 3]
        assert status["summarizer_usage"]["calls"] == 3
