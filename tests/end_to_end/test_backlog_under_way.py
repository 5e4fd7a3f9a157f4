"""A backlog while it folds, over real HTTP and by slash commands: watched, joined, growing, stopped, taken up again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, hang
from tests.support.fake_replies import status as refusal
from tests.support.service import Service, running
from tests.support.waiting import until_seen

WINDOW = 4
SETTINGS: dict[str, Any] = {"layered": {"verbatim_turns": WINDOW, "turns_per_batch": 2}}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("under-way")
    model_at = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "tiny"}
    with running(folder, **model_at, retry_attempts=1) as service:
        yield service


@pytest.fixture
def old(service: Service, model: FakeModel) -> Iterator[str]:
    """A chat of 20 turns that came in at once: 16 turns over the window, eight batches."""
    name = uuid4().hex
    service.put(f"/chats/{name}", {"settings": SETTINGS})
    service.say(name, *range(20))
    yield name
    model.release()
    service.post(f"/chats/{name}/stop")
    service.settled(name)
    assert_promises(service.database, name, WINDOW)


def say(service: Service, chat: str, line: str) -> str:
    """The text that a command answers."""
    found = service.post(f"/chats/{chat}/commands", {"command": line})
    assert found.status_code == 200, found.text
    text: str = found.json()["text"]
    return text


def choose(service: Service, chat: str, choice: str) -> Any:
    return service.post(f"/chats/{chat}/backlog", {"choice": choice}).json()


def begun(service: Service, model: FakeModel, chat: str, done: int) -> None:
    """`all` was chosen, `done` batches are folded, and the next call hangs."""
    model.do(*(answer(f"Gate {number} is open.") for number in range(done)), hang())
    choose(service, chat, "all")
    reached(service, chat, done)


def reached(service: Service, chat: str, done: int) -> None:
    until_seen(lambda: (service.status(chat)["job"] or {"progress": {"done": -1}})["progress"]["done"] == done)


# Watching


def test_what_is_done_and_what_is_left(service: Service, model: FakeModel, old: str) -> None:
    """While it runs there are percent and a time that is left, for all that waits and for the job, and text of both."""
    begun(service, model, old, 2)
    status = service.status(old)
    progress, backlog = status["job"]["progress"], status["backlog"]
    assert (progress["done"], progress["total"], progress["percent"], progress["failed"]) == (2, 8, 25, 0)
    assert (backlog["turns"], backlog["batches"], backlog["estimated_calls"]) == (12, 6, 6)
    assert 0 <= progress["eta_s"] < 60
    assert 0 <= backlog["estimated_s"] < 60
    text = say(service, old, "/sc-status")
    assert "Folding: 2 of 8 batches (25 %), about " in text
    assert " left" in text
    service.post(f"/chats/{old}/stop")


def test_failed_batches_are_told(service: Service, model: FakeModel, old: str) -> None:
    """A batch that was given up is counted in the job and in the text; the others go on."""
    service.patch(f"/chats/{old}", {"settings": {"on_refused": "wait"}})
    model.do(answer("Gate 0 is open."), *[refusal(400)] * 3, hang())
    choose(service, old, "all")
    until_seen(lambda: service.status(old)["job"]["progress"]["failed"] == 1)
    assert "1 failed" in say(service, old, "/sc-status")
    service.post(f"/chats/{old}/stop")


def test_estimated_time_after_one_batch(service: Service, old: str) -> None:
    """One batch tells how long the others would take, though nothing runs any more."""
    assert service.status(old)["backlog"]["estimated_s"] is None
    choose(service, old, "one")
    backlog = service.settled(old)["backlog"]
    assert (backlog["turns"], backlog["estimated_calls"]) == (14, 7)
    assert 0 < backlog["estimated_s"] < 60


# A second answer


def test_a_second_answer_joins(service: Service, model: FakeModel, old: str) -> None:
    """However often and whatever is chosen while a job folds all, it is that job, and it folds each batch once."""
    before = len(model.calls)
    model.hold()
    first = choose(service, old, "all")["job"]
    assert [choose(service, old, choice)["job"]["id"] for choice in ("all", "one")] == [first["id"]] * 2
    assert service.post(f"/chats/{old}/summarize").json()["job"]["id"] == first["id"]
    model.wait_for_calls(before + 1)
    assert say(service, old, "/sc-backlog all").startswith("A job is at work already and does this too.")
    model.release()
    assert service.settled(old)["counts"]["ghosted"] == 32
    assert len(model.calls) == before + 8
    assert say(service, old, "/sc-backlog all") == "Nothing to do: no turn outside the window waits to be folded."


def test_one_while_everything_folds_leaves_the_answer(service: Service, model: FakeModel, old: str) -> None:
    """It joins a job that does more, and what is left after an interruption is not folded reply by reply."""
    begun(service, model, old, 1)
    choose(service, old, "one")
    service.post(f"/chats/{old}/stop")
    service.say(old, 20)
    assert service.settled(old)["backlog"]["batches"] == 0


def test_skip_ends_what_folds(service: Service, model: FakeModel, old: str) -> None:
    """The call it still waits for is cut, its answer is not stored, and what is folded stays."""
    begun(service, model, old, 3)
    gone = model.disconnects
    assert choose(service, old, "skip") == {"skipped_turns": 10}
    model.wait_for_disconnects(gone + 1)
    status = service.settled(old)
    assert (status["counts"]["ghosted"], status["counts"]["skipped"], status["backlog"]["turns"]) == (12, 10, 0)
    assert choose(service, old, "all")["job"]["progress"]["total"] == 5
    assert service.settled(old)["counts"]["ghosted"] == 32


def test_a_backlog_that_grows_is_folded_to_its_end(service: Service, model: FakeModel, old: str) -> None:
    """Turns that come in meanwhile raise the total, and the same job folds them."""
    before = len(model.calls)
    model.hold()
    job = choose(service, old, "all")["job"]
    model.wait_for_calls(before + 1)
    service.say(old, *range(20, 30), fold="background")
    assert service.status(old)["job"]["progress"]["total"] == 13
    model.release()
    assert service.settled(old)["counts"]["ghosted"] == 52
    assert service.get(f"/jobs/{job['id']}").json()["progress"] == {
        "done": 13,
        "total": 13,
        "failed": 0,
        "percent": 100,
        "eta_s": None,
    }


# Stop, pause, and chats that do not fold


def test_stop_then_all_goes_on(service: Service, model: FakeModel, old: str) -> None:
    """What is folded stays after a stop; nothing begins by itself, and `all` goes on where it was."""
    begun(service, model, old, 2)
    text = say(service, old, "/sc-stop")
    assert text.startswith("Stopped after 2 of 8 batches; what is folded stays.")
    before = len(model.calls)
    assert (service.settled(old)["counts"]["ghosted"], len(model.calls)) == (8, before)
    assert choose(service, old, "all")["job"]["progress"]["total"] == 6
    assert service.settled(old)["counts"]["ghosted"] == 32


def test_choices_on_a_paused_chat(service: Service, old: str) -> None:
    """An explicit choice is carried out, pause or not; replies fold nothing until the chat is resumed."""
    assert "16 turns over the window wait" in say(service, old, "/sc-pause")
    assert "until /sc-resume" in say(service, old, "/sc-backlog one")
    assert service.settled(old)["counts"]["ghosted"] == 4
    assert service.say(old, 20)["reason"] == "paused"
    assert service.settled(old)["counts"]["ghosted"] == 4
    say(service, old, "/sc-resume")
    assert service.settled(old)["counts"]["ghosted"] == 4
    service.say(old, 21)
    assert service.settled(old)["counts"]["ghosted"] == 8


@pytest.mark.parametrize(
    ("change", "reason", "words"),
    [
        ({"settings": {"enabled": False}}, "disabled", "disabled"),
        ({"strategy": "none"}, "strategy_none", "strategy is none"),
    ],
)
def test_choices_where_nothing_folds(service: Service, old: str, change: Any, reason: str, words: str) -> None:
    """They answer why nothing happens, ask nothing, and leave the question for later."""
    back = {"settings": {"enabled": True}, "strategy": "layered"}
    service.patch(f"/chats/{old}", change)
    assert not service.status(old)["backlog"]["choice_needed"]
    for choice in ("all", "one"):
        assert choose(service, old, choice) == {"job": None, "reason": reason}
    for line in ("/sc-backlog", "/sc-backlog all", "/sc-summarize"):
        assert words in say(service, old, line)
    service.patch(f"/chats/{old}", back)
    assert service.status(old)["backlog"]["choice_needed"]


def test_every_command_says_what_comes_next(service: Service, old: str) -> None:
    """From the question to the end, each answer is a text for a person and the data of the matching call."""
    costs = service.post(f"/chats/{old}/commands", {"command": "/sc-backlog"}).json()
    assert costs["data"] == service.status(old)
    tokens = costs["data"]["backlog"]["estimated_input_tokens"]
    assert costs["text"].splitlines() == [
        "16 turns over the window, 8 batches.",
        f"To fold them all takes about 8 calls to tiny with {tokens:,} input tokens.",
        "Choose:",
        "/sc-backlog all: fold everything outside the window now",
        "/sc-backlog one: fold one batch now, then one more with every reply",
        "/sc-backlog skip: leave these turns as they are; nothing is hidden",
    ]
    assert "8 calls" in say(service, old, "/sc-status")
    assert "Nothing was running." in say(service, old, "/sc-stop")
    assert "one more with every reply" in say(service, old, "/sc-backlog one")
    service.settled(old)
    assert "14 turns stay as they are" in say(service, old, "/sc-backlog skip")
    assert "14 turns skipped before" in say(service, old, "/sc-backlog")
    assert "There is no backlog to skip" in say(service, old, "/sc-backlog skip")
    assert "Folding 7 batches with about 7 calls." in say(service, old, "/sc-backlog all")
    service.settled(old)
    assert "Forgot 8 snippets; 32 messages visible again." in say(service, old, "/sc-clear")
    refused = service.post(f"/chats/{old}/commands", {"command": "/sc-backlog some"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
