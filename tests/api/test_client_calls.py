"""Prompts for a frontend's own model, over HTTP."""

import time
from typing import Any

import httpx
import pytest

from tests.support.frontend import Frontend
from tests.support.service import Service
from tests.support.waiting import until_seen

SMALL = {"verbatim_turns": 1, "turns_per_batch": 1}


def follow(service: Service, chat: str, connection: str = "SillyTavern", **fields: Any) -> None:
    """Let a frontend fold a chat; its connection has so many `fields` more."""
    put = service.put(f"/connections/{connection}", {"provider": "client", **fields})
    assert put.status_code == 200, put.text
    settings = {"connection": connection, "on_backlog": "all", "layered": SMALL}
    assert service.put(f"/chats/{chat}", {"settings": settings}).is_success


def take(service: Service, chat: str, client: str = "a", wait_s: float = 10, **query: Any) -> list[dict[str, Any]]:
    answer = service.get("/client-calls", params={"chat_id": chat, "client": client, "wait_s": wait_s, **query})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def take_one(service: Service, chat: str, client: str = "a", **query: Any) -> str:
    [call] = take(service, chat, client, **query)
    return str(call["id"])


def give(service: Service, call: str, text: str = "Tom opens a gate.", **fields: Any) -> httpx.Response:
    return service.post(f"/client-calls/{call}", {"text": text, **fields})


def waiting(service: Service, chat: str) -> Any:
    return service.status(chat)["connection"]["waiting"]


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["code"])


def test_a_frontend_folds_a_chat(service: Service, chat: str) -> None:
    """Every prompt is answered once, the snippets are its model's, and each call is counted."""
    follow(service, chat)
    with Frontend(service.url, chat_id=chat) as tab:
        service.say(chat, *range(1, 5))
        status = service.settled(chat)
    assert status["layers"][0]["snippets"] == len(tab.calls) == 3
    assert status["summarizer_usage"]["calls"] == 3
    assert tab.statuses == [204] * 3
    assert (status["connection"]["waiting"], status["last_error"]) == (None, None)
    [call, *_] = tab.calls
    assert [message["content"] for message in call["messages"]] == [call["system_prompt"], call["prompt"]]
    assert "gate 1" in call["prompt"]


def test_nobody_is_there(service: Service, chat: str) -> None:
    """The prompt waits, its job runs, nothing has failed; status and /sc-status say what is waited for."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    until_seen(lambda: waiting(service, chat) is not None)
    status = service.status(chat)
    found = status["connection"]["waiting"]
    assert (found["connection"], found["calls"], found["leased"]) == ("SillyTavern", 1, 0)
    assert (status["job"]["state"], status["job"]["usage"]["calls"], status["last_error"]) == ("running", 0, None)
    assert status["connection"]["state"] == "ok"
    said = service.post(f"/chats/{chat}/commands", {"command": "/sc-status"}).json()["text"]
    assert f"Waiting for SillyTavern: 1 prompt since {found['since'][11:16]} UTC" in said
    take_one(service, chat)
    said = service.post(f"/chats/{chat}/commands", {"command": "/sc-status"}).json()["text"]
    assert "SillyTavern is answering: 1 of 1 prompt" in said
    service.post(f"/chats/{chat}/stop")
    assert waiting(service, chat) is None


def test_two_tabs(service: Service, chat: str) -> None:
    """One has the prompt; the other can neither answer nor hold it, until it is given back."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    call = take_one(service, chat)
    assert take(service, chat, "b", wait_s=0) == []
    assert code(give(service, call, client="b")) == (409, "conflict")
    assert code(service.post(f"/client-calls/{call}/renew", {"client": "b"})) == (409, "conflict")
    renewed = service.post(f"/client-calls/{call}/renew", {"client": "a", "lease_s": 600})
    assert renewed.status_code == 200
    assert list(renewed.json()) == ["lease_until"]
    assert service.post(f"/client-calls/{call}/release", {"client": "a"}).status_code == 204
    assert take_one(service, chat, "b") == call
    assert give(service, call).status_code == 204  # who does not say who it is passes for the holder
    assert code(give(service, call)) == (409, "conflict")
    assert service.settled(chat)["layers"][0]["snippets"] == 1


