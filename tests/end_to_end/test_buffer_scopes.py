"""The scopes of a summary buffer: sessions with a memory of their own, and memory of one call."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.buffer import BufferChat, buffering, codes, said
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import hang, status
from tests.support.service import Service, turn_lines
from tests.support.waiting import until_seen

_numbers = count(1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, FakeModel]]:
    with buffering(tmp_path_factory.mktemp("scopes")) as server:
        yield server


@pytest.fixture
def sessions(server: tuple[Service, FakeModel]) -> BufferChat:
    """A chat with a system prompt of its own, whose memory is kept session by session."""
    chat = BufferChat(*server, f"chat-{next(_numbers)}", scope="session", expose_messages_output=True)
    system = {"role": "system", "content": "You are Tom."}
    chat.service.post(f"{chat.path}/messages", {"messages": [system]})
    return chat


@pytest.fixture
def call(server: tuple[Service, FakeModel]) -> BufferChat:
    """A chat whose memory is that of one call."""
    return BufferChat(*server, f"chat-{next(_numbers)}", scope="call", expose_error_output=True)


def lines(*turns: int) -> list[dict[str, str]]:
    """Messages of a request: these turns, and a question."""
    told = [{"role": line["role"], "content": line["content"]} for turn in turns for line in turn_lines(turn)]
    return [*told, {"role": "user", "content": "And now?"}]


def rows(chat: BufferChat, query: str) -> list[Any]:
    with sqlite3.connect(chat.service.database) as database:
        return database.execute(query).fetchall()


def test_a_session_has_messages_and_a_summary_of_its_own(sessions: BufferChat) -> None:
    """What one session says and remembers no other one knows, nor the chat."""
    sessions.say(*range(1, 11), session_id="dinner")
    sessions.say(20, session_id="lunch")
    dinner, lunch = sessions.ask(session_id="dinner"), sessions.ask(session_id="lunch")
    assert (dinner["memory"]["snippets"], len(said(dinner)), codes(dinner)) == (1, 6, [])
    assert (lunch["memory"]["text"], said(lunch)) == ("", [line["content"] for line in turn_lines(20)])
    assert [one["id"] for one in lunch["stored_messages"]] == ["u20", "a20"]
    assert sessions.counts() == (0, 1)
    assert len(sessions.calls) == 1
    sessions.say(11, session_id="dinner")
    assert said(sessions.ask(session_id="dinner"))[-1] == "Tom opens gate 11 with the brass key."


def test_a_session_follows_its_chat(sessions: BufferChat) -> None:
    """System prompt, names, settings and views are the chat's, as they are now."""
    sessions.say(1, 2, session_id="dinner")
    sessions.service.put(f"{sessions.path}/views/reply", {"system_prompt": "Be brief."})
    prompt = sessions.ask(session_id="dinner", view="reply")
    assert prompt["messages"][0]["content"] == "Be brief.\n\nYou are Tom."
    sessions.change(max_messages_before_summary=4, recent_messages_to_keep=2)
    sessions.service.patch(sessions.path, {"user_name": "Ada"})
    sessions.ask(session_id="dinner", names="prefix")
    assert len(sessions.calls) == 1
    assert "Ada: Mira asks about gate 1." in sessions.calls[0].user


def test_sessions_are_in_no_list(sessions: BufferChat) -> None:
    """No list of chats, check or export knows of them, and no route reaches them by name."""
    sessions.say(1, session_id="dinner")
    shown = sessions.service.get("/chats?limit=1000").json()["items"]
    assert not [chat["id"] for chat in shown if "session" in chat["id"]]
    assert sessions.service.get(f"{sessions.path}%2Fsession%2Fdinner/status").status_code in (404, 422)
    assert "gate 1" not in sessions.service.get(f"{sessions.path}/export").text
    assert sessions.service.get(f"{sessions.path}/messages").json()["items"][0]["content"] == "You are Tom."


