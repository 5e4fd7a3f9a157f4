"""Searching over HTTP."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.service import Service

FIELDS = {"kind", "message_id", "snippet_id", "index", "excerpt", "score"}


@pytest.fixture(scope="module")
def story(service: Service) -> str:
    """A chat of ten turns, all but the newest folded, and a message in five scripts."""
    layered = {"verbatim_turns": 1, "turns_per_batch": 1}
    service.put("/chats/story", {"settings": {"on_backlog": "all", "layered": layered}})
    service.say("story", *range(1, 11))
    said = "我们去东京了。今日は猫が好きです。ที่หน้าประตูบ้าน 학교에서 Un café à Genève"
    service.post("/chats/story/messages", {"messages": [{"id": "scripts", "role": "user", "content": said}]})
    return "story"


def search(service: Service, chat: str, q: str, **query: Any) -> list[dict[str, Any]]:
    """The items of a good answer."""
    answer = service.get(f"/chats/{chat}/search", params={"q": q, **query})
    assert answer.status_code == 200, answer.text
    assert answer.json()["next_cursor"] is None
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_hits_have_the_fields_of_the_contract(service: Service, story: str) -> None:
    """Messages and snippets are found, best first, each with an excerpt around the words."""
    hits = search(service, story, "brass gate 3")
    assert {hit["kind"] for hit in hits} == {"message", "snippet"}
    assert all(hit.keys() == FIELDS for hit in hits)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert "gate 3 with the brass key" in hits[0]["excerpt"]


def test_a_hit_leads_up_and_down(service: Service, story: str) -> None:
    """One call leads from a message to the snippet over it, and from a snippet to the messages under it."""
    hits = search(service, story, "brass")
    messages = {hit["message_id"]: hit for hit in hits if hit["kind"] == "message"}
    snippets = [hit for hit in hits if hit["kind"] == "snippet"]
    assert len(messages) == 10
    assert snippets
    for message_id, hit in messages.items():
        message = service.get(f"/chats/{story}/messages/{message_id}").json()
        assert (message["index"], message["snippet_id"]) == (hit["index"], hit["snippet_id"])
        if hit["snippet_id"]:
            assert service.get(f"/chats/{story}/snippets/{hit['snippet_id']}").status_code == 200
    assert messages["a10"]["snippet_id"] is None
    for hit in snippets:
        under = service.get(f"/chats/{story}/snippets/{hit['snippet_id']}/messages").json()["items"]
        assert under[0]["index"] == hit["index"]


@pytest.mark.parametrize("q", ["东京", "东", "猫", "好き", "ประตู", "학교", "cafe geneve", "GENÈVE", '"un café"'])
def test_every_script_is_found(service: Service, story: str, q: str) -> None:
    """Words of one and two characters in scripts without spaces are found, and so are words without their accents."""
    assert [hit["message_id"] for hit in search(service, story, q)] == ["scripts"]


def test_a_limit_and_nothing(service: Service, story: str) -> None:
    """No more than `limit` hits; what holds no word finds nothing."""
    assert search(service, story, "gate", limit=3) == search(service, story, "gate")[:3]
    assert search(service, story, "🐉") == search(service, story, "nowhere") == []


def test_an_edit_is_found_at_once(service: Service, chat: str) -> None:
    """After a change the new words are found and the old ones are not; after a deletion neither is."""
    service.post(f"/chats/{chat}/messages", {"messages": [{"id": "m", "role": "user", "content": "old words"}]})
    assert search(service, chat, "old")
    assert service.patch(f"/chats/{chat}/messages/m", {"content": "new words"}).status_code == 200
    assert search(service, chat, "old") == []
    assert [hit["message_id"] for hit in search(service, chat, "new")] == ["m"]
    assert service.http.delete(f"/v1/chats/{chat}/messages/m").is_success
    assert search(service, chat, "words") == []


@pytest.mark.parametrize(
    "query",
    [{}, {"q": ""}, {"q": " \n"}, {"q": "a\0"}, {"q": "x" * 501}, {"q": "x", "limit": 0}, {"q": "x", "limit": 1001}],
)
def test_bad_queries_are_refused(service: Service, story: str, query: dict[str, Any]) -> None:
    """No words, too many of them and a limit out of range are a 422 that names the place and not the value."""
    answer = service.get(f"/chats/{story}/search", params=query)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["errors"][0]["loc"] in (["query", "q"], ["query", "limit"])
    assert "xxx" not in answer.text


def test_an_unknown_chat_is_not_found(service: Service, chat: str) -> None:
    """There must be a chat."""
    answer = service.get(f"/chats/{chat}/search", params={"q": "gate"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


QUERIES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=100)
SIGNS = st.lists(st.sampled_from([*"\"'*^():-+%_ 东é", "AND", "NOT", "NEAR(", "gate"]), min_size=1).map(" ".join)


@given(QUERIES | SIGNS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_query_is_an_error(service: Service, story: str, q: str) -> None:
    """Any text is answered with hits, or refused for being blank or too long."""
    answer = service.get(f"/chats/{story}/search", params={"q": q})
    assert answer.status_code == (200 if q.strip() and len(q) <= 500 else 422), answer.text
