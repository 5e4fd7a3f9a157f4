"""Changing snippets over HTTP."""

from typing import Any

import pytest

from tests.support.service import Service

LAYERED = {"verbatim_turns": 1, "turns_per_batch": 1, "snippets_per_layer": 3, "snippets_per_promotion": 2}
SHOWN = "text tokens why edited stale degraded connection model replaced_at"


@pytest.fixture
def told(service: Service, chat: str) -> str:
    """A chat of seven turns, of which six are in memory: two in layer 1, one of them merged, three in layer 0."""
    service.put(f"/chats/{chat}", {"settings": {"on_backlog": "all", "layered": LAYERED}})
    service.say(chat, *range(1, 8))
    return chat


def listed(service: Service, chat: str, **query: Any) -> list[dict[str, Any]]:
    """Snippets in reading order."""
    found: list[dict[str, Any]] = service.get(f"/chats/{chat}/snippets", params=query).json()["items"]
    return found


def path_of(chat: str, snippet: dict[str, Any]) -> str:
    return f"/chats/{chat}/snippets/{snippet['id']}"


def test_edit(service: Service, told: str) -> None:
    """The answer is the snippet with its new text and ETag, as a GET gives it; spaces around the text are gone."""
    path = path_of(told, listed(service, told)[-1])
    before = service.get(path)
    answer = service.patch(path, {"text": "  The key is Mira's.\n"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["text"] == "The key is Mira's."
    assert answer.headers["etag"] != before.headers["etag"]
    assert (service.get(path).json(), service.get(path).headers["etag"]) == (answer.json(), answer.headers["etag"])
    assert "The key is Mira's." in service.get(f"/chats/{told}/preview").json()["text"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": None},
        {"text": ""},
        {"text": " \n"},
        {"text": 5},
        {"text": "a\x00b"},
        {"text": "x" * 65_537},
        {"text": "x", "layer": 1},
        [],
        None,
    ],
)
def test_bad_texts(service: Service, told: str, body: Any) -> None:
    """A text that cannot be memory is a 422, and nothing changes."""
    path = path_of(told, listed(service, told)[0])
    before = service.get(path).json()
    assert service.patch(path, body).status_code == 422
    assert service.get(path).json() == before


def test_lone_surrogates(service: Service, told: str) -> None:
    """Half of a surrogate pair is a 422."""
    answer = service.http.patch(
        f"/v1{path_of(told, listed(service, told)[0])}",
        content=b'{"text": "\\ud800"}',
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_the_longest_text(service: Service, told: str) -> None:
    """65,536 characters are stored."""
    answer = service.patch(path_of(told, listed(service, told)[-1]), {"text": "ж" * 65_536})
    assert answer.status_code == 200
    assert len(answer.json()["text"]) == 65_536


def test_if_match(service: Service, told: str) -> None:
    """The ETag that was read lets an edit and a deletion through, another one is a 412; `*` is any."""
    path = path_of(told, listed(service, told)[-1])
    old = {"If-Match": service.get(path).headers["etag"]}
    assert service.patch(path, {"text": "one"}, headers=old).status_code == 200
    refused = service.patch(path, {"text": "two"}, headers=old)
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert service.http.delete(f"/v1{path}", headers=old).status_code == 412
    assert service.get(path).json()["text"] == "one"
    assert service.patch(path, {"text": "three"}, headers={"If-Match": "*"}).status_code == 200
    new = {"If-Match": f'"x", {service.get(path).headers["etag"]}'}
    assert service.http.delete(f"/v1{path}", headers=new).status_code == 204


def test_delete(service: Service, told: str) -> None:
    """It answers 204 without a body; its messages are visible, and it is a 404 until it is brought back."""
    snippet = listed(service, told)[-1]
    under = [message["id"] for message in service.get(f"{path_of(told, snippet)}/messages").json()["items"]]
    version = service.status(told)["memory_version"]
    answer = service.http.delete(f"/v1{path_of(told, snippet)}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert snippet["id"] not in [live["id"] for live in listed(service, told)]
    assert not any(service.get(f"/chats/{told}/messages/{message}").json()["ghosted"] for message in under)
    assert service.status(told)["memory_version"] == version + 1
    assert service.http.delete(f"/v1{path_of(told, snippet)}").status_code == 404
    assert service.patch(path_of(told, snippet), {"text": "x"}).json()["code"] == "not_found"
    assert service.post(f"{path_of(told, snippet)}/regenerate").status_code == 404


def test_parts_are_not_deleted(service: Service, told: str) -> None:
    """An absorbed snippet is a 409 that names the live one."""
    part = listed(service, told, state="absorbed")[0]
    answer = service.http.delete(f"/v1{path_of(told, part)}")
    assert answer.status_code == 409
    assert part["parent_id"] in answer.json()["detail"]


def test_write(service: Service, told: str) -> None:
    """A snippet by hand is a 201 with its address, and stands where its turns stand."""
    newest = listed(service, told)[-1]
    service.http.delete(f"/v1{path_of(told, newest)}")
    body = {"first_message_id": "u6", "last_message_id": "a6", "text": " By hand. "}
    answer = service.post(f"/chats/{told}/snippets", body)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["kind"], answer.json()["text"]) == ("manual", "By hand.")
    assert answer.json()["covers"] == newest["covers"]
    assert service.http.get(answer.headers["location"]).json() == answer.json()
    assert service.get(path_of(told, answer.json())).headers["etag"] == answer.headers["etag"]
    assert listed(service, told)[-1]["id"] == answer.json()["id"]
    again = service.post(f"/chats/{told}/snippets", body)
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    assert "'u6'" in again.json()["detail"]


def test_what_cannot_be_written_over(service: Service, told: str) -> None:
    """The window is a 409, unknown messages a 404, a body without a range a 422."""
    path = f"/chats/{told}/snippets"
    assert service.post(path, {"first_message_id": "u7", "last_message_id": "a7", "text": "x"}).status_code == 409
    assert service.post(path, {"first_message_id": "u7", "last_message_id": "no", "text": "x"}).status_code == 404
    assert service.post(path, {"first_message_id": "u7", "text": "x"}).status_code == 422
    assert service.post(path, {"first_message_id": "a/b", "last_message_id": "a7", "text": "x"}).status_code == 422


def test_regenerate(service: Service, told: str) -> None:
    """A 202 with the job; when it has ended the text is a new one, and the old one can be read."""
    snippet = listed(service, told)[-1]
    service.patch(path_of(told, snippet), {"text": "Mine."})
    answer = service.post(f"{path_of(told, snippet)}/regenerate")
    assert answer.status_code == 202, answer.text
    assert (answer.json()["job"]["kind"], list(answer.json())) == ("regenerate", ["job"])
    service.settled(told)
    assert service.get(f"/jobs/{answer.json()['job']['id']}").json()["state"] == "succeeded"
    assert service.get(path_of(told, snippet)).json()["text"] == snippet["text"]
    versions = service.get(f"{path_of(told, snippet)}/versions").json()["items"]
    assert [(version["text"], version["why"]) for version in versions] == [
        ("Mine.", "regenerate"),
        (snippet["text"], "edit"),
    ]


def test_versions(service: Service, told: str) -> None:
    """A list with the usual cursor, newest first."""
    path = path_of(told, listed(service, told)[-1])
    assert service.get(f"{path}/versions").json() == {"items": [], "next_cursor": None}
    for text in ("one", "two", "three"):
        service.patch(path, {"text": text})
    first = service.get(f"{path}/versions", params={"limit": 2}).json()
    rest = service.get(f"{path}/versions", params={"cursor": first["next_cursor"]}).json()
    found = first["items"] + rest["items"]
    assert [version["text"] for version in found[:2]] == ["two", "one"]
    assert (len(found), rest["next_cursor"]) == (3, None)
    assert set(found[0]) == set(SHOWN.split())
    assert service.get(f"{path}/versions", params={"cursor": "x"}).status_code == 422


def test_undo(service: Service, told: str) -> None:
    """Each call takes one step back and says which; with none left it is a 409."""
    before = listed(service, told)
    newest = before[-1]
    service.patch(path_of(told, newest), {"text": "Mine."})
    service.http.delete(f"/v1{path_of(told, newest)}")
    for kind in ("delete", "edit"):
        answer = service.post(f"/chats/{told}/undo")
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"undone": {"kind": kind, "snippet_id": newest["id"]}}
    assert [snippet["text"] for snippet in listed(service, told)] == [snippet["text"] for snippet in before]
    answer = service.post(f"/chats/{told}/undo", {})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert service.post(f"/chats/{told}/undo", {"steps": 2}).status_code == 422


def test_an_undo_sent_twice_undoes_once(service: Service, told: str) -> None:
    """With an Idempotency-Key a repeat gets the same answer and takes nothing more back."""
    path = path_of(told, listed(service, told)[-1])
    for text in ("one", "two"):
        service.patch(path, {"text": text})
    answers = [service.post(f"/chats/{told}/undo", headers={"Idempotency-Key": f"undo-{told}"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert service.get(path).json()["text"] == "one"


def test_unknown_ones(service: Service, told: str) -> None:
    """An unknown chat or snippet is a 404, whatever is asked of it."""
    for base in (f"/chats/{told}/snippets/none", "/chats/nobody/snippets/none"):
        answers = [
            service.patch(base, {"text": "x"}),
            service.http.delete(f"/v1{base}"),
            service.post(f"{base}/regenerate"),
            service.get(f"{base}/versions"),
        ]
        assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "not_found")}
    assert service.post("/chats/nobody/undo").status_code == 404
    new = {"first_message_id": "u1", "last_message_id": "a1", "text": "x"}
    assert service.post("/chats/nobody/snippets", new).status_code == 404
