"""Stop is stop: every way of saying it cuts the call to the model, and nothing comes after it."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.busy import LATER_S, Busy, serving, until
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang
from tests.support.service import Service, turn_lines

Way = Callable[[Busy, str], Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, FakeModel]]:
    with serving(tmp_path_factory.mktemp("stop"), llm_concurrency=8) as server:
        yield server


@pytest.fixture
def scene(server: tuple[Service, FakeModel]) -> Iterator[Busy]:
    with Busy(*server) as scene:
        yield scene


def _command(text: str) -> Way:
    return lambda scene, _: scene.service.post(f"{scene.path}/commands", {"command": text})


STOPPING: dict[str, Way] = {
    "stop": lambda scene, _: scene.service.post(f"{scene.path}/stop"),
    "pause": lambda scene, _: scene.service.post(f"{scene.path}/pause"),
    "cancel": lambda scene, job_id: scene.service.post(f"/jobs/{job_id}/cancel"),
    "/sc-stop": _command("/sc-stop"),
    "/sc-pause": _command("/sc-pause"),
}
CLEARING: dict[str, Way] = {
    "clear": lambda scene, _: scene.service.post(f"{scene.path}/clear"),
    "/sc-clear": _command("/sc-clear"),
}
GOING_ON: dict[str, Callable[[Busy], Any]] = {
    "append": lambda scene: scene.service.say(scene.chat, 7),
    "sync": lambda scene: scene.service.put(f"{scene.path}/messages", {"messages": _lines(7)}),
    "summarize": lambda scene: scene.service.post(f"{scene.path}/summarize"),
    "all": lambda scene: scene.service.post(f"{scene.path}/backlog", {"choice": "all"}),
    "resume": lambda scene: scene.service.post(f"{scene.path}/resume"),
}


def _lines(turns: int) -> list[dict[str, str]]:
    return [line for turn in range(1, turns + 1) for line in turn_lines(turn)]


@pytest.mark.parametrize("way", STOPPING)
def test_it_cuts_the_call_and_keeps_what_is_done(scene: Busy, way: str) -> None:
    """The model sees its client go at once; what was committed stays, nothing is added, no further call is made."""
    job_id = scene.fold_two()
    assert STOPPING[way](scene, job_id).is_success
    scene.assert_cut()
    scene.assert_stopped(ghosted=4, calls=3)
    assert scene.state(job_id)[0] == "cancelled"


def test_a_call_that_is_cut_is_counted(scene: Busy) -> None:
    """It is in the usage of the job and of the chat, with the tokens of the calls that came back."""
    job_id = scene.fold_two()
    scene.stop()
    scene.assert_cut()
    job = f"/jobs/{job_id}"
    until(lambda: bool(scene.service.get(job).json()["usage"]["calls"] == 3))
    assert scene.service.get(job).json()["usage"] == scene.service.status(scene.chat)["summarizer_usage"]


@pytest.mark.parametrize("way", CLEARING)
def test_clearing_cuts_the_call_too(scene: Busy, way: str) -> None:
    """What is cleared stays so: the call that ran is cut and brings nothing back."""
    job_id = scene.fold_two()
    assert CLEARING[way](scene, job_id).is_success
    scene.assert_cut()
    scene.assert_stopped(ghosted=0, calls=3)


def test_deleting_cuts_the_call_too(scene: Busy) -> None:
    """The call for a chat that is deleted is cut, and none follows."""
    scene.fold_two()
    assert scene.service.http.delete(f"/v1{scene.path}").is_success
    scene.assert_cut()
    time.sleep(LATER_S)
    assert scene.calls == 3
    assert scene.service.get(scene.path).status_code == 404


def test_stop_tells_what_it_cut(scene: Busy) -> None:
    """The answer holds the job, which ended by it; a second stop finds nothing to do and changes nothing."""
    job_id = scene.fold_two()
    stopped = scene.service.post(f"{scene.path}/stop").json()
    assert (stopped["stopped"], stopped["job"]["id"], stopped["job"]["state"]) == (True, job_id, "cancelled")
    assert stopped["job"]["progress"]["done"] == 2
    assert scene.service.post(f"{scene.path}/stop").json() == {"stopped": False, "job": None}
    assert scene.state(job_id) == ("cancelled", "Stopped on request.")


def test_stop_with_nothing_running(scene: Busy) -> None:
    """A stop of an idle chat is no error; an unknown chat is a 404."""
    scene.service.say(scene.chat, 1, 2)
    assert scene.service.post(f"{scene.path}/stop").json() == {"stopped": False, "job": None}
    assert scene.service.post("/chats/none/stop").status_code == 404


@pytest.mark.parametrize("call", GOING_ON)
def test_after_a_stop_the_next_call_goes_on(scene: Busy, call: str) -> None:
    """Asking for the prompt starts nothing; an append, a sync or an explicit call takes the work up again."""
    scene.fold_two()
    scene.stop()
    assert scene.service.get(f"{scene.path}/projection").is_success
    scene.assert_stopped(ghosted=4, calls=3)
    GOING_ON[call](scene)
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == (12 if call in ("append", "sync") else 10)


def test_a_pause_keeps_sending_the_memory(scene: Busy) -> None:
    """While folding is paused the prompt holds what is remembered; an append folds nothing, resume goes on."""
    scene.fold_two()
    scene.service.post(f"{scene.path}/pause")
    before = scene.service.get(f"{scene.path}/preview").json()
    assert scene.service.say(scene.chat, 7)["reason"] == "paused"
    assert scene.service.get(f"{scene.path}/preview").json() == before
    messages = scene.service.get(f"{scene.path}/projection").json()["messages"]
    assert any("Mira asks about gate 2." in message["content"] for message in messages)
    scene.assert_stopped(ghosted=4, calls=3)
    scene.service.post(f"{scene.path}/resume")
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == 12


def test_other_chats_go_on(scene: Busy) -> None:
    """A stop is of one chat: what runs on another is neither cut nor delayed."""
    other = Busy(scene.service, scene.model)
    scene.fold_two()
    job_id = other.fold(hang())
    scene.stop()
    scene.assert_cut()
    scene.assert_stopped(ghosted=4, calls=4)
    assert other.state(job_id)[0] == "running"
    other.stop()
