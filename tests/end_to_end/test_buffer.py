"""A summary buffer folds before the answer, over real HTTP: when, how much, and for whom."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.buffer import BufferChat, buffering, codes, said
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import status
from tests.support.service import Service, turn_lines

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "buffer.json").read_text())["cases"]
_numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, FakeModel]]:
    with buffering(tmp_path_factory.mktemp("buffer")) as server:
        yield server


@pytest.fixture
def chat(server: tuple[Service, FakeModel]) -> BufferChat:
    return BufferChat(*server, f"chat-{next(_numbers)}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_worked_examples(chat: BufferChat, case: dict[str, Any]) -> None:
    """Folds come before the turns, and take and keep the messages, that the worked examples say."""
    chat.change(recent_messages_to_keep=case.get("keep", 6))
    folds, ghosted = [], 0
    for turn in range(1, case["turns"] + 1):
        fails = turn in case.get("fail", ())
        if fails:
            chat.model.do(status(500))
        prompt = chat.ask(current=[{"role": "user", "content": "And now?"}])
        assert codes(prompt) == (["fold_failed"] if fails else [])
        stored, kept = 2 * (turn - 1) - ghosted, len(said(prompt)) - 1
        if kept != stored:
            folds.append({"turn": turn, "stored": stored, "folded": stored - kept, "kept": kept})
        ghosted += stored - kept
        chat.say(turn)
    assert folds == case["folds"]


def test_a_history_that_was_overwritten(chat: BufferChat) -> None:
    """A reset clears the summary and tells of it; with 30 messages the next answer waits for a fold of 24 (M7)."""
    chat.say(*range(1, 11))
    assert chat.ask()["memory"]["snippets"] == 1
    fresh = [line for turn in range(1, 16) for line in turn_lines(turn + 100)]
    answer = chat.service.put(f"{chat.path}/messages", {"messages": fresh, "reset": True})
    assert answer.status_code == 200, answer.text
    assert chat.service.get(f"{chat.path}/snippets?state=all").json()["items"] == []
    assert chat.counts() == (0, 30)
    assert chat.ask()["memory"]["covered_through"]["index"] == 23
    assert chat.counts() == (24, 6)


def test_the_prompt_tells_the_summary_behind_the_system_prompt(chat: BufferChat) -> None:
    """The summary is a message of its own, and the previous one is extended by the next."""
    chat.say(*range(1, 11))
    chat.model.say("Mira passes gates 1 to 7.", "Mira passes gates 1 to 14.")
    prompt = chat.ask(system_prompt="You are Tom.")
    assert [message["role"] for message in prompt["messages"][:3]] == ["system", "system", "user"]
    assert "Mira passes gates 1 to 7." in prompt["messages"][1]["content"]
    chat.say(*range(11, 18))
    assert "gates 1 to 14." in chat.ask()["memory"]["text"]
    assert "Mira passes gates 1 to 7." in chat.calls[-1].user
    assert "gate 7." not in chat.calls[-1].user.replace("gates 1 to 7.", "")


def test_reading_changes_nothing(chat: BufferChat) -> None:
    """A GET at the threshold calls no model and folds nothing, and an append queues nothing."""
    assert chat.say(*range(1, 11))["reason"] == "folds_before_the_answer"
    prompt = chat.service.get(f"{chat.path}/projection").json()
    assert (prompt["memory"]["text"], len(said(prompt)), codes(prompt)) == ("", 20, [])
    assert (chat.counts(), len(chat.calls)) == ((0, 20), 0)


def test_two_requests_wait_for_one_fold(chat: BufferChat) -> None:
    """Requests at the same time share one fold and its summary."""
    chat.say(*range(1, 11))
    chat.model.hold()
    with chat.asking(3) as asked:
        chat.called()
        chat.model.release()
    prompts = [one.result() for one in asked]
    assert len(chat.calls) == 1
    assert len({prompt["memory"]["text"] for prompt in prompts}) == 1
    assert all(len(said(prompt)) == 6 and not codes(prompt) for prompt in prompts)


def test_an_edit_during_the_fold_is_told(chat: BufferChat) -> None:
    """A summary of an edited message is dropped, and made anew from what the message says now."""
    chat.say(*range(1, 11))
    chat.model.hold()
    with chat.asking() as [asked]:
        chat.called()
        edited = chat.service.patch(f"{chat.path}/messages/u2", {"content": "Mira asks about the well."})
        assert edited.status_code == 200
        chat.model.release()
    assert codes(asked.result()) == []
    assert len(chat.calls) == 2
    assert "the well" in chat.calls[-1].user
    assert chat.counts() == (14, 6)


def test_messages_that_come_during_the_fold_stay(chat: BufferChat) -> None:
    """What is appended meanwhile is sent word for word, and waits for a fold of its own."""
    chat.say(*range(1, 11))
    chat.model.hold()
    with chat.asking() as [asked]:
        chat.called()
        chat.say(11)
        chat.model.release()
    assert said(asked.result())[-1] == "Tom opens gate 11 with the brass key."
    assert chat.counts() == (14, 8)


def test_a_call_is_not_parted_from_its_result(chat: BufferChat) -> None:
    """Where the cut would fall between a call and its result it moves back."""
    chat.change(max_messages_before_summary=8, recent_messages_to_keep=2)
    chat.say(1, 2)
    tool = {"id": "call-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    lines = [
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": None, "tool_calls": [tool]},
        {"role": "tool", "content": "A well.", "tool_call_id": "call-1"},
        {"role": "assistant", "content": "There is a well."},
    ]
    chat.service.post(f"{chat.path}/messages", {"messages": lines})
    prompt = chat.ask()
    assert chat.counts() == (4, 4)
    assert [message["role"] for message in prompt["messages"][1:]] == ["user", "assistant", "tool", "assistant"]


def test_a_first_fold_that_is_too_large_comes_in_chunks(chat: BufferChat) -> None:
    """What does not fit the model's window is folded in several calls before one answer."""
    wire = {"provider": "openai", "base_url": chat.model.base_url, "model": "small", "context_size": 1400}
    chat.service.put("/connections/small", wire)
    chat.change(llm_source="external", connection="small", max_summary_tokens=64)
    chat.say(*range(1, 101), fold="none")
    prompt = chat.ask()
    made = chat.calls
    assert (len(made) > 1, codes(prompt), chat.counts()) == (True, [], (194, 6))
    assert all("(answer" in later.user for later in made[1:])


