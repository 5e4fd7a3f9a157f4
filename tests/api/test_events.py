"""Event streams over HTTP, read as a client reads them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Semaphore
from typing import Any

import httpx
import pytest

from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service, running
from tests.support.streams import Event, Stream, listening, paced

ONE = {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}}
HELD = {**ONE, "connection": "held"}
BATCHES = 6


@pytest.fixture
def permits(service: Service) -> Iterator[Semaphore]:
    """For each of them the model behind the connection `held` answers one call."""
    permits = Semaphore(0)
    with FakeModel() as model:
        model.do(*[paced(permits)] * BATCHES)
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        assert service.put("/connections/held", fields).status_code == 200
        yield permits
        permits.release(BATCHES)


def of_chat(service: Service, chat: str) -> str:
    return f"{service.url}/v1/chats/{chat}/events"


def of_job(service: Service, job_id: str) -> str:
    return f"{service.url}/v1/jobs/{job_id}/events"


def begun(service: Service, chat: str, settings: object = HELD) -> str:
    """The id of a job that folds BATCHES batches."""
    service.put(f"/chats/{chat}", {"settings": settings})
    service.say(chat, *range(BATCHES + 1), fold="none")
    job_id: str = service.post(f"/chats/{chat}/summarize").json()["job"]["id"]
    return job_id


def done(events: list[Event]) -> list[int]:
    """How many batches were done at each progress."""
    return [event.data["done"] for event in events if event.kind == "progress"]


def assert_whole(service: Service, job_id: str, events: list[Event]) -> None:
    """Every batch once and in order, then one end with the job as it is shown."""
    assert done(events) == list(range(1, BATCHES + 1))
    assert [event.kind for event in events] == ["progress"] * BATCHES + ["end"]
    ids = [event.id for event in events]
    assert ids == sorted(ids)
    assert len(set(ids[:-1])) == BATCHES
    assert events[-1].data == service.get(f"/jobs/{job_id}").json()


def test_a_job_tells_of_each_batch(service: Service, permits: Semaphore, chat: str) -> None:
    """Whoever watches a job is told of each batch when it is done, and of its end, and then the stream closes."""
    job_id = begun(service, chat)
    with listening(of_job(service, job_id)) as stream:
        for batch in range(1, BATCHES + 1):
            permits.release()
            event = stream.next()
            assert (event.data["done"], event.data["total"], event.data["failed"]) == (batch, BATCHES, 0)
            assert event.data["percent"] == 100 * batch // BATCHES
            assert event.data["eta_s"] >= 0
            assert event.data["usage"]["calls"] == batch
        [end] = stream.rest()
    assert (end.kind, end.data["state"]) == ("end", "succeeded")
    assert end.data == service.get(f"/jobs/{job_id}").json()


def test_the_answer_is_a_stream_that_nothing_holds_back(service: Service, chat: str) -> None:
    """A stream begins at once, is neither stored nor buffered nor compressed, and may be read from allowed pages."""
    service.put(f"/chats/{chat}", {})
    given = {"Origin": "http://127.0.0.1:8000", "Accept-Encoding": "gzip"}
    with listening(of_chat(service, chat), wait_s=5, headers=given) as stream:
        headers = stream.answer.headers
        next(stream.answer.iter_raw())
    assert headers["content-type"].startswith("text/event-stream")
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
    assert "content-encoding" not in headers
    assert headers["access-control-allow-origin"]


def test_nothing_is_lost_and_nothing_doubled(service: Service, permits: Semaphore, chat: str) -> None:
    """Cut off again and again while the job runs, a client that names what it saw last misses nothing."""
    job_id = begun(service, chat)
    events: list[Event] = []
    for batch in range(BATCHES):
        with listening(of_job(service, job_id), events[-1].id if events else None) as stream:
            permits.release()
            events.append(stream.next())
        if batch % 2:  # what happens while nobody listens
            permits.release()
    with listening(of_job(service, job_id), events[-1].id) as stream:
        events += stream.rest()
    assert_whole(service, job_id, events)


def test_who_comes_late_is_told_all(service: Service, chat: str) -> None:
    """A job that ended before anybody watched tells its progress from the beginning, and again each time."""
    job_id = begun(service, chat, ONE)
    service.settled(chat)
    for _ in range(2):
        with listening(of_job(service, job_id)) as stream:
            events = stream.rest()
        assert_whole(service, job_id, events)
    with listening(of_job(service, job_id), events[-1].id) as stream:
        assert stream.rest() == events[-1:]


def test_a_job_whose_events_are_gone_has_an_end(service: Service, chat: str) -> None:
    """When a job's events are no longer kept, its stream is its end alone."""
    job_id = begun(service, chat, ONE)
    service.settled(chat)
    with service.app.state.server.db.write() as session:
        session.connection().exec_driver_sql("DELETE FROM events")
    for seen in (None, 10**9):
        with listening(of_job(service, job_id), seen) as stream:
            [end] = stream.rest()
        assert end.data == service.get(f"/jobs/{job_id}").json()


