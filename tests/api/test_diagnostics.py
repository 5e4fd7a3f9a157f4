"""What rolling memory decided after each reply, through HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    connection = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "gpt-4o", "retry_attempts": 1}
    with running(Path(tmp_path_factory.mktemp("diagnostics")), **connection) as service:
        yield service


@pytest.fixture
def chat(service: Service, request: pytest.FixtureRequest) -> str:
    """A chat that folds each turn with its own reply."""
    name: str = request.node.name.replace("[", "-").replace("]", "")
    prepare(service, name)
    return name


def prepare(service: Service, chat: str, *, diagnostics: bool = True, **rolling: Any) -> None:
    values = {"trigger_turns": 1, "keep_recent_turns": 0, **rolling}
    settings = {"diagnostics": diagnostics, "rolling": values}
    assert service.put(f"/chats/{chat}", {"strategy": "rolling", "settings": settings}).status_code in (200, 201)


def kept(service: Service, chat: str, **query: Any) -> dict[str, Any]:
    answer = service.get(f"/chats/{chat}/diagnostics", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_fold(service: Service, model: FakeModel, chat: str) -> None:
    """It is told with its settings, what was asked, what it became, and its figures; nothing is skipped."""
    model.say("Mira asks about the gate.")
    service.say(chat, 1)
    found = kept(service, chat, turn=0)
    assert found.keys() == {"turn", "created_at", "parameters", "input", "output", "last_fold"}
    assert found["parameters"]["trigger_turns"] == 1
    assert found["parameters"]["sampling"]["temperature"] is None
    assert [message["role"] for message in found["input"]["prompt"]] == ["system", "user"]
    assert found["output"] == {"text": "Mira asks about the gate."}
    assert found["last_fold"] == {
        "covered_through": 0,
        "folded_turns": 1,
        "summary_tokens": 7,
        "summarizer_prompt_tokens": 100,
        "folded_input_tokens": 18,
    }


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(replies.blank(), "empty_output"), (replies.status(500), "model_error"), (replies.status(401), "model_error")],
    ids=["blank", "down", "refused"],
)
def test_a_failure(service: Service, model: FakeModel, chat: str, fault: Any, reason: str) -> None:
    """The reply is stored whatever the model does, and what waits is told with the reason."""
    with model.only(fault):
        service.say(chat, 1)
    assert service.status(chat)["counts"]["ghosted"] == 0
    found = kept(service, chat, turn=0)
    assert found["skipped"] == {"reason": reason, "pending_turns": 1, "pending_tokens": 0}
    assert "last_fold" not in found


def test_a_fold_that_is_stopped(service: Service, model: FakeModel, chat: str) -> None:
    """A person who stops a fold is told so; the turn stays visible."""
    model.hold()
    arrived = len(model.requests)
    service.say(chat, 1, fold="background")
    model.wait_for_calls(arrived + 1)
    assert service.post(f"/chats/{chat}/stop").is_success
    model.release()
    assert service.settled(chat)["counts"]["ghosted"] == 0
    assert kept(service, chat, turn=0)["skipped"] == {"reason": "cancelled", "pending_turns": 1, "pending_tokens": 0}


def test_pages(service: Service, chat: str) -> None:
    """Oldest first, in pages; only the newest fifty turns are kept."""
    prepare(service, chat, trigger_turns=1000, trigger_tokens=0)
    for turn in range(53):
        service.say(chat, turn, fold="background")
    pages = [kept(service, chat, limit=20)]
    while pages[-1]["next_cursor"]:
        pages.append(kept(service, chat, limit=20, cursor=pages[-1]["next_cursor"]))
    assert [len(page["items"]) for page in pages] == [20, 20, 10]
    assert [item["turn"] for page in pages for item in page["items"]] == list(range(3, 53))
    assert service.get(f"/chats/{chat}/diagnostics?turn=2").status_code == 404


def test_nothing_is_kept_unasked(service: Service, chat: str) -> None:
    """With diagnostics off nothing is kept; what was kept before stays."""
    service.say(chat, 1)
    prepare(service, chat, diagnostics=False)
    service.say(chat, 2)
    assert [item["turn"] for item in kept(service, chat)["items"]] == [0]


def test_where_there_is_nothing(service: Service) -> None:
    """A chat or a turn that is not there is a 404; a chat of another memory has an empty list."""
    assert service.get("/chats/nowhere/diagnostics").status_code == 404
    service.put("/chats/layers", {"settings": {"diagnostics": True}})
    service.say("layers", 1)
    assert kept(service, "layers") == {"items": [], "next_cursor": None}
    missing = service.get("/chats/layers/diagnostics?turn=0")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
    assert service.get("/chats/layers/diagnostics?turn=-1").status_code == 422