def test_an_external_model_writes_the_summaries(chat: BufferChat) -> None:
    """`external` asks the named connection; without one it is refused at once."""
    refused = chat.service.patch(chat.path, {"settings": {"summary_buffer": {"llm_source": "external"}}})
    assert refused.status_code == 422
    with FakeModel(lambda _: "The other model tells of gates.") as other:
        chat.service.put("/connections/other", {"provider": "openai", "base_url": other.base_url, "model": "m"})
        chat.change(llm_source="external", connection="other")
        chat.say(*range(1, 11))
        assert "The other model tells of gates." in chat.ask()["memory"]["text"]
        assert len(other.calls) == 1


def test_exceed_waits_for_one_message_more(chat: BufferChat) -> None:
    """`exceed` folds at 22 of 20 messages, `reach` at 20."""
    chat.change(compare="exceed")
    chat.say(*range(1, 11))
    assert chat.ask()["memory"]["text"] == ""
    chat.say(11)
    chat.ask()
    assert chat.counts() == (16, 6)


@pytest.mark.parametrize("settings", [{"paused": True}, {"enabled": False}])
def test_a_pause_folds_nothing(chat: BufferChat, settings: dict[str, bool]) -> None:
    """Paused or switched off, answers get the history as it is, without a warning."""
    chat.service.patch(chat.path, {"settings": settings})
    chat.say(*range(1, 11))
    prompt = chat.ask()
    assert (len(said(prompt)), codes(prompt), chat.counts()) == (20, [], (0, 20))


def test_stored_messages_are_shown_where_that_is_on(chat: BufferChat) -> None:
    """`expose_messages_output` adds the visible messages that no summary covers; else they are null."""
    chat.say(*range(1, 11))
    assert chat.ask()["stored_messages"] is None
    chat.change(expose_messages_output=True)
    shown = chat.ask()["stored_messages"]
    assert [one["id"] for one in shown] == ["u8", "a8", "u9", "a9", "u10", "a10"]
    assert shown[0] == {"id": "u8", "role": "user", "name": None, "content": "Mira asks about gate 8."}


def test_a_bad_request_folds_nothing(chat: BufferChat) -> None:
    """A request that cannot be answered is refused before any model is called."""
    chat.say(*range(1, 11))
    answer = chat.service.post(f"{chat.path}/projection", {"context_size": 100, "max_tokens": 200})
    assert (answer.status_code, len(chat.calls), chat.counts()) == (422, 0, (0, 20))
