"""Rolling memory through HTTP, with a scripted model: what goes well, and what a turn never notices."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import fake_replies as replies
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running, turn_lines
from tests.support.streams import listening


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    env = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "gpt-4o", "retry_attempts": 1}
    with running(Path(tmp_path_factory.mktemp("rolling")), **env) as service:
        yield service


@pytest.fixture
def chat(service: Service, model: FakeModel, request: pytest.FixtureRequest) -> str:
    """A chat of its own, that folds every turn but the newest."""
    name: str = request.node.name.replace("[", "-").replace("]", "")
    model.forget_script()
    setup(service, name)
    return name


def setup(service: Service, chat: str, **rolling: Any) -> None:
    values = {"trigger_turns": 1, "keep_recent_turns": 1, **rolling}
    answer = service.put(f"/chats/{chat}", {"strategy": "rolling", "settings": {"rolling": values}})
    assert answer.is_success, answer.text


def snippets(service: Service, chat: str, state: str = "live") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.get(f"/chats/{chat}/snippets?state={state}").json()["items"]
    return found


def long_turn(words: int) -> dict[str, Any]:
    said = [
        {"role": "user", "content": "gate " * (words // 2)},
        {"role": "assistant", "content": "gate " * (words // 2)},
    ]
    return {"messages": said}


def test_one_summary_takes_the_place_of_the_last(service: Service, model: FakeModel, chat: str) -> None:
    """One live summary covers all that is folded; those before can be read, and each turn pays for its own."""
    model.say("First.", "Second.", "Third.")
    paid = [service.say(chat, turn)["usage"]["calls"] for turn in range(1, 5)]
    assert paid == [0, 1, 1, 1]
    [live] = snippets(service, chat)
    assert (live["text"], live["covers"]["turns"], live["covers"]["last_index"]) == ("Third.", 3, 5)
    assert [one["text"] for one in snippets(service, chat, "superseded")] == ["First.", "Second."]
    sent = service.get(f"/chats/{chat}/projection").json()["messages"]
    assert "Third." in sent[0]["content"]
    assert [message["content"] for message in sent[1:]] == [
        "Mira asks about gate 4.",
        "Tom opens gate 4 with the brass key.",
    ]


@pytest.mark.parametrize(
    "fault",
    [
        replies.blank(),
        replies.status(503),
        replies.status(401),
        replies.reset(),
        replies.length_stop("Mira asks and"),
        replies.half_stream("Mira asks and"),
        replies.open_think("Mira asks."),
        replies.tool_call(),
        replies.declined("I can't help with that."),
    ],
    ids=["blank", "down", "key", "reset", "length", "half", "thinking", "tool", "declined"],
)
def test_a_turn_never_fails(service: Service, model: FakeModel, chat: str, fault: Any) -> None:
    """Whatever the model does, the reply is stored and the summary stays; the next reply tries again."""
    model.say("First.")
    service.say(chat, 1, 2)
    before = snippets(service, chat)
    with model.only(fault):
        assert service.say(chat, 3)["appended"] == 2
    assert snippets(service, chat) == before
    assert service.status(chat)["counts"]["ghosted"] == 2
    service.post("/connections/default/test")  # ends a cool-down
    model.say("Second.")
    service.say(chat, 4)
    [live] = snippets(service, chat)
    assert (live["text"], live["covers"]["turns"]) == ("Second.", 3)


def test_a_summary_that_is_too_long_is_asked_for_again(service: Service, model: FakeModel, chat: str) -> None:
    """The limit holds: one token over it, it is asked for again; too long again, it is cut and marked."""
    setup(service, chat, max_summary_tokens=16)
    model.say(*(" ".join(f"Gate {number} opens." for number in range(first, first + 9)) for first in (1, 20)))
    calls = service.say(chat, 1, 2)["usage"]["calls"]
    [live] = snippets(service, chat)
    assert (calls, live["degraded"]) == (2, True)
    assert live["tokens"] <= 16


def test_a_turn_too_long_for_the_window_stops_or_is_cut(service: Service, model: FakeModel, chat: str) -> None:
    """It holds all folding up until the chat may cut it; then its middle goes, and the summary is marked."""
    service.post(f"/chats/{chat}/messages", {**long_turn(5000), "fold": "none"})
    stopped = service.say(chat, 1)
    assert (stopped["reason"], stopped["usage"]["calls"]) == ("input_too_large", 0)
    setup(service, chat, oversize="clip")
    model.say("Gates.")
    service.say(chat, 2)
    [live] = snippets(service, chat)
    assert (live["covers"]["turns"], live["degraded"]) == (1, True)
    assert " […] " in model.calls[-1].user


def test_a_backlog_goes_down_by_a_fold_a_reply(service: Service, chat: str) -> None:
    """One fold with each reply; with catch_up as many as it takes, and so where a person asks for it."""
    setup(service, chat, trigger_turns=0, trigger_tokens=1024, keep_recent_turns=3)
    for _ in range(20):
        service.post(f"/chats/{chat}/messages", {**long_turn(400), "fold": "none"})
    assert service.say(chat, 1)["usage"]["calls"] == 1
    assert service.status(chat)["counts"]["ghosted"] == 6
    setup(service, chat, trigger_turns=0, trigger_tokens=1024, keep_recent_turns=3, catch_up=True)
    assert service.say(chat, 2)["usage"]["calls"] == 5
    assert service.status(chat)["counts"]["ghosted"] == 36
    service.post(f"/chats/{chat}/summarize")
    assert service.settled(chat)["counts"]["ghosted"] == 38


def test_more_turns_kept_unfold_nothing(service: Service, chat: str) -> None:
    """After keep_recent_turns is raised, what is folded stays so, and folding waits until more turns are there."""
    service.say(chat, 1, 2, 3)
    setup(service, chat, keep_recent_turns=3)
    assert service.say(chat, 4)["reason"] == "nothing_new_outside_hot_window"
    assert service.status(chat)["counts"]["ghosted"] == 4


def test_what_the_model_is_sent(service: Service, model: FakeModel, chat: str) -> None:
    """A model and sampling of the chat's own go into the call."""
    sampling = {"temperature": 0.1, "top_p": 0.5, "max_tokens": 64}
    setup(service, chat, model_name="gpt-4o-mini", sampling=sampling)
    service.say(chat, 1, 2)
    body = model.calls[-1].body
    assert {key: body[key] for key in ("model", *sampling)} == {"model": "gpt-4o-mini", **sampling}


