"""Snippets over HTTP."""

from typing import Any

import pytest

from tests.support.service import Service

FIELDS = (
    "id strategy layer position text tokens source_tokens kind state parent_id children covers stale degraded"
    " connection model usage created_at edited_at"
)


@pytest.fixture(scope="module")
def layers(service: Service) -> str:
    """A chat with two layers: 9 snippets made, merged by two, three in a layer at most."""
    layered = {
        "verbatim_turns": 1,
        "turns_per_batch": 1,
        "snippets_per_layer": 3,
        "snippets_per_promotion": 2,
        "max_layers": 3,
    }
    service.put("/chats/layers", {"settings": {"on_backlog": "all", "layered": layered}})
    service.say("layers", *range(1, 11))
    return "layers"


def listed(service: Service, chat: str, **query: Any) -> list[dict[str, Any]]:
    """The items of a good list."""
    answer = service.get(f"/chats/{chat}/snippets", params=query)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_live_snippets_come_in_reading_order(service: Service, layers: str) -> None:
    """Deepest layer first, oldest first: their ranges ascend and cover all that is ghosted."""
    found = listed(service, layers)
    covered = [(snippet["covers"]["first_index"], snippet["covers"]["last_index"]) for snippet in found]
    assert covered == sorted(covered)
    assert (covered[0][0], covered[-1][1]) == (0, 17)
    assert sum(snippet["covers"]["messages"] for snippet in found) == 18
    assert [snippet["layer"] for snippet in found] == sorted((s["layer"] for s in found), reverse=True)


def test_a_snippet_has_the_fields_of_the_contract(service: Service, layers: str) -> None:
    """Every field the contract names is there, in a list and alone."""
    for snippet in listed(service, layers, state="all"):
        assert set(FIELDS.split()) <= snippet.keys()
        alone = service.get(f"/chats/{layers}/snippets/{snippet['id']}")
        assert alone.json() == snippet
        assert alone.headers["etag"].startswith('"')


def test_merged_snippets_know_their_parts(service: Service, layers: str) -> None:
    """What was absorbed names its parent, and the parent names it."""
    parts = listed(service, layers, state="absorbed")
    assert parts
    for part in parts:
        parent = service.get(f"/chats/{layers}/snippets/{part['parent_id']}").json()
        assert part["id"] in parent["children"]
        assert parent["kind"] == "merge"


def test_lists_are_narrowed(service: Service, layers: str) -> None:
    """By layer, state and marks; together live and absorbed are all."""
    everything, live = listed(service, layers, state="all"), listed(service, layers)
    assert len(everything) == len(live) + len(listed(service, layers, state="absorbed"))
    assert all(snippet["layer"] == 1 for snippet in listed(service, layers, layer=1))
    assert listed(service, layers, layer=9) == []
    assert listed(service, layers, stale=True) == []
    assert len(listed(service, layers, stale=False)) == len(live)
    assert listed(service, layers, state="superseded") == listed(service, layers, state="dormant") == []
    marked = listed(service, layers, degraded=True) + listed(service, layers, degraded=False)
    assert len(marked) == len(live)


def test_pages_follow_each_other(service: Service, layers: str) -> None:
    """Following next_cursor reads every snippet once."""
    read: list[str] = []
    query: dict[str, Any] = {"limit": 2, "state": "all"}
    while True:
        page = service.get(f"/chats/{layers}/snippets", params=query).json()
        read += [snippet["id"] for snippet in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert read == [snippet["id"] for snippet in listed(service, layers, state="all")]


def test_originals_are_under_every_layer(service: Service, layers: str) -> None:
    """Whatever its layer, a snippet leads to its messages, by index and page by page."""
    for snippet in listed(service, layers, state="all"):
        path = f"/chats/{layers}/snippets/{snippet['id']}/messages"
        whole = service.get(path).json()["items"]
        assert len(whole) == snippet["covers"]["messages"]
        assert whole[0]["index"] == snippet["covers"]["first_index"]
        assert whole[-1]["index"] == snippet["covers"]["last_index"]
        first = service.get(path, params={"limit": 1}).json()
        rest = service.get(path, params={"cursor": first["next_cursor"]}).json()
        assert first["items"] + rest["items"] == whole


@pytest.mark.parametrize(
    "query", [{"layer": -1}, {"layer": 10**20}, {"layer": "x"}, {"state": "dead"}, {"stale": "x"}, {"cursor": "x"}]
)
def test_bad_queries_are_refused(service: Service, layers: str, query: dict[str, Any]) -> None:
    """A filter that cannot be is a 422."""
    assert service.get(f"/chats/{layers}/snippets", params=query).status_code == 422


def test_unknown_ones_are_not_found(service: Service, layers: str, chat: str) -> None:
    """An unknown chat and an unknown snippet are a 404."""
    for path in (f"{chat}/snippets", f"{layers}/snippets/x", f"{layers}/snippets/x/messages"):
        answer = service.get(f"/chats/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