def test_a_stop_takes_calls_away(service: Service, chat: str) -> None:
    """So do clear and deletion: nobody is handed what nobody wants, and a late answer hears so."""
    follow(service, chat)
    for step in ("stop", "clear"):
        service.say(chat, *((1, 2) if step == "stop" else (3, 4)), fold="background")
        call = take_one(service, chat)
        assert service.post(f"/chats/{chat}/{step}").status_code == 200
        assert waiting(service, chat) is None
        assert code(service.post(f"/client-calls/{call}/renew")) == (409, "conflict")
    service.say(chat, 5, fold="background")
    call = take_one(service, chat)
    service.http.delete(f"/v1/chats/{chat}")
    assert code(give(service, call)) == (404, "not_found")
    assert service.get("/client-calls", params={"chat_id": chat}).status_code == 404


def test_another_connection_takes_over(service: Service, chat: str) -> None:
    """A prompt that nobody took is withdrawn when the chat goes to another connection, or the connection changes."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    until_seen(lambda: waiting(service, chat) is not None)
    service.patch(f"/chats/{chat}", {"settings": {"connection": "extractive"}})
    assert service.settled(chat)["layers"][0]["snippets"] == 1
    follow(service, chat, "own")
    service.say(chat, 3, fold="background")
    call = take_one(service, chat)
    service.put("/connections/own", {"provider": "client"})  # as it is
    assert service.post(f"/client-calls/{call}/renew").status_code == 200
    service.put("/connections/own", {"provider": "client", "max_tokens": 900})
    [anew] = take(service, chat)
    assert (anew["id"] != call, anew["max_tokens"]) == (True, 900)
    assert service.http.delete("/v1/connections/own").status_code == 204
    assert service.settled(chat)["last_error"]["connection"] == "own"


def test_refused_by_the_frontend(service: Service, chat: str) -> None:
    """An error ends the job as a model server's would, and names the connection and what the frontend said."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    error = {"message": "No key is set for <b>this</b> API.", "status": 401}
    assert service.post(f"/client-calls/{take_one(service, chat)}", {"error": error}).status_code == 204
    found = service.settled(chat)["last_error"]
    assert (found["code"], found["connection"], found["status"]) == ("provider_rejected", "SillyTavern", 401)
    assert found["detail"].endswith("answered 401 Unauthorized: No key is set for <b>this</b> API.")
    service.post("/connections/SillyTavern/test")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "body"),
        ({"text": "a", "error": "b"}, "body"),
        ({"text": 5}, "text"),
        ({"text": "a\x00"}, "text"),
        ({"text": "a", "usage": {"prompt_tokens": -1}}, "prompt_tokens"),
        ({"text": "a", "more": 1}, "more"),
        ({"error": {"status": 429}}, "message"),
        ({"error": {"message": "a", "retry_after_s": -1}}, "retry_after_s"),
        ({"text": "a", "client": "a/b"}, "client"),
    ],
)
def test_bad_answers_are_named(service: Service, body: dict[str, Any], named: str) -> None:
    """A body that is neither a text nor an error is a 422 that names what is wrong."""
    answer = service.post("/client-calls/k", body)
    assert answer.status_code == 422
    assert any(named in error["loc"] for error in answer.json()["errors"])


@pytest.mark.parametrize("query", [{"wait_s": 61}, {"lease_s": 4}, {"lease_s": 601}, {"limit": 0}, {"client": ""}])
def test_bad_questions_are_refused(service: Service, query: dict[str, Any]) -> None:
    """So are waits and leases out of range."""
    assert service.get("/client-calls", params=query).status_code == 422


def test_what_is_not_there(service: Service, chat: str) -> None:
    """Unknown calls and chats are a 404."""
    for path in ("", "/renew", "/release"):
        body = {"text": "a"} if not path else {}
        assert code(service.post(f"/client-calls/never{path}", body)) == (404, "not_found")
    assert service.get("/client-calls", params={"chat_id": chat}).status_code == 404


