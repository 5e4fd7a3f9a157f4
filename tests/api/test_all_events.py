"""The stream of all chats over HTTP, read as a client reads it."""

import pytest

from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running
from tests.support.streams import Event, Stream, listening

ONE = {"layered": {"verbatim_turns": 1, "turns_per_batch": 1}}


def of_all(service: Service) -> str:
    return f"{service.url}/v1/events"


def until(stream: Stream, chat: str, kind: str) -> list[Event]:
    """What is told up to the first event of this kind of this chat."""
    found = [stream.next()]
    while (found[-1].data.get("chat_id"), found[-1].kind) != (chat, kind):
        found.append(stream.next())
    return found


def test_all_chats_in_one(service: Service, chat: str) -> None:
    """What the streams of two chats tell is told here in order, each with its chat, and on after any id."""
    with listening(of_all(service)) as stream:
        for name in (chat, f"{chat}-b"):
            service.put(f"/chats/{name}", {"settings": ONE})
            service.say(name, 1, 2)
            service.settled(name)
        told = until(stream, f"{chat}-b", "summarized")
    mine = [event for event in told if event.data.get("chat_id") == chat]
    assert {"job", "summarized"} <= {event.kind for event in mine}
    assert [event.id for event in told] == sorted({event.id for event in told})
    with listening(of_all(service), told[-3].id) as stream:
        assert stream.take(2) == told[-2:]


def test_it_is_one_of_the_streams(service: Service) -> None:
    """It counts with the others, is answered to HEAD, and needs no chat."""
    lookout = service.app.state.server.services.watching.lookout
    with listening(of_all(service)) as stream:
        service.get("/chats")
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        assert any(listener.chat_key is None for listener in lookout._listeners)
    assert service.http.head("/v1/events", timeout=5).status_code == 200


def test_a_key_is_asked_for(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where the server has a key, nobody is told anything without it."""
    with running(tmp_path_factory.mktemp("locked"), api_key="brass") as locked:
        assert locked.get("/events").status_code == 401
        with listening(of_all(locked), headers={"X-API-Key": "brass"}) as stream:
            assert stream.answer.status_code == 200


def test_another_process_is_told_of(service: Service, chat: str) -> None:
    """What one server does is told by another on the same database."""
    with running(service.database.parent, resume_jobs=False) as other, listening(of_all(other)) as stream:
        service.put(f"/chats/{chat}", {"settings": ONE})
        service.say(chat, 1, 2)
        assert until(stream, chat, "summarized")


def test_how_connections_fare_is_told(service: Service, chat: str) -> None:
    """A connection that is put twice is told once; then when it fails, and when it answers again."""
    with FakeModel() as model, listening(of_all(service)) as stream:
        fields = {"provider": "openai", "base_url": model.base_url, "model": "fake-small"}
        for _ in range(2):
            service.put(f"/connections/{chat}", fields)
        assert stream.next().data == {"why": "connections"}
        service.put(f"/chats/{chat}", {"settings": {**ONE, "connection": chat}})
        assert until(stream, chat, "chat")[:-1] == []
        model.do(replies.status(401))
        service.say(chat, 1, 2)
        failed = [stream.next()]
        while failed[-1].kind != "settings":
            failed.append(stream.next())
        assert service.status(chat)["connection"]["state"] == "failing"
        service.post(f"/chats/{chat}/summarize")
        while (event := stream.next()).kind != "settings":
            assert event.data["chat_id"] == chat
    service.settled(chat)


def test_healing_is_told(service: Service, chat: str) -> None:
    """An edited message tells of its history, and then of the snippet that was made anew by it."""
    service.put(f"/chats/{chat}", {"settings": ONE})
    service.say(chat, 1, 2)
    with listening(of_all(service)) as stream:
        service.patch(f"/chats/{chat}/messages/u1", {"content": "Mira asks about the red gate."})
        told = until(stream, chat, "memory")
        assert told[-1].data["why"] == "heal"
        assert told[-1].data["memory_version"] == service.status(chat)["memory_version"]
    service.settled(chat)