def test_a_clear_wins_over_a_late_summary(service: Service, model: FakeModel, chat: str) -> None:
    """Memory that is forgotten while the model writes stays forgotten."""
    model.hold()
    service.say(chat, 1, 2, fold="background")
    model.wait_for_calls(len(model.requests) + (not model.at_once))
    assert service.post(f"/chats/{chat}/clear").is_success
    model.release()
    service.settled(chat)
    assert snippets(service, chat) == []


def test_an_append_waits_for_the_fold_it_brings(service: Service, chat: str) -> None:
    """Without a word on `fold` a rolling chat waits: what was folded is ghosted when the answer is there."""
    for turn in (1, 2):
        service.post(f"/chats/{chat}/messages", {"messages": turn_lines(turn)})
    assert service.status(chat)["counts"]["ghosted"] == 2


def test_a_fold_is_an_event_where_that_is_wanted(service: Service, model: FakeModel, chat: str) -> None:
    """Only with notify_client; the fields stand in Tryll's order, the text among them."""
    service.say(chat, 1, 2)
    setup(service, chat, notify_client=True)
    model.say("Second.")
    service.say(chat, 3)
    with listening(f"{service.url}/v1/chats/{chat}/events", 0) as stream:
        told = next(event for event in iter(stream.next, None) if event.kind == "summarized")
    assert list(told.data.items()) == [
        ("covered_through", 1),
        ("folded_turns", 1),
        ("summary_chars", 7),
        ("summary_text", "Second."),
    ]