def test_a_long_poll_ends(service: Service, chat: str) -> None:
    """It answers as soon as there is a prompt, or with none after `wait_s`; whoever left it is handed nothing."""
    follow(service, chat)
    begun = time.monotonic()
    assert take(service, chat, wait_s=0.3) == []
    assert time.monotonic() - begun < 10
    with pytest.raises(httpx.ReadTimeout):
        service.get("/client-calls", params={"chat_id": chat, "client": "gone", "wait_s": 60}, timeout=0.2)
    service.say(chat, 1, 2, fold="background")
    assert len(take(service, chat)) == 1


@pytest.mark.parametrize("mode", ["no-cors", "navigate"])
def test_links_and_pictures_take_nothing(service: Service, chat: str, mode: str) -> None:
    """What a foreign page can make a browser ask for without a script is refused; scripts are told by their Origin."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    query = {"chat_id": chat, "wait_s": 5}
    assert code(service.get("/client-calls", params=query, headers={"Sec-Fetch-Mode": mode})) == (403, "forbidden")
    found = service.get("/client-calls", params=query, headers={"Sec-Fetch-Mode": "cors"})
    assert len(found.json()["items"]) == 1


def test_a_test_of_the_connection(service: Service, chat: str) -> None:
    """It is well when a frontend has asked for prompts just now; there are no models to list."""
    follow(service, chat)
    take(service, chat, wait_s=0)
    found = service.post("/connections/SillyTavern/test").json()
    assert (found["ok"], "asked for prompts at" in found["detail"]) == (True, True)
    assert service.get("/connections/SillyTavern/models").json()["items"] == []
    assert service.http.get("/readyz").status_code == 200


@pytest.mark.parametrize("change", ["edit", "delete", "hide", "name", "sync"])
def test_what_changed_is_not_told_any_more(service: Service, chat: str, change: str) -> None:
    """A prompt that nobody has taken is made anew from what is stored then; one that somebody answers stays."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    until_seen(lambda: waiting(service, chat) is not None)
    message = f"/chats/{chat}/messages/u1"
    if change == "edit":
        service.patch(message, {"content": "Mira sings."})
    elif change == "delete":
        service.http.delete(f"/v1{message}")
    elif change == "hide":
        service.patch(message, {"hidden": True})
    elif change == "name":
        service.patch(f"/chats/{chat}", {"user_name": "Mirabelle"})
    else:
        service.put(f"/chats/{chat}/messages", {"messages": [{"role": "user", "content": "Anew."}], "reset": True})
        until_seen(lambda: waiting(service, chat) is None)
        return
    [call] = take(service, chat)
    assert ("Mira asks about gate 1." in call["prompt"]) == (change == "name")
    assert ("Mirabelle" in call["prompt"]) == (change == "name")
    service.patch(f"/chats/{chat}/messages/a2", {"content": "Tom waits."})
    assert service.post(f"/client-calls/{call['id']}/renew").status_code == 200


def test_a_head_takes_no_prompt(service: Service, chat: str) -> None:
    """Whoever reads no prompt holds none."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    until_seen(lambda: waiting(service, chat) is not None)
    assert service.http.head("/v1/client-calls", params={"chat_id": chat}).status_code == 200
    assert waiting(service, chat)["leased"] == 0
    assert take_one(service, chat)


@pytest.mark.parametrize(("status", "again"), [(524, True), (503, True), (401, False), (418, False)])
def test_a_frontends_status_says_whether_it_is_asked_again(
    service: Service, chat: str, status: int, again: bool
) -> None:
    """What a server or a proxy before it may get over is tried again; a refusal is not."""
    follow(service, chat)
    service.say(chat, 1, 2, fold="background")
    call = take_one(service, chat)
    error = {"message": "no", "status": status}
    assert service.post(f"/client-calls/{call}", {"error": error}).status_code == 204
    if again:
        until_seen(lambda: service.status(chat)["connection"]["state"] != "ok")
        assert service.status(chat)["job"] is not None
    else:
        until_seen(lambda: service.status(chat)["last_error"] and service.status(chat)["job"] is None)
    service.post(f"/chats/{chat}/stop")
