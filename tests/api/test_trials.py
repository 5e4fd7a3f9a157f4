"""Trials over HTTP: what models do, what clients do, and what is left of it."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour
from tests.support.fake_model import FakeModel
from tests.support.frontend import Frontend
from tests.support.service import Service, running
from tests.support.waiting import until_seen

NOTHING = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0}
ONE_CALL = {"calls": 1, "prompt_tokens": 100, "completion_tokens": 10}
REFUSAL = "I'm sorry, but I can't assist with that."
GOOD = "Mira asks about gate 1; Tom opens it"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One that tries twice, without much of a wait."""
    quick = {"retry_attempts": 2, "retry_base_s": 0.001, "retry_max_s": 1, "breaker_cooldown_s": 0.01}
    with running(tmp_path_factory.mktemp("trials"), **quick) as service:
        yield service


@pytest.fixture(scope="module")
def models() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def model(service: Service, models: FakeModel, chat: str) -> FakeModel:
    """The model of a chat with one turn; its connection bears the chat's name."""
    put = {"provider": "openai", "base_url": f"{models.base_url}/v1", "model": "fake-small", "api_key": "sk-fake"}
    assert service.put(f"/connections/{chat}", put).is_success
    assert service.put(f"/chats/{chat}", {"settings": {"connection": chat}}).is_success
    service.say(chat, 1)
    return models


def attempt(service: Service, chat: str, **body: Any) -> dict[str, Any]:
    answer = service.post(f"/chats/{chat}/trial", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: httpx.Response) -> tuple[int, list[str]]:
    """The status, and the places of the errors."""
    return answer.status_code, [".".join(map(str, error["loc"])) for error in answer.json().get("errors", [])]


def stored(service: Service, chat: str) -> list[Any]:
    """All that a trial must leave alone."""
    status = service.status(chat)
    del status["summarizer_usage"], status["connection"]
    return [
        status,
        *(service.get(f"/chats/{chat}/{part}").json() for part in ("snippets?state=all", "digest")),
        service.get(f"/jobs?chat_id={chat}").json(),
        service.get(f"/chats/{chat}").json(),
    ]


def test_a_prompt_is_shown_and_nothing_asked(service: Service, chat: str, model: FakeModel) -> None:
    """Without a body the chat's own prompt on its turn; no model is called, nothing costs anything."""
    calls = len(model.calls)
    found = service.post(f"/chats/{chat}/trial").json()
    assert found["passage"] == {"first_index": 0, "last_index": 1, "turns": 1, "tokens": found["passage"]["tokens"]}
    assert "gate 1" in found["user"]
    assert found["tokens"] > found["passage"]["tokens"] > 0
    assert (found["connection"], found["model"]) == (chat, "fake-small")
    assert {found[name] for name in ("text", "text_tokens", "usage", "latency_ms", "problem")} == {None}
    assert len(model.calls) == calls


def test_a_model_is_asked_once_and_only_its_cost_is_kept(service: Service, chat: str, model: FakeModel) -> None:
    """The call holds the shown prompt; the answer comes cleaned, and the chat is as it was."""
    before, calls = stored(service, chat), len(model.calls)
    model.do(replies.answer(f"<think>Hm.</think>\n{GOOD}"))
    found = attempt(service, chat, run=True, settings={"layered": {"system_prompt": "In {{max_tokens}} tokens."}})
    [asked] = model.calls[calls:]
    assert (asked.system, asked.user) == (found["system"], found["user"]) == ("In 120 tokens.", found["user"])
    assert (found["text"], found["problem"]) == (GOOD, None)
    assert found["usage"] == ONE_CALL
    assert found["text_tokens"] > 0
    assert found["latency_ms"] >= 0
    assert stored(service, chat) == before
    assert service.status(chat)["summarizer_usage"] == found["usage"]


