"""Two servers on one database: what one is told, the other heeds; and a second start joins the job of the first."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.busy import LATER_S, SMALL, Busy, connected, until
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service, running

Pair = tuple[Service, Service]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, model: FakeModel) -> Iterator[Pair]:
    """Servers in two threads, each with connections, a runner and calls of its own."""
    folder, settings = tmp_path_factory.mktemp("pair"), connected(model, retry_base_s=30)
    with running(folder, **settings) as here, running(folder, **settings) as there:
        yield here, there


@pytest.fixture
def scene(pair: Pair, model: FakeModel) -> Iterator[Busy]:
    with Busy(pair[0], model) as scene:
        yield scene


ELSEWHERE: dict[str, Callable[[Service, Busy, str], Any]] = {
    "stop": lambda there, scene, _: there.post(f"{scene.path}/stop"),
    "pause": lambda there, scene, _: there.post(f"{scene.path}/pause"),
    "cancel": lambda there, _, job_id: there.post(f"/jobs/{job_id}/cancel"),
}


@pytest.mark.parametrize("way", ELSEWHERE)
def test_what_one_is_told_cuts_the_call_of_the_other(pair: Pair, scene: Busy, way: str) -> None:
    """The server that runs the job sees within half a second that it was stopped through the other, and cuts it."""
    job_id = scene.fold_two()
    assert ELSEWHERE[way](pair[1], scene, job_id).is_success
    scene.assert_cut()
    scene.assert_stopped(ghosted=4, calls=3)
    assert scene.state(job_id)[0] == "cancelled"


def test_clearing_through_the_other(pair: Pair, scene: Busy) -> None:
    """A chat that is cleared through the other server stays so."""
    scene.fold_two()
    assert pair[1].post(f"{scene.path}/clear").json()["unghosted_messages"] == 4
    scene.assert_cut()
    scene.assert_stopped(ghosted=0, calls=3)


def test_deleting_through_the_other(pair: Pair, scene: Busy) -> None:
    """A chat that is deleted through the other server is gone, and its call is cut."""
    scene.fold_two()
    assert pair[1].http.delete(f"/v1{scene.path}").is_success
    scene.assert_cut()
    time.sleep(LATER_S)
    assert scene.calls == 3
    assert scene.service.get(scene.path).status_code == 404


def test_a_wait_to_try_again_ends_too(pair: Pair, scene: Busy) -> None:
    """A stop through the other server is heeded in the wait between two attempts."""
    job_id = scene.fold(status(503))
    until(lambda: not scene.model.at_once)
    pair[1].post(f"{scene.path}/stop")
    scene.assert_stopped(ghosted=0, calls=1)
    assert scene.state(job_id)[0] == "cancelled"


def test_the_other_goes_on(pair: Pair, scene: Busy) -> None:
    """What was stopped through one server can be taken up at once through the other, and is done there."""
    scene.fold_two()
    pair[1].post(f"{scene.path}/stop")
    pair[1].post(f"{scene.path}/summarize")
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == 10
    scene.assert_cut()
    scene.assert_stopped(ghosted=10, calls=3 + 3)


@pytest.mark.parametrize("which", [0, 1], ids=["the same server", "the other server"])
def test_a_second_start_joins(pair: Pair, scene: Busy, which: int) -> None:
    """A start on a chat whose job runs gives that job, which then does what the stronger of the two wants."""
    job_id = _hold_one(scene)
    second = pair[which]
    for call, body, kind in (
        (f"{scene.path}/backlog", {"choice": "all"}, "backlog"),
        (f"{scene.path}/backlog", {"choice": "one"}, "backlog"),
        (f"{scene.path}/summarize", None, "summarize"),
    ):
        joined = second.post(call, body)
        assert (joined.status_code, joined.json()["job"]["id"], joined.json()["job"]["kind"]) == (202, job_id, kind)
    assert _found(second, chat_id=scene.chat, state="running") == [job_id]
    assert _found(second, chat_id=scene.chat, state="queued") == []
    scene.model.release()
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == 10
    assert _found(second, chat_id=scene.chat) == [job_id]
    assert _found(second, chat_id=scene.chat, state="succeeded") == [job_id]
    assert scene.calls == 5
    done = scene.service.get(f"/jobs/{job_id}").json()["progress"]
    assert (done["done"], done["percent"]) == (5, 100)


def _hold_one(scene: Busy) -> str:
    """A job that folds one batch of six turns, its call held."""
    scene.service.put(scene.path, {"settings": {"layered": SMALL}})
    scene.service.say(scene.chat, *range(1, 7), fold="none")
    scene.model.hold()
    arrived = len(scene.model.requests) + 1
    job_id: str = scene.service.post(f"{scene.path}/backlog", {"choice": "one"}).json()["job"]["id"]
    scene.model.wait_for_calls(arrived, 20)
    return job_id


def _found(service: Service, **query: str) -> list[str]:
    return [job["id"] for job in service.get("/jobs", params=query).json()["items"]]


def test_starts_at_the_same_moment_are_one(pair: Pair, scene: Busy) -> None:
    """Starts through both servers at once make one job, and its calls are made once."""
    scene.service.put(scene.path, {"settings": {"layered": SMALL}})
    scene.service.say(scene.chat, *range(1, 7), fold="none")
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: pair[n % 2].post(f"{scene.path}/backlog", {"choice": "all"}).json(), range(8)))
    ids = {one["job"]["id"] for one in made if one["job"]}
    assert scene.service.settled(scene.chat)["counts"]["ghosted"] == 10
    assert (len(ids), scene.calls) == (1, 5)
    scene.assert_stopped(ghosted=10, calls=5)
