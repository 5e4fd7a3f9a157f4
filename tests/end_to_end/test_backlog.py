"""Backlogs over real HTTP, as somebody with an old chat meets them: the question, the choices, and what follows."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status as answer_with
from tests.support.service import Service, running, turn_lines
from tests.support.waiting import until_seen

WINDOW = 4
SETTINGS: dict[str, Any] = {"layered": {"verbatim_turns": WINDOW, "turns_per_batch": 2}}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with served(tmp_path_factory.mktemp("backlog"), model) as service:
        yield service


def served(folder: Path, model: FakeModel) -> Any:
    return running(
        folder,
        llm_provider="openai",
        llm_base_url=model.base_url,
        llm_model="tiny",
        retry_attempts=1,
        breaker_cooldown_s=0.3,
    )


@pytest.fixture
def chat(service: Service, model: FakeModel) -> Iterator[str]:
    """A chat with a small window and nothing in it."""
    name = uuid4().hex
    service.put(f"/chats/{name}", {"settings": SETTINGS})
    yield name
    model.release()
    service.settled(name)
    assert_promises(service.database, name, WINDOW)


@pytest.fixture
def old(service: Service, chat: str) -> str:
    """A chat of 20 turns that came in at once: 16 turns over the window, eight batches."""
    service.say(chat, *range(20))
    return chat


def command(service: Service, chat: str, line: str) -> Any:
    found = service.post(f"/chats/{chat}/commands", {"command": line})
    assert found.status_code == 200, found.text
    return found.json()


def choose(service: Service, chat: str, choice: str) -> Any:
    return service.post(f"/chats/{chat}/backlog", {"choice": choice}).json()


def asked(service: Service, chat: str) -> bool:
    found: bool = service.status(chat)["backlog"]["choice_needed"]
    return found


def folded(service: Service, chat: str) -> int:
    """Turns under snippets, once nothing runs any more."""
    ghosted: int = service.settled(chat)["counts"]["ghosted"]
    return ghosted // 2


# When the question is asked


def _append(service: Service, chat: str, lines: list[Any]) -> None:
    service.post(f"/chats/{chat}/messages", {"messages": lines})


def _append_unfolded(service: Service, chat: str, lines: list[Any]) -> None:
    service.post(f"/chats/{chat}/messages", {"messages": lines, "fold": "none"})


def _sync(service: Service, chat: str, lines: list[Any]) -> None:
    service.put(f"/chats/{chat}/messages", {"messages": lines})


def _import(service: Service, chat: str, lines: list[Any]) -> None:
    service.http.delete(f"/v1/chats/{chat}")
    bare = [{"role": line["role"], "content": line["content"]} for line in lines]
    assert service.http.post(f"/v1/import?chat_id={chat}", content=json.dumps(bare)).status_code == 201
    service.patch(f"/chats/{chat}", {"settings": SETTINGS})


@pytest.mark.parametrize("arrive", [_append, _append_unfolded, _sync, _import])
def test_an_old_chat_waits_however_it_comes_in(
    service: Service, model: FakeModel, chat: str, arrive: Callable[[Service, str, list[Any]], None]
) -> None:
    """It says what folding would take, and calls no model until somebody has chosen, more messages or not."""
    before = len(model.calls)
    arrive(service, chat, [line for turn in range(20) for line in turn_lines(turn)])
    backlog = service.status(chat)["backlog"]
    assert (backlog["turns"], backlog["batches"], backlog["estimated_calls"]) == (16, 8, 8)
    assert backlog["estimated_input_tokens"] > 8 * 300
    assert (backlog["estimated_s"], backlog["choice_needed"]) == (None, True)
    assert service.say(chat, 20)["reason"] == "choice_needed"
    assert (folded(service, chat), len(model.calls)) == (0, before)


def test_few_turns_are_no_backlog(service: Service, chat: str) -> None:
    """Up to max(2 x turns_per_batch, flush_turns + turns_per_batch) turns over the window fold without a word."""
    service.say(chat, *range(WINDOW + 4))
    assert (folded(service, chat), asked(service, chat)) == (4, False)


def test_on_backlog_all_never_asks(service: Service, chat: str) -> None:
    """Where the settings say so everything folds at once."""
    service.patch(f"/chats/{chat}", {"settings": {"on_backlog": "all"}})
    service.say(chat, *range(20))
    assert folded(service, chat) == 16


def _pause(service: Service, chat: str) -> None:
    service.post(f"/chats/{chat}/pause")
    for turn in range(20):
        service.say(chat, turn)
    assert not asked(service, chat)
    service.post(f"/chats/{chat}/resume")


def _clear(service: Service, chat: str) -> None:
    service.say(chat, *range(20))
    command(service, chat, "/sc-summarize")
    service.settled(chat)
    service.post(f"/chats/{chat}/clear")
    assert not asked(service, chat)
    service.say(chat, 20)


def _deletion(service: Service, chat: str) -> None:
    service.say(chat, *range(20))
    command(service, chat, "/sc-summarize")
    service.settled(chat)
    for snippet in service.get(f"/chats/{chat}/snippets").json()["items"]:
        service.http.delete(f"/v1/chats/{chat}/snippets/{snippet['id']}")
    assert not asked(service, chat)
    service.say(chat, 20)


def _settings(service: Service, chat: str) -> None:
    service.patch(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": 100}}})
    service.say(chat, *range(20))
    service.patch(f"/chats/{chat}", {"settings": SETTINGS})
    assert not asked(service, chat)
    service.say(chat, 20)


def _server_settings(service: Service, chat: str) -> None:
    service.patch("/settings", {"layered": {"verbatim_turns": 100}})
    service.patch(f"/chats/{chat}", {"settings": {"layered": {"verbatim_turns": None}}})
    service.say(chat, *range(20))
    service.patch("/settings", {"layered": {"verbatim_turns": WINDOW}})
    assert not asked(service, chat)
    service.say(chat, 20)
    service.patch("/settings", {"layered": {"verbatim_turns": None}})
    service.patch(f"/chats/{chat}", {"settings": SETTINGS})


@pytest.mark.parametrize("happen", [_pause, _clear, _deletion, _settings, _server_settings])
def test_what_is_no_old_chat_is_never_asked_about(
    service: Service, chat: str, happen: Callable[[Service, str], None]
) -> None:
    """After a pause, a clear, a deletion or new settings folding goes on by itself."""
    happen(service, chat)
    assert not asked(service, chat)
    assert folded(service, chat) >= 16


def test_nobody_is_asked_after_an_outage(service: Service, model: FakeModel, chat: str) -> None:
    """What piled up behind a model that did not answer is folded by itself when it does, all of it."""
    with model.only(answer_with(503)):
        for turn in range(20):
            service.say(chat, turn)
        status = service.status(chat)
        assert (status["counts"]["ghosted"], status["backlog"]["batches"]) == (0, 8)
        assert status["last_error"]["connection"] == "default"
        assert not status["backlog"]["choice_needed"]
    until_seen(lambda: service.status(chat)["counts"]["ghosted"] == 32)


def test_a_branch_of_a_chat_that_folds_is_not_asked_about(service: Service, old: str) -> None:
    """A fork takes the answer along, also where it takes no snippet along."""
    choose(service, old, "one")
    assert folded(service, old) == 2
    assert service.post(f"/chats/{old}/fork", {"id": f"{old}-b", "at_message_id": "a13"}).status_code == 201
    assert not asked(service, f"{old}-b")


def test_a_restart_asks_nobody_anew(model: FakeModel, tmp_path: Path) -> None:
    """A chat that waited goes on waiting; one that was answered goes on as it was told."""
    with served(tmp_path, model) as service:
        for chat in ("waits", "answered"):
            service.put(f"/chats/{chat}", {"settings": SETTINGS})
            service.say(chat, *range(20))
        choose(service, "answered", "one")
        service.settled("answered")
    with served(tmp_path, model) as service:
        assert (asked(service, "waits"), asked(service, "answered")) == (True, False)
        service.say("answered", 20)
        assert (folded(service, "waits"), folded(service, "answered")) == (0, 4)


# What the answers do


def test_one_batch_now_and_one_with_every_reply(service: Service, old: str) -> None:
    """What a person says alone brings none, a reply brings one; nobody is asked again, and at last all is folded."""
    assert choose(service, old, "one")["job"]["progress"]["total"] == 1
    assert folded(service, old) == 2
    question, reply = turn_lines(20)
    waits = service.post(f"/chats/{old}/messages", {"messages": [question], "fold": "wait"}).json()
    assert (waits["job_id"], waits["reason"], folded(service, old)) == (None, "waiting_for_reply", 2)
    _sync_more(service, old, [reply])
    assert folded(service, old) == 4
    _sync_more(service, old, [])
    assert (folded(service, old), asked(service, old)) == (4, False)
    service.say(old, 21)
    assert folded(service, old) == 6
    for turn in range(22, 40):
        service.say(old, turn)
    assert (service.settled(old)["backlog"]["batches"], asked(service, old)) == (0, False)


def _sync_more(service: Service, chat: str, lines: list[Any]) -> None:
    known = service.get(f"/chats/{chat}/messages", params={"limit": 1000}).json()["items"]
    history = [{name: line[name] for name in ("id", "role", "content")} for line in (*known, *lines)]
    assert service.put(f"/chats/{chat}/messages", {"messages": history}).status_code == 200


def test_skipped_turns_stay_until_all_takes_them_up(service: Service, old: str) -> None:
    """They stay visible and count as skipped, later turns fold; `all` folds them, and memory tells all in order."""
    assert choose(service, old, "skip") == {"skipped_turns": 16}
    for turn in range(20, 26):
        service.say(old, turn)
    status = service.settled(old)
    counts = status["counts"]
    assert (counts["skipped"], counts["hidden"], counts["ghosted"], counts["visible"]) == (16, 0, 12, 40)
    assert (status["backlog"]["turns"], status["backlog"]["choice_needed"]) == (0, False)
    sent = service.get(f"/chats/{old}/projection", params={"names": "none"}).json()["messages"]
    assert [line["content"] for line in sent[1:33]] == [line["content"] for t in range(16) for line in turn_lines(t)]
    choose(service, old, "all")
    assert folded(service, old) == 22
    assert service.status(old)["counts"]["skipped"] == 0
    first = [item["covers"]["first_index"] for item in service.get(f"/chats/{old}/snippets").json()["items"]]
    assert first == sorted(first)