@pytest.mark.parametrize(
    ("behaviour", "status", "says", "calls", "said"),
    [
        (replies.status(429, retry_after=600), 429, "429", 1, None),
        (replies.status(503), 503, "503", 2, None),
        (replies.status(401), 401, "401", 1, None),
        (replies.blank(), None, "blank", 1, None),
        (replies.open_think("What happened, and to whom"), None, "blank", 1, "<think>What happened, and to whom"),
        (replies.answer(REFUSAL), None, "refused", 1, REFUSAL),
        (replies.tool_call(), None, "tool", 1, None),
        (replies.half_stream("Mira asks"), None, "", 2, None),
    ],
    ids=["429", "503", "401", "blank", "think", "refusal", "tool", "cut"],
)
def test_what_folding_refuses_is_a_problem(
    service: Service,
    chat: str,
    model: FakeModel,
    behaviour: Behaviour,
    status: int | None,
    says: str,
    calls: int,
    said: str | None,
) -> None:
    """The answer is a 200 that says why, and what the model said; an answer is not asked for again. What was called is
    counted, and the chat has no error.
    """
    before = stored(service, chat)
    with model.only(behaviour):
        found = attempt(service, chat, run=True)
    problem = found["problem"]
    assert (problem["status"], problem["connection"], found["text"]) == (status, chat, None)
    assert problem["code"] in ("provider_rejected", "provider_unavailable")
    assert says in problem["detail"]
    assert problem["refused_text"] == said
    assert found["usage"] == service.status(chat)["summarizer_usage"]
    assert found["usage"]["calls"] == calls
    assert stored(service, chat) == before


def test_a_refused_answer_costs_what_a_good_one_does(service: Service, chat: str, model: FakeModel) -> None:
    """Its tokens are in the trial's usage, in the chat's and in that of all; of long ones the beginning is shown."""
    before = service.get("/usage").json()
    model.do(replies.answer(f"{REFUSAL}{' No.' * 1000}"))
    found = attempt(service, chat, run=True)
    assert (found["text"], found["problem"]["refused_text"]) == (None, f"{REFUSAL}{' No.' * 1000}"[:2000])
    assert found["usage"] == service.status(chat)["summarizer_usage"] == ONE_CALL
    after = service.get("/usage").json()
    assert {name: after[name] - before[name] for name in ONE_CALL} == ONE_CALL


def test_a_passing_failure_is_tried_again(service: Service, chat: str, model: FakeModel) -> None:
    """A 429 that asks for no more than a moment, then an answer: both calls count."""
    model.do(replies.status(429, retry_after=0.01), replies.answer(GOOD))
    found = attempt(service, chat, run=True)
    assert (found["text"], found["problem"], found["usage"]["calls"]) == (GOOD, None, 2)


def test_a_rambling_model_is_cut_to_its_limit(service: Service, chat: str, model: FakeModel) -> None:
    """Forty kilobytes, twice: what is shown is what would be stored."""
    model.do(replies.ramble(), replies.ramble())
    found = attempt(service, chat, run=True, settings={"layered": {"snippet_tokens": 50}})
    assert found["problem"] is None
    assert 0 < found["text_tokens"] <= 50


def test_a_client_that_goes_away_cuts_the_call(service: Service, chat: str, model: FakeModel) -> None:
    """The model's server sees it leave, and the call is counted; else the chat is as it was, and the next trial is
    answered.
    """
    before, gone, calls = stored(service, chat), model.disconnects, len(model.requests)
    body = json.dumps({"run": True}).encode()
    address = service.url.removeprefix("http://").split(":")
    with model.only(replies.hang()):
        with socket.create_connection((address[0], int(address[1]))) as client:
            head = f"POST /v1/chats/{chat}/trial HTTP/1.1\r\nHost: {':'.join(address)}\r\nContent-Length: {len(body)}"
            client.sendall(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode() + body)
            model.wait_for_calls(calls + 1)
        model.wait_for_disconnects(gone + 1)
    until_seen(lambda: bool(service.status(chat)["summarizer_usage"]["calls"] == 1))
    assert stored(service, chat) == before
    assert service.status(chat)["connection"]["state"] == "ok"
    model.say(GOOD)
    assert attempt(service, chat, run=True)["text"] == GOOD


