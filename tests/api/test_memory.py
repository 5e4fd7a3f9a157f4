"""Status, preview and steering over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fake_model import FakeModel
from tests.support.service import Service

SMALL = {"layered": {"verbatim_turns": 2, "turns_per_batch": 1}}


@pytest.fixture(scope="module")
def model(service: Service) -> Iterator[FakeModel]:
    """A model behind the connection `held`."""
    with FakeModel() as model:
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        assert service.put("/connections/held", fields).status_code == 200
        yield model


@pytest.fixture
def held(service: Service, model: FakeModel, chat: str) -> Iterator[str]:
    """A chat whose fold is running and gets no answer until the test ends."""
    service.put(f"/chats/{chat}", {"settings": {**SMALL, "connection": "held"}})
    model.hold()
    service.say(chat, 1, 2, 3, fold="background")
    assert service.status(chat)["job"] is not None
    yield chat
    model.release()
    service.settled(chat)


def old_chat(service: Service, chat: str) -> None:
    """A chat that holds a backlog of eight turns and waits for a choice."""
    service.put(f"/chats/{chat}", {"settings": SMALL})
    service.say(chat, *range(1, 11))
    assert service.status(chat)["backlog"] == {
        "turns": 8,
        "batches": 8,
        "estimated_calls": 8,
        "estimated_input_tokens": service.status(chat)["backlog"]["estimated_input_tokens"],
        "estimated_s": None,
        "choice_needed": True,
    }


def test_status_has_the_fields_of_the_contract(service: Service, chat: str) -> None:
    """Every field the contract names is there; a new chat has nothing to report."""
    service.put(f"/chats/{chat}", {})
    found = service.status(chat)
    names = "strategy memory_version enabled paused counts summarized_through layers memory_tokens raw_tokens"
    names += " compression backlog summarizer_usage job last_error stale_snippets degraded_snippets connection"
    assert set(names.split()) <= found.keys()
    assert found["backlog"].keys() == {
        "turns",
        "batches",
        "estimated_calls",
        "estimated_input_tokens",
        "estimated_s",
        "choice_needed",
    }
    assert found["connection"] == {
        "name": "default",
        "provider": "extractive",
        "model": None,
        "state": "ok",
        "retry_at": None,
        "waiting": None,
    }
    assert (found["job"], found["last_error"], found["layers"], found["summarized_through"]) == (None, None, [], None)


def test_status_tells_what_is_folded(service: Service, chat: str) -> None:
    """After a fold status says what is covered, in which layer, at what cost."""
    service.say(chat, *range(1, 14))
    found = service.status(chat)
    assert (found["counts"]["ghosted"], found["counts"]["visible"], found["counts"]["turns"]) == (6, 20, 13)
    assert found["summarized_through"] == {"message_id": "a3", "index": 5}
    layer = found["layers"][0]
    assert (layer["layer"], layer["snippets"], layer["limit"], layer["turns"]) == (0, 1, 30, 3)
    assert (found["memory_version"], found["summarizer_usage"].keys()) == (
        1,
        {"calls", "prompt_tokens", "completion_tokens"},
    )


def test_preview_is_the_block_alone(service: Service, chat: str) -> None:
    """Preview is what the projection injects; nothing while there is no memory."""
    service.put(f"/chats/{chat}", {})
    assert service.get(f"/chats/{chat}/preview").json() == {"text": "", "tokens": 0, "version": 0}
    service.say(chat, *range(1, 14))
    preview = service.get(f"/chats/{chat}/preview").json()
    memory = service.get(f"/chats/{chat}/projection").json()["memory"]
    assert preview == {name: memory[name] for name in ("text", "tokens", "version")}
    assert preview["text"]


def test_summarize_answers_with_a_job(service: Service, chat: str) -> None:
    """With something to fold it is a 202 with the job; a moment later a 200 that says why there is none."""
    service.say(chat, *range(1, 12))
    answer = service.post(f"/chats/{chat}/summarize", {})
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert answer.json().keys() == {"job"}
    assert (job["chat_id"], job["kind"]) == (chat, "summarize")
    assert service.settled(chat)["counts"]["ghosted"] == 2
    again = service.post(f"/chats/{chat}/summarize")
    assert (again.status_code, again.json()) == (200, {"job": None, "reason": "nothing_to_fold"})


@pytest.mark.parametrize(("choice", "left"), [("all", 0), ("one", 7)])
def test_a_backlog_is_taken_up(service: Service, chat: str, choice: str, left: int) -> None:
    """`all` folds everything outside the window, `one` a batch; neither asks again."""
    old_chat(service, chat)
    answer = service.post(f"/chats/{chat}/backlog", {"choice": choice})
    assert answer.status_code == 202
    assert answer.json()["job"]["chat_id"] == chat
    backlog = service.settled(chat)["backlog"]
    assert (backlog["turns"], backlog["choice_needed"]) == (left, False)


def test_a_backlog_is_skipped(service: Service, chat: str) -> None:
    """`skip` leaves the turns visible and counts them; nothing is hidden."""
    old_chat(service, chat)
    answer = service.post(f"/chats/{chat}/backlog", {"choice": "skip"})
    assert (answer.status_code, answer.json()) == (200, {"skipped_turns": 8})
    found = service.status(chat)
    assert (found["counts"]["skipped"], found["counts"]["visible"], found["backlog"]["turns"]) == (8, 20, 0)


def test_without_a_backlog_the_choices_find_nothing(service: Service, chat: str) -> None:
    """With nothing outside the window `all` and `one` are a 200 with the reason."""
    service.say(chat, 1)
    for choice in ("all", "one"):
        answer = service.post(f"/chats/{chat}/backlog", {"choice": choice})
        assert (answer.status_code, answer.json()) == (200, {"job": None, "reason": "nothing_to_fold"})


@pytest.mark.parametrize("body", [None, {}, {"choice": "maybe"}, {"choice": "all", "now": True}])
def test_a_choice_must_be_one(service: Service, chat: str, body: Any) -> None:
    """Anything but the three choices is a 422."""
    service.put(f"/chats/{chat}", {})
    assert service.post(f"/chats/{chat}/backlog", body).status_code == 422


def test_stop_cuts_what_runs(service: Service, held: str) -> None:
    """Stop ends the job at once and says so; a second stop finds nothing."""
    answer = service.post(f"/chats/{held}/stop")
    assert answer.status_code == 200
    assert answer.json()["stopped"] is True
    assert answer.json()["job"]["state"] == "cancelled"
    assert service.status(held)["job"] is None
    assert service.post(f"/chats/{held}/stop", {}).json() == {"stopped": False, "job": None}


def test_pause_and_resume(service: Service, chat: str) -> None:
    """While paused nothing folds by itself; resume takes it up."""
    service.put(f"/chats/{chat}", {"settings": SMALL})
    assert service.post(f"/chats/{chat}/pause").json() == {"paused": True}
    service.say(chat, 1, 2, 3)
    assert (service.status(chat)["paused"], service.status(chat)["counts"]["ghosted"]) == (True, 0)
    assert service.post(f"/chats/{chat}/resume", {}).json() == {"paused": False}
    found = service.settled(chat)
    assert (found["paused"], found["counts"]["ghosted"]) == (False, 2)


def test_clear_forgets_and_loses_nothing(service: Service, chat: str) -> None:
    """Clear counts what it takes away; every message is visible again."""
    service.say(chat, *range(1, 14))
    answer = service.post(f"/chats/{chat}/clear")
    assert answer.json() == {"cleared_snippets": 1, "unghosted_messages": 6}
    counts = service.status(chat)["counts"]
    assert (counts["messages"], counts["visible"], counts["ghosted"]) == (26, 26, 0)
    assert service.get(f"/chats/{chat}/snippets", params={"state": "all"}).json()["items"] == []


def test_a_running_job_is_shown(service: Service, held: str) -> None:
    """A running job stands in status in full, its times in UTC."""
    job = service.status(held)["job"]
    assert job.keys() == {
        "id",
        "chat_id",
        "kind",
        "state",
        "progress",
        "usage",
        "reason",
        "error",
        "created_at",
        "started_at",
        "finished_at",
    }
    assert job["state"] in ("queued", "running")
    assert job["progress"].keys() == {"done", "total", "failed", "percent", "eta_s"}
    assert job["created_at"].endswith("Z")


def test_a_missing_connection_is_reported(service: Service, chat: str) -> None:
    """A chat that names no existing connection says so in status and in the failed job, times in UTC."""
    service.put(f"/chats/{chat}", {"settings": {**SMALL, "connection": "gone"}})
    service.say(chat, 1, 2, 3)
    found = service.status(chat)
    assert (found["connection"]["state"], found["last_error"]["connection"]) == ("failing", "gone")
    assert found["last_error"]["at"].endswith("Z")
    job = service.get("/jobs", params={"chat_id": chat}).json()["items"][0]
    assert job["state"] == "failed"
    assert job["error"] == found["last_error"]


@pytest.mark.parametrize("call", ["summarize", "stop", "pause", "resume", "clear"])
def test_calls_without_a_body(service: Service, chat: str, call: str) -> None:
    """No body and {} are the same, unknown fields are a 422, an unknown chat is a 404."""
    assert service.post(f"/chats/{chat}/{call}").status_code == 404
    assert service.post(f"/chats/{chat}/{call}", {}).status_code == 404
    service.put(f"/chats/{chat}", {})
    assert service.post(f"/chats/{chat}/{call}", {"colour": "red"}).status_code == 422
    assert service.post(f"/chats/{chat}/{call}").status_code == 200


@pytest.mark.parametrize("path", ["status", "preview"])
def test_reading_needs_a_chat(service: Service, chat: str, path: str) -> None:
    """An unknown chat is a 404."""
    assert service.get(f"/chats/{chat}/{path}").status_code == 404


def test_presets_are_a_plain_list(service: Service) -> None:
    """The presets come as a list, the default one first, with all their texts."""
    found = service.get("/presets").json()
    assert [preset["name"] for preset in found] == ["narrative", "game_state"]
    for preset in found:
        assert preset.keys() == {"name", "focus", "system_prompt", "user_prompt", "merge_prompt"}
        assert all(preset.values())