def test_a_session_is_forgotten_on_request(sessions: BufferChat) -> None:
    """DELETE takes its messages and its summary; then it is unknown, and may begin anew."""
    sessions.say(*range(1, 11), session_id="dinner")
    sessions.ask(session_id="dinner")
    path = f"{sessions.path}/sessions/dinner"
    assert sessions.service.http.delete(f"/v1{path}").status_code == 204
    assert sessions.service.http.delete(f"/v1{path}").status_code == 404
    prompt = sessions.ask(session_id="dinner")
    assert (prompt["memory"]["text"], said(prompt)) == ("", [])


def test_a_session_that_is_forgotten_during_its_fold(sessions: BufferChat) -> None:
    """Who waits for it is told so, by the names that the request had."""
    sessions.say(*range(1, 11), session_id="dinner")
    sessions.model.hold()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(sessions.service.post, f"{sessions.path}/projection", {"session_id": "dinner"})
        sessions.called()
        assert sessions.service.http.delete(f"/v1{sessions.path}/sessions/dinner").status_code == 204
        answer = asked.result(10)
    sessions.model.release()
    detail = f"Session 'dinner' of chat '{sessions.id}' was forgotten meanwhile; it may begin anew."
    assert (answer.status_code, answer.json()["detail"]) == (404, detail)


def test_what_sessions_cost_and_meet_shows_on_the_chat(sessions: BufferChat) -> None:
    """The chat's status counts their calls and says why their last fold failed, until one succeeds."""
    sessions.say(*range(1, 11), session_id="dinner")
    sessions.model.do(status(500))
    assert codes(sessions.ask(session_id="dinner")) == ["fold_failed"]
    seen = sessions.service.status(sessions.id)
    assert (seen["summarizer_usage"]["calls"], seen["last_error"]["status"]) == (1, 500)
    assert codes(sessions.ask(session_id="dinner")) == []
    seen = sessions.service.status(sessions.id)
    assert (seen["summarizer_usage"]["calls"], seen["last_error"]) == (2, None)
    assert seen["summarizer_usage"]["completion_tokens"] > 0


def test_a_bad_request_begins_no_session(sessions: BufferChat) -> None:
    """What cannot be answered is refused before anything is stored."""
    bad = {"context_size": 100, "max_tokens": 200, "session_id": "dinner"}
    assert sessions.service.post(f"{sessions.path}/projection", bad).status_code == 422
    assert rows(sessions, f"SELECT key FROM chats WHERE id = '{sessions.id}/session/dinner'") == []


def test_a_long_system_prompt_is_whole(sessions: BufferChat) -> None:
    """However many messages the chat begins with, its sessions have them all, and nothing of what follows."""
    more = [{"role": "system", "content": f"Rule {number}."} for number in range(40)]
    sessions.service.post(f"{sessions.path}/messages", {"messages": [*more, *lines(1)]})
    [system, *_] = sessions.ask(session_id="dinner")["messages"]
    assert system["content"].split("\n\n") == ["You are Tom.", *(line["content"] for line in more)]


def test_a_session_is_forgotten_by_itself(sessions: BufferChat) -> None:
    """After 30 idle minutes it is gone: not served any more, then deleted."""
    sessions.say(1, session_id="dinner")
    sessions.say(2, session_id="lunch")
    name = f"{sessions.id}/session"
    rows(sessions, f"UPDATE chats SET used_at = used_at - 1800001 WHERE id = '{name}/dinner'")
    assert said(sessions.ask(session_id="dinner")) == []
    rows(sessions, f"UPDATE chats SET used_at = used_at - 1800001 WHERE id = '{name}/lunch'")
    until_seen(lambda: not rows(sessions, f"SELECT key FROM chats WHERE id = '{name}/lunch'"))


def test_sessions_go_with_their_chat(sessions: BufferChat) -> None:
    """Deleting a chat deletes its sessions."""
    sessions.say(1, session_id="dinner")
    sessions.service.http.delete(f"/v1{sessions.path}")
    assert rows(sessions, f"SELECT key FROM chats WHERE id LIKE '{sessions.id}/%'") == []


