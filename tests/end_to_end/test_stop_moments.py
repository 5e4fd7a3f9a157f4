"""Stop is stop, whatever the job is doing at that moment."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.busy import SMALL, Busy, serving, until
from tests.support.fake_exchange import Behaviour
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, half_stream, hang, silence_after_head, status
from tests.support.service import Service

TOO_LONG = " ".join(f"Mira asks about gate {number}, and Tom opens it." for number in range(1, 40))
SILENCES = {"nothing": hang(), "headers": silence_after_head(), "a beginning": silence_after_head("Mira asks")}
FAILURES = {
    "unavailable": status(503),
    "too many": status(429, retry_after=20),
    "torn": half_stream("Mira"),
    "blank": answer(""),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, FakeModel]]:
    with serving(tmp_path_factory.mktemp("moments"), llm_concurrency=8, retry_base_s=30) as server:
        yield server


@pytest.fixture
def scene(server: tuple[Service, FakeModel]) -> Iterator[Busy]:
    with Busy(*server) as scene:
        yield scene


def _connect(scene: Busy, name: str, role: str, model: str) -> None:
    """Give the chat a connection of its own, whose failures concern nobody else."""
    fields = {"provider": "openai", "base_url": scene.model.base_url, "model": model}
    assert scene.service.put(f"/connections/{name}", fields).is_success
    assert scene.service.put(scene.path, {"settings": {role: name}}).is_success


@pytest.mark.parametrize("failing", FAILURES.values(), ids=FAILURES)
def test_while_it_waits_to_try_again(scene: Busy, failing: Behaviour) -> None:
    """In the wait between two attempts there is nothing to cut; the second attempt is never made."""
    scene.fold(failing)
    until(lambda: not scene.model.at_once)
    scene.stop()
    scene.assert_stopped(ghosted=0, calls=1)


def test_while_the_connection_cools_down(scene: Busy) -> None:
    """Work that a cool-down put off waits for no time any more once it is stopped."""
    _connect(scene, "busy", "connection", "fake-small")
    scene.fold(status(429, retry_after=600))
    assert scene.service.settled(scene.chat)["last_error"]["retry_at"] is not None
    assert scene.service.post(f"{scene.path}/stop").is_success
    assert scene.service.status(scene.chat)["last_error"]["retry_at"] is None
    scene.assert_stopped(ghosted=0, calls=1)


def test_while_it_waits_for_a_slot(tmp_path: Path) -> None:
    """A chat that waits for another one's call to end leaves the queue, and the other one is not disturbed."""
    with serving(tmp_path, llm_concurrency=1) as server:
        first, scene = Busy(*server), Busy(*server)
        first.fold(hang())
        job_id = scene.fold()
        until(lambda: scene.state(job_id)[0] == "running")
        time.sleep(0.2)
        scene.stop()
        scene.assert_stopped(ghosted=0, calls=1)
        scene.assert_cut(0)
        first.stop()
        first.assert_stopped(ghosted=0, calls=1)


@pytest.mark.parametrize("silent", SILENCES.values(), ids=SILENCES)
def test_in_the_middle_of_an_answer(scene: Busy, silent: Behaviour) -> None:
    """A model that has said nothing, its headers or half a sentence is left there; the half is not kept."""
    scene.fold(answer("Mira asks about gate 1."), silent)
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=2, calls=2)


def test_during_the_second_call_for_a_shorter_text(scene: Busy) -> None:
    """An answer that was too long is not cut down and kept when the call for a shorter one is cut."""
    scene.fold(answer(TOO_LONG), hang(), snippet_tokens=32)
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=0, calls=2)


def test_during_the_fallback(scene: Busy) -> None:
    """The call to the connection that helps out is cut like any other."""
    _connect(scene, "first", "connection", "fake-small")
    _connect(scene, "second", "fallback_connection", "fake-large")
    scene.fold(status(401), hang())
    assert scene.model.calls[-1].body["model"] == "fake-large"
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=0, calls=2)


def test_during_a_merge(scene: Busy) -> None:
    """A promotion that is cut leaves its sources as they were."""
    lines = [answer(f"Mira asks about gate {turn}.") for turn in range(1, 7)]
    scene.fold(*lines, hang(), turns=12, snippets_per_layer=5, snippets_per_promotion=3)
    before = scene.service.get(f"{scene.path}/snippets").json()
    assert len(before["items"]) == 6
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=12, calls=7)
    assert scene.service.get(f"{scene.path}/snippets").json() == before


def test_with_several_calls_under_way(scene: Busy) -> None:
    """All calls of a run are cut together."""
    scene.fold(*[hang()] * 4, turns=10, backlog_concurrency=4)
    assert scene.model.at_once == 4
    scene.stop()
    scene.assert_cut(4)
    scene.assert_stopped(ghosted=0, calls=4)


def test_answers_that_wait_for_an_older_one(scene: Busy) -> None:
    """Answers that came before their turn are not stored when the one they wait for is cut: what stays is a prefix."""
    late = [answer(f"Mira asks about gate {turn}.") for turn in (2, 3, 4)]
    scene.fold(hang(), *late, turns=10, backlog_concurrency=4)
    until(lambda: scene.model.at_once == 1)
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=0, calls=4)
    scene.service.post(f"{scene.path}/summarize")
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == 18


def test_an_append_that_waits_is_answered(scene: Busy) -> None:
    """Who waits for the fold hears at once that it was stopped; the messages are stored."""
    scene.service.put(scene.path, {"settings": {"layered": SMALL}})
    scene.model.do(hang())
    arrived = len(scene.model.requests) + 1
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(scene.service.say, scene.chat, 1, 2, fold="wait")
        scene.model.wait_for_calls(arrived, 20)
        scene.stop()
        appended = waiting.result(2)
    assert (appended["appended"], appended["reason"]) == (4, "Stopped on request.")
    scene.assert_stopped(ghosted=0, calls=1)


def test_stops_from_many_sides(scene: Busy) -> None:
    """Of stops that come together one cuts the job; the others find nothing, and none waits for long."""
    scene.fold_two()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: scene.service.post(f"{scene.path}/stop").json()["stopped"], range(8)))
    assert sorted(answers) == [False] * 7 + [True]
    scene.assert_cut()
    scene.assert_stopped(ghosted=4, calls=3)


def test_a_stop_that_races_with_the_commit(scene: Busy) -> None:
    """An answer and a stop that come together: the snippet is there when the stop is answered, or it never comes."""
    chats = [Busy(scene.service, scene.model) for _ in range(12)]
    seen = []
    for number, chat in enumerate(chats):
        scene.model.hold()
        chat.fold(answer("Mira asks about gate 1."), turns=2)
        scene.model.release()
        time.sleep(number * 0.002)
        chat.service.post(f"{chat.path}/stop")
        seen.append(chat.memory())
    time.sleep(0.4)
    assert [chat.memory() for chat in chats] == seen
    assert set(seen) <= {(0, 0), (1, 2)}