def test_two_who_watch_see_the_same(service: Service, permits: Semaphore, chat: str) -> None:
    """Watching takes nothing from others who watch."""
    job_id = begun(service, chat)
    with listening(of_job(service, job_id)) as one, listening(of_job(service, job_id)) as other:
        permits.release(BATCHES)
        assert one.rest() == other.rest()


def test_an_id_that_is_none_counts_as_absent(service: Service, chat: str) -> None:
    """What cannot be an id of ours starts a stream as if nothing had been said."""
    job_id = begun(service, chat, ONE)
    service.settled(chat)
    for seen in ("none", "-1", "1.5", "٣", "9" * 40, "", "1; DROP"):
        with httpx.stream("GET", of_job(service, job_id), headers={b"Last-Event-ID": seen.encode()}) as answer:
            assert_whole(service, job_id, Stream(answer).rest())


def test_a_chat_tells_what_happens_from_now_on(service: Service, chat: str) -> None:
    """Whoever watches a chat is told of jobs, folds and resets that come, not of those that were."""
    service.put(f"/chats/{chat}", {"settings": ONE})
    service.say(chat, 1, 2)
    with listening(of_chat(service, chat)) as stream:
        job_id = service.say(chat, 3)["job_id"]
        events = stream.take(5)
        service.put(f"/chats/{chat}/messages", {"messages": [{"role": "user", "content": "Anew."}], "reset": True})
        events += stream.take(2)
    assert " ".join(e.kind for e in events) == "history job job summarized job history_set history"
    assert [event.data["state"] for event in events if event.kind == "job"] == ["queued", "running", "succeeded"]
    assert events[4].data == service.get(f"/jobs/{job_id}").json()
    assert events[3].data["covered_through"] == {"message_id": "a2", "index": 3}
    assert (events[5].data["messages"], events[5].data["deleted"]) == (1, 5)
    assert (events[0].data, events[6].data["why"]) == ({"why": "append", "messages": 6}, "sync")
    with listening(of_chat(service, chat), events[1].id) as stream:
        assert stream.take(5) == events[2:]


def test_what_a_person_does_to_the_memory_is_told(service: Service, chat: str) -> None:
    """Another frontend hears of each change by hand; of an edit that changes nothing it does not."""
    service.put(f"/chats/{chat}", {"settings": {**ONE, "paused": True}})
    service.say(chat, 1, 2, 3, fold="none")
    service.post(f"/chats/{chat}/summarize")
    service.settled(chat)
    first, second = (item["id"] for item in service.get(f"/chats/{chat}/snippets").json()["items"])
    with listening(of_chat(service, chat)) as stream:
        for text in ("Tom has the key.", "Tom has the key."):
            service.patch(f"/chats/{chat}/snippets/{first}", {"text": text})
        service.post(f"/chats/{chat}/undo")
        service.http.delete(f"/v1/chats/{chat}/snippets/{second}")
        for message in ("u1", "a1"):
            service.patch(f"/chats/{chat}/messages/{message}", {"pinned": True})
        service.patch(f"/chats/{chat}", {"strategy": "none"})
        service.patch(f"/chats/{chat}", {"strategy": "layered"})
        service.say(chat, 4, fold="none")
        service.post(f"/chats/{chat}/summarize")
        service.settled(chat)
        service.post(f"/chats/{chat}/clear")
        told: list[dict[str, Any]] = []
        while not told or told[-1]["why"] != "clear":
            event = stream.next()
            told += [event.data] if event.kind == "memory" else []
    assert [data["why"] for data in told] == ["edit", "undo", "delete", "history", "strategy", "strategy", "clear"]
    assert told[-1]["memory_version"] == service.status(chat)["memory_version"]


