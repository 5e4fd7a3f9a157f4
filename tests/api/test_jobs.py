"""Jobs over HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.fake_model import FakeModel
from tests.support.service import Service

SMALL = {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}}


@pytest.fixture(scope="module")
def model(service: Service) -> Iterator[FakeModel]:
    """A model behind the connection `held`."""
    with FakeModel() as model:
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        assert service.put("/connections/held", fields).status_code == 200
        yield model


def test_jobs_are_listed_newest_first(service: Service, chat: str) -> None:
    """Each fold leaves a job; the list follows cursors and narrows by chat and state."""
    service.put(f"/chats/{chat}", {"settings": SMALL})
    made = [service.say(chat, turn)["job_id"] for turn in range(1, 6)]
    ids = [job_id for job_id in made if job_id]
    read: list[str] = []
    query: dict[str, Any] = {"limit": 2, "chat_id": chat}
    while True:
        page = service.get("/jobs", params=query).json()
        read += [job["id"] for job in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert read == ids[::-1]
    assert service.get("/jobs", params={"chat_id": chat, "state": "failed"}).json()["items"] == []
    assert len(service.get("/jobs", params={"state": "succeeded"}).json()["items"]) >= len(ids)


def test_a_finished_job_tells_all(service: Service, chat: str) -> None:
    """A job has the fields of the contract, and at its end all its batches are done."""
    service.put(f"/chats/{chat}", {"settings": SMALL})
    service.say(chat, 1)
    job_id = service.say(chat, 2)["job_id"]
    job = service.get(f"/jobs/{job_id}").json()
    assert (job["id"], job["chat_id"], job["state"], job["error"]) == (job_id, chat, "succeeded", None)
    assert job["progress"] == {"done": 1, "total": 1, "failed": 0, "percent": 100, "eta_s": None}
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    assert job["finished_at"].endswith("Z")


def test_cancel_cuts_a_running_job(service: Service, model: FakeModel, chat: str) -> None:
    """Cancelling ends the job at once; cancelling it again changes nothing."""
    service.put(f"/chats/{chat}", {"settings": {**SMALL, "connection": "held"}})
    model.hold()
    job_id = service.say(chat, 1, 2, fold="background")["job_id"]
    cancelled = service.post(f"/jobs/{job_id}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
    assert service.post(f"/jobs/{job_id}/cancel", {}).json() == cancelled.json()
    assert service.status(chat)["job"] is None
    model.release()


def test_unknown_jobs_and_states(service: Service) -> None:
    """An unknown job or chat is a 404, an unknown state or cursor a 422."""
    assert service.get("/jobs/none").status_code == 404
    assert service.post("/jobs/none/cancel").status_code == 404
    assert service.get("/jobs", params={"chat_id": "none"}).status_code == 404
    assert service.get("/jobs", params={"state": "lost"}).status_code == 422
    assert service.get("/jobs", params={"cursor": "x"}).status_code == 422
    assert service.post("/jobs/none/cancel", {"x": 1}).status_code == 422
