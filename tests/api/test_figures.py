"""Figures over HTTP."""

import pytest

from tests.support.service import Service


def test_the_course_of_a_chat(service: Service, chat: str) -> None:
    """As many points as were asked for; the last one says what status says."""
    assert service.get(f"/chats/{chat}/growth").status_code == 404
    service.say(chat, *range(1, 6))
    items = service.get(f"/chats/{chat}/growth?points=3").json()["items"]
    assert [item["index"] for item in items] == [3, 7, 9]
    raw = service.status(chat)["raw_tokens"]
    assert items[-1] == {"index": 9, "turns": 5, "raw_tokens": raw, "memory_tokens": 0, "sent_tokens": raw}


@pytest.mark.parametrize("points", ["1", "1001", "few"])
def test_points_have_bounds(service: Service, chat: str, points: str) -> None:
    """2 to 1000."""
    service.say(chat, 1)
    answer = service.get(f"/chats/{chat}/growth?points={points}")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", "points"])


def test_what_all_chats_cost(service: Service, chat: str) -> None:
    """Each chat counts, with memory or without."""
    before = service.get("/usage").json()["chats"]
    service.say(chat, 1)
    found = service.get("/usage").json()
    assert found == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "chats": before + 1}