def test_what_runs_is_told_first(service: Service, permits: Semaphore, chat: str) -> None:
    """A chat whose job runs begins with that job; its id is where to read on."""
    job_id = begun(service, chat)
    with listening(of_chat(service, chat)) as stream:
        first = stream.next()
        assert (first.kind, first.data["id"], first.data["chat_id"]) == ("job", job_id, chat)
    permits.release(BATCHES)
    service.settled(chat)
    with listening(of_chat(service, chat), first.id) as stream:
        seen = [stream.next()]
        while seen[-1].kind != "job" or seen[-1].data["state"] != "succeeded":
            seen.append(stream.next())
    assert [event.kind for event in seen].count("summarized") == BATCHES


def test_failures_are_told(service: Service, chat: str) -> None:
    """A job that fails is told as its end, and as an error that says what is wrong and with which connection."""
    with FakeModel() as model:
        model.do(status(401))
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        assert service.put("/connections/locked", fields).status_code == 200
        service.put(f"/chats/{chat}", {"settings": {**ONE, "connection": "locked"}})
        with listening(of_chat(service, chat)) as stream:
            job_id = service.say(chat, 1, 2)["job_id"]
            told = {event.kind: event.data for event in stream.take(5)}
    job = service.get(f"/jobs/{job_id}").json()
    assert told["job"] == job
    assert told["error"] == {
        **{name: job["error"][name] for name in ("code", "detail", "connection", "status", "retry_at")},
        "job_id": job_id,
    }


def test_a_deleted_chat_ends_its_streams(service: Service, permits: Semaphore, chat: str) -> None:
    """When a chat is deleted, streams of it and of its job end with an `end` that says so."""
    job_id = begun(service, chat)
    with listening(of_job(service, job_id)) as job, listening(of_chat(service, chat)) as stream:
        permits.release()
        assert job.next().kind == "progress"
        assert service.http.delete(f"/v1/chats/{chat}").status_code == 204
        [end] = job.rest()
        assert (end.kind, end.data["id"], end.data["state"]) == ("end", job_id, "cancelled")
        assert end.data["reason"] == "The chat was deleted."
        last = stream.rest()[-1]
    assert (last.kind, last.data) == ("end", {"reason": "The chat was deleted."})


def test_two_processes_on_one_file(service: Service, permits: Semaphore, chat: str) -> None:
    """What one server does is told by another on the same database."""
    with running(service.database.parent, resume_jobs=False) as other:
        job_id = begun(service, chat)
        with listening(of_job(other, job_id)) as stream:
            permits.release(BATCHES)
            assert_whole(service, job_id, stream.rest())


def test_unknown_ones_and_strangers(service: Service, chat: str) -> None:
    """Before a stream begins what is not there is a 404, and a foreign page a 403."""
    assert service.get(f"/chats/{chat}/events").status_code == 404
    assert service.get("/jobs/none/events").status_code == 404
    service.put(f"/chats/{chat}", {})
    foreign = service.get(f"/chats/{chat}/events", headers={"Origin": "https://elsewhere.example"})
    assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden")


def test_a_head_is_answered_and_holds_nothing(service: Service, chat: str) -> None:
    """HEAD gives the headers of a stream and ends."""
    service.put(f"/chats/{chat}", {})
    answer = service.http.head(f"/v1/chats/{chat}/events", timeout=5)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_a_key_is_asked_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where the server has a key, a stream takes it as any call does."""
    with running(tmp_path_factory.mktemp("locked"), api_key="brass") as locked:
        assert locked.put("/chats/a", {}, headers={"X-API-Key": "brass"}).status_code == 201
        assert locked.get("/chats/a/events").status_code == 401
        with listening(of_chat(locked, "a"), headers={"Authorization": "Bearer brass"}) as stream:
            assert stream.answer.status_code == 200


async def busy() -> list[str]:
    """The tasks of a loop that answer requests, feed streams or look for news."""
    found = map(repr, asyncio.all_tasks())
    return [task for task in found if any(word in task for word in ("run_asgi", "cancel_on_finish", "lookout"))]


def test_a_client_that_goes_leaves_nothing_behind(service: Service, chat: str) -> None:
    """When the last client has gone nobody looks for news any more, and no task of a stream is left."""
    service.put(f"/chats/{chat}", {})
    lookout = service.app.state.server.services.watching.lookout
    with ExitStack() as streams:
        for _ in range(5):
            streams.enter_context(listening(of_chat(service, chat)))
        service.get(f"/chats/{chat}")  # by now all of them are served
        loop = lookout._task.get_loop()
        assert len(asyncio.run_coroutine_threadsafe(busy(), loop).result(5)) > 5
    deadline = time.monotonic() + 10
    while left := asyncio.run_coroutine_threadsafe(busy(), loop).result(5):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)
    assert not lookout._listeners
