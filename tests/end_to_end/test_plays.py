"""Two real plays, imported whole, with the built-in summarizer."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.checks import assert_promises
from tests.support.plays import play_file
from tests.support.service import Service, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("plays")) as service:
        yield service


@pytest.fixture(scope="module")
def folded(service: Service) -> dict[str, Any]:
    """The status of the long play, `play`, after all of it that was to fold has folded."""
    imported = _imported(service, "play-group-chat.jsonl", "play")
    assert (imported["messages"], imported["warnings"]) == (1100, [])
    assert service.status("play")["backlog"]["choice_needed"]
    assert service.post("/chats/play/backlog", {"choice": "all"}).status_code == 202
    return service.settled("play", 200)


def _imported(service: Service, name: str, chat: str) -> dict[str, Any]:
    with play_file(name).open("rb") as file:
        answer = service.http.post(f"/v1/import?chat_id={chat}", content=file.read())
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_long_play_folds_completely(service: Service, folded: dict[str, Any]) -> None:
    """1,100 speeches fold into a memory of bounded size, and the newest turns stay word for word."""
    assert folded["backlog"]["batches"] == 0
    assert sum(layer["snippets"] for layer in folded["layers"]) <= 30 * 5
    assert folded["memory_tokens"] <= 16_000
    assert_promises(service.database, "play")
    projection = service.get("/chats/play/projection", params={"names": "none"}).json()
    newest = service.get("/chats/play/messages", params={"state": "visible", "limit": 1000}).json()["items"]
    assert [m["content"] for m in projection["messages"][1:]] == [m["content"] for m in newest]
    assert 10 <= projection["window"]["turns"] < 13
    assert projection["messages"][0]["content"].endswith(service.get("/chats/play/preview").json()["text"])


def test_every_message_is_one_step_below_its_snippet(service: Service, folded: dict[str, Any]) -> None:
    """From the live snippets one reaches every ghosted message of the play, each exactly once."""
    seen: list[int] = []
    for snippet in service.get("/chats/play/snippets", params={"limit": 1000}).json()["items"]:
        under = service.get(f"/chats/play/snippets/{snippet['id']}/messages", params={"limit": 1000}).json()
        assert under["next_cursor"] is None
        seen += [message["index"] for message in under["items"]]
    assert seen == list(range(folded["counts"]["ghosted"]))


def test_the_openai_play_comes_in_whole(service: Service) -> None:
    """900 messages with names; with no memory yet the projection is the plain history."""
    assert _imported(service, "play-openai.json", "openai")["messages"] == 900
    projection = service.get("/chats/openai/projection", params={"names": "none"}).json()
    items = []
    cursor = None
    while True:
        page = service.get(
            "/chats/openai/messages", params={"limit": 1000, **({"cursor": cursor} if cursor else {})}
        ).json()
        items += page["items"]
        if (cursor := page["next_cursor"]) is None:
            break
    assert [(m["role"], m["content"]) for m in projection["messages"]] == [(m["role"], m["content"]) for m in items]
