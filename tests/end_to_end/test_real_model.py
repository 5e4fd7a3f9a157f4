"""A real llama.cpp server behind the openai provider: protocol, usage and cancellation. Its wording proves nothing."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.resources import resource_dir
from tests.support.checks import assert_promises
from tests.support.llama import llama
from tests.support.plays import play_file
from tests.support.service import Service, running

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with llama() as url:
        yield url


@pytest.fixture
def service(model: str, tmp_path: Path) -> Iterator[Service]:
    # A model of 135 million parameters rambles; what is tested is that every answer is taken or refused by the rules.
    with running(
        tmp_path, llm_provider="openai", llm_base_url=model, llm_model="smollm2", retry_attempts=3, retry_base_s=0.1
    ) as service:
        service.put("/connections/default", _connection(model))
        yield service


def _connection(url: str) -> dict[str, Any]:
    return {
        "provider": "openai",
        "base_url": url,
        "model": "smollm2",
        "max_tokens": 300,
        "temperature": 0.4,
        "extra_body": {"repeat_penalty": 1.15, "seed": 7},
    }


def test_lists_models_and_answers_a_test(service: Service) -> None:
    """The server's model is listed, and a test of the connection is answered."""
    listed = service.get("/connections/default/models")
    assert listed.status_code == 200
    assert listed.json()["items"]
    tried = service.post("/connections/default/test").json()
    assert tried["ok"], tried["detail"]


def test_counts_are_on_the_safe_side(service: Service, model: str) -> None:
    """An English chat is counted as at least what the model's own tokenizer makes of it, and not as twice that."""
    story = (resource_dir("static") / "demo" / "story.jsonl").read_bytes()
    assert service.http.post("/v1/import?chat_id=story", content=story).status_code == 201
    items = service.get("/chats/story/messages?limit=100").json()["items"]
    texts = [{"content": item["content"], "add_special": False} for item in items]
    read = sum(len(httpx.post(f"{model}/tokenize", json=text).json()["tokens"]) for text in texts)
    assert read <= sum(item["tokens"] for item in items) <= 2 * read


def test_folds_forty_messages(service: Service) -> None:
    """The first forty messages of a play fold through a real model, and every fold says what it cost."""
    lines = play_file("play-group-chat.jsonl").read_text().splitlines()[:41]
    imported = service.http.post("/v1/import?chat_id=play", content="\n".join(lines).encode())
    assert imported.status_code == 201
    assert imported.json()["messages"] == 40
    service.patch("/chats/play", {"settings": {"layered": {"turns_per_batch": 10, "snippet_tokens": 300}}})
    assert service.post("/chats/play/backlog", {"choice": "all"}).status_code == 202
    status = service.settled("play", 500)
    assert status["counts"]["ghosted"] > 0 or status["last_error"]["connection"] == "default"
    usage = status["summarizer_usage"]
    assert usage["calls"] > 0
    assert usage["prompt_tokens"] > 100
    assert usage["completion_tokens"] > 0
    for snippet in service.get("/chats/play/snippets").json()["items"]:
        assert snippet["connection"] == "default"
        assert snippet["model"] == "smollm2"
        assert snippet["usage"]["calls"] >= 1
        assert "\n" not in snippet["text"]
    assert_promises(service.database, "play")


def test_stop_cuts_the_generation(service: Service, model: str) -> None:
    """Stop ends the model's work: its server is idle again long before it has written what was asked."""
    asked = 6000
    service.put("/connections/default", {**_connection(model), "max_tokens": asked, "extra_body": {"ignore_eos": True}})
    service.say("c", *range(1, 14), fold="background")
    _wait_for(model, busy=True)
    assert service.post("/chats/c/stop").json()["stopped"]
    slot = _wait_for(model, busy=False)
    assert slot["n_prompt_tokens"] < asked
    assert service.status("c")["counts"]["ghosted"] == 0


def _wait_for(url: str, *, busy: bool) -> dict[str, Any]:
    """The server's one slot, once it is busy, or idle."""
    deadline = time.monotonic() + 120
    while True:
        slot: dict[str, Any] = httpx.get(f"{url}/slots").json()[0]
        if slot["is_processing"] is busy:
            return slot
        assert time.monotonic() < deadline, f"the model did not become {'busy' if busy else 'idle'}"
        time.sleep(0.02)
