"""Work that waits for a model server: it holds nothing meanwhile, and goes on by itself."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.fault_stage import Stage, staged
from tests.support import fake_replies as replies
from tests.support.fake_exchange import Behaviour, Exchange
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running

TEN_MINUTES = replies.status(429, retry_after=600)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("waits")) as stage:
        yield stage


def until(look: Callable[[], Any], expected: Any, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while (found := look()) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def last_job(service: Service, chat: str) -> str:
    """The state of the newest job of a chat."""
    state: str = service.get(f"/jobs?chat_id={chat}&limit=1").json()["items"][0]["state"]
    return state


def folded(service: Service, chat: str) -> dict[str, Any]:
    """The chat's status once a job of it has succeeded, which must have folded."""
    until(lambda: last_job(service, chat), "succeeded")
    status = service.status(chat)
    assert (status["counts"]["ghosted"], status["degraded_snippets"], status["last_error"]) == (6, 0, None)
    return status


def test_ten_minutes_are_waited_for_without_holding_anything(stage: Stage) -> None:
    """More chats rest than there are threads for folding: no job of theirs runs, another connection is served as ever,
    and so is this one's only slot.
    """
    stage.connect("resting", "openai", concurrency=1)
    stage.connect("awake", "ollama")
    resting = [f"resting-{number}" for number in range(6)]
    for chat in resting:
        stage.open_chat(chat, "resting")
    stage.open_chat("awake", "awake")
    with stage.model.only(TEN_MINUTES):
        calls = [stage.service.say(chat, 13)["usage"]["calls"] for chat in resting]
    assert calls == [1, 0, 0, 0, 0, 0]
    for chat in resting:
        status = stage.service.status(chat)
        assert (status["job"], status["connection"]["state"]) == (None, "cooling_down")
        assert {stage.until(status[part]["retry_at"]) for part in ("connection", "last_error")} == {600}
    assert stage.service.say("awake", 13)["usage"]["calls"] == 1
    assert stage.service.post("/connections/resting/test").json()["ok"]
    assert stage.service.say(resting[5], 14)["usage"]["calls"] == 1


def test_the_rest_is_kept_to_the_second(stage: Stage) -> None:
    """A second before it is over nothing is sent, when it is over one call is."""
    stage.connect("punctual", "openai")
    stage.open_chat("punctual", "punctual")
    with stage.model.only(TEN_MINUTES):
        stage.service.say("punctual", 13)
    stage.time.pass_by(599)
    assert stage.service.say("punctual", 14)["usage"]["calls"] == 0
    stage.time.pass_by(1)
    assert stage.service.say("punctual", 15)["usage"]["calls"] == 1
    assert stage.service.status("punctual")["connection"] == {
        "name": "punctual", "provider": "openai", "model": "fake-small", "state": "ok", "retry_at": None,
        "waiting": None,
    }  # fmt: skip


def test_a_pause_between_attempts_holds_nothing(stage: Stage) -> None:
    """While one chat's batch waits for its second attempt, the connection's only slot serves another chat; status
    says when the attempt comes.
    """
    stage.connect("pausing", "openai", concurrency=1)
    stage.open_chat("first", "pausing")
    stage.open_chat("second", "pausing")
    paused = len(stage.time.sleeps)
    stage.time.held = True
    stage.model.do(replies.status(503))
    stage.service.say("first", 13, fold="background")
    until(lambda: len(stage.time.sleeps), paused + 1)
    shown = stage.service.status("first")["connection"]
    assert (shown["state"], stage.until(shown["retry_at"])) == ("failing", 2)
    assert stage.service.say("second", 13)["usage"]["calls"] == 1
    assert (last_job(stage.service, "first"), last_job(stage.service, "second")) == ("running", "succeeded")
    stage.time.held = False
    folded(stage.service, "first")


@contextmanager
def hasty(folder: Path, model: FakeModel, **settings: Any) -> Iterator[Service]:
    """A server whose clock is real, and whose waits are short."""
    usual = {"retry_attempts": 2, "retry_base_s": 0.01, "retry_max_s": 0.05, "breaker_cooldown_s": 0.5}
    reach = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_timeout_s": 10}
    with running(folder, **{**usual, **reach, **settings}) as service:
        yield service


def open_chats(service: Service, *chats: str) -> None:
    """Chats that fold with their next turn, the thirteenth."""
    for chat in chats:
        service.say(chat, *range(1, 13), fold="none")


def noting(arrivals: list[float], behaviour: Behaviour) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        arrivals.append(time.monotonic())
        await behaviour(exchange)

    return behave


def test_after_the_rest_the_work_goes_on_by_itself(tmp_path: Path) -> None:
    """Nobody says a word, and not a moment too early the batch is asked for again and folded."""
    arrivals: list[float] = []
    rest, good = replies.status(429, retry_after="1"), replies.answer("Anna left Ben.")
    with FakeModel() as model, hasty(tmp_path, model) as service:
        open_chats(service, "c")
        model.do(noting(arrivals, rest), noting(arrivals, good))
        service.say("c", 13)
        folded(service, "c")
    assert 1 <= arrivals[1] - arrivals[0] < 10


def test_an_outage_ends_by_itself(tmp_path: Path) -> None:
    """Chats that failed and chats that were turned away all fold when the server is back."""
    chats = [f"c{number}" for number in range(5)]
    with FakeModel() as model, hasty(tmp_path, model) as service:
        open_chats(service, *chats)
        with model.only(replies.reset()):
            for chat in chats:
                service.say(chat, 13)
                assert service.status(chat)["counts"]["ghosted"] == 0
        assert {folded(service, chat)["connection"]["state"] for chat in chats} == {"ok"}
        assert service.http.get("/readyz").json()["checks"]["default_connection"] == {"state": "ok", "retry_at": None}


@pytest.mark.parametrize(
    ("fault", "calls"),
    [(replies.status(400), 1), (replies.blank(), 2), (replies.hang(), 2), (replies.status(408), 2)],
    ids=["400", "blank", "hang", "408"],
)
def test_other_faults_pass_by_themselves_too(tmp_path: Path, fault: Behaviour, calls: int) -> None:
    """What the batch may be to blame for, or nobody knows: it is tried again after the cool-down."""
    with FakeModel() as model, hasty(tmp_path, model, llm_timeout_s=1) as service:
        open_chats(service, "c")
        model.do(*[fault] * calls)
        service.say("c", 13)
        assert folded(service, "c")["summarizer_usage"]["calls"] == calls + 1


def test_a_wrong_key_waits_for_a_person(tmp_path: Path) -> None:
    """It is not sent again and again; once a person says so, the chat goes on without another message."""
    with FakeModel() as model, hasty(tmp_path, model) as service:
        open_chats(service, "c")
        model.do(replies.status(401))
        service.say("c", 13)
        time.sleep(0.8)
        assert (last_job(service, "c"), len(model.calls)) == ("failed", 1)
        service.post("/chats/c/resume")
        folded(service, "c")