def test_without_a_session_it_is_one_of_that_call(sessions: BufferChat) -> None:
    """A request that names none has a memory of that call alone, and is told so."""
    prompt = sessions.ask(current=lines(*range(1, 11)))
    assert codes(prompt) == ["session_missing"]
    assert (prompt["memory"]["version"], len(said(prompt))) == (0, 7)
    assert sessions.counts() == (0, 1)


def test_a_session_means_nothing_elsewhere(sessions: BufferChat) -> None:
    """With the scope `thread`, or another strategy, a session's id changes nothing."""
    sessions.change(scope="thread")
    sessions.say(1, session_id="dinner")
    assert (len(said(sessions.ask(session_id="lunch"))), sessions.counts()) == (2, (0, 3))
    sessions.service.patch(sessions.path, {"strategy": "layered"})
    assert len(said(sessions.ask(session_id="lunch"))) == 2


def test_a_call_is_summarized_for_itself(call: BufferChat) -> None:
    """The threshold counts what the request brings alone (M8); nothing is kept but what it cost."""
    call.say(*range(50, 60))
    assert len(said(call.ask(current=lines(1, 2)))) == 25
    call.model.say("Mira passes gates 1 to 8.")
    prompt = call.ask(current=lines(*range(1, 11)))
    assert (len(said(prompt)), said(prompt)[-1]) == (20 + 7, "And now?")
    assert "Mira passes gates 1 to 8." in prompt["memory"]["text"]
    assert (prompt["memory"]["version"], prompt["memory"]["covered_through"]) == (0, None)
    assert "gate 7" in call.calls[0].user
    assert "gate 50" not in call.calls[0].user
    assert call.counts() == (0, 20)
    assert call.service.get(f"{call.path}/snippets?state=all").json()["items"] == []
    assert call.service.status(call.id)["summarizer_usage"]["calls"] == 1
    assert call.ask()["memory"]["text"] == ""


def test_a_call_of_closed_turns_alone(call: BufferChat) -> None:
    """With nothing to keep, all that was answered is summarized, and the prompt is the summary."""
    call.change(recent_messages_to_keep=0)
    prompt = call.ask(current=lines(*range(1, 11))[:-1])
    assert (said(prompt), len(prompt["messages"]), prompt["memory"]["snippets"]) == ([], 1, 1)
    prompt = call.ask(current=lines(*range(1, 11)), format="anthropic", frame={"template": "Rain."})
    assert [message["role"] for message in prompt["messages"]] == ["user"]


def test_a_call_whose_model_hangs(call: BufferChat) -> None:
    """It is sent as it is at the limit, and the next one does not wait."""
    call.change(timeout_s=0.3)
    call.model.do(hang())
    prompt = call.ask(current=lines(*range(1, 11)))
    assert (codes(prompt), len(said(prompt)), prompt["skipped"]["reason"]) == (["fold_failed"], 21, "cancelled")
    call.left()
    assert codes(call.ask(current=lines(*range(1, 11)))) == ["fold_failed"]
    assert len(call.calls) == 1


def test_a_call_whose_model_fails(call: BufferChat) -> None:
    """It is sent as it is, with the reason; the next one tries again."""
    call.model.do(status(500))
    prompt = call.ask(current=lines(*range(1, 11)))
    assert (codes(prompt), len(said(prompt)), prompt["error"]["status"]) == (["fold_failed"], 21, 500)
    assert codes(call.ask(current=lines(*range(1, 11)))) == []


def test_a_call_without_a_connection(tmp_path: Path) -> None:
    """A connection that does not exist is a warning here too."""
    with buffering(tmp_path) as server:
        chat = BufferChat(*server, scope="call", llm_source="external", connection="gone")
        assert codes(chat.ask(current=lines(*range(1, 11)))) == ["fold_failed"]