def test_a_client_that_gives_up_gets_no_answer_kept_for_its_repeat(
    service: Service, chat: str, model: FakeModel
) -> None:
    """With an Idempotency-Key too: the repeat asks anew."""
    key = {"Idempotency-Key": f"trial-{chat}"}
    calls = len(model.requests)
    with model.only(replies.hang()), pytest.raises(httpx.ReadTimeout):
        service.post(f"/chats/{chat}/trial", {"run": True}, headers=key, timeout=0.5)
    model.wait_for_calls(calls + 1)
    model.say(GOOD)
    answers: list[httpx.Response] = []

    def answered() -> bool:
        answers.append(service.post(f"/chats/{chat}/trial", {"run": True}, headers=key))
        return answers[-1].status_code != 409

    until_seen(answered)
    assert answers[-1].json()["text"] == GOOD


def test_a_frontend_answers_what_is_tried(service: Service, chat: str) -> None:
    """With the provider `client`, prompts wait for it as a fold's do; without one, a problem says so at once."""
    assert service.put(f"/connections/{chat}", {"provider": "client"}).is_success
    service.say(chat, 1)
    alone = attempt(service, chat, run=True, connection=chat)
    assert (alone["problem"]["code"], alone["usage"]) == ("provider_unavailable", NOTHING)
    assert "frontend" in alone["problem"]["detail"]
    with Frontend(service.url, chat_id=chat) as tab:
        until_seen(lambda: bool(service.post(f"/connections/{chat}/test").json()["ok"]))
        found = attempt(service, chat, run=True, connection=chat)
    assert found["problem"] is None
    assert found["text"].startswith("Tom opens a gate for Mira")
    assert [call["prompt"] for call in tab.calls] == [found["user"]]
    assert service.status(chat)["connection"]["waiting"] is None


def test_the_built_in_summarizer_can_be_tried(service: Service, chat: str) -> None:
    """It costs nothing, and says what it would store."""
    service.say(chat, 1)
    found = attempt(service, chat, run=True, connection="extractive")
    assert (found["problem"], found["usage"], found["model"]) == (None, NOTHING, None)
    assert "gate 1" in found["text"]


def test_a_chat_without_memory_says_what_to_do(service: Service, chat: str) -> None:
    """Strategy none, no turn, no chat."""
    assert service.post(f"/chats/{chat}/trial").status_code == 404
    service.put(f"/chats/{chat}", {"strategy": "layered"})
    assert "append" in service.post(f"/chats/{chat}/trial").json()["detail"]
    service.say(chat, 1)
    service.patch(f"/chats/{chat}", {"strategy": "none"})
    answer = service.post(f"/chats/{chat}/trial", {"run": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert "strategy" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"layered": {"snippet_tokens": 1}}, "layered.snippet_tokens"),
        ({"layered": {"flush_turns": 1}}, "layered.flush_turns"),
        ({"rolling": {"template": "{{#turns}}"}}, "rolling.template"),
        ({"rolling": {"max_summary_tokens": 99_999}}, "rolling.max_summary_tokens"),
        ({"layered": {"injection_template": "no place"}}, "layered.injection_template"),
        ({"summary_buffer": {"llm_source": "external"}}, "summary_buffer.llm_source"),
        ({"nobody": 1}, "nobody"),
    ],
)
def test_settings_are_refused_as_by_a_patch(service: Service, chat: str, settings: Any, where: str) -> None:
    """The same status, the same words, the same places."""
    service.say(chat, 1)
    tried = service.post(f"/chats/{chat}/trial", {"settings": settings})
    patched = service.patch(f"/chats/{chat}", {"settings": settings})
    assert refused(tried) == refused(patched) == (422, [f"body.settings.{where}"])
    assert tried.json() == patched.json()


def test_what_is_asked_for_must_be_there(service: Service, chat: str) -> None:
    """A connection, a range in order, and turns in it; a chat whose own connection is gone says so."""
    service.say(chat, 1)
    path = f"/chats/{chat}/trial"
    assert refused(service.post(path, {"connection": "nobody"})) == (422, ["body.connection"])
    assert refused(service.post(path, {"first_index": 5, "last_index": 2})) == (422, ["body"])
    assert refused(service.post(path, {"first_index": 2**31})) == (422, ["body.first_index"])
    assert refused(service.post(path, {"last_index": 2**31 - 1})) == (422, ["body.first_index"])
    service.patch(f"/chats/{chat}", {"settings": {"connection": "gone"}})
    assert service.post(path).status_code == 409
    assert attempt(service, chat, connection="default")["connection"] == "default"
