"""Frames over HTTP: what stands around the current turn of a prompt."""

from typing import Any

import pytest

from tests.support.service import Service, turn_lines

FRAME = {"template": "{{hour}}: {{user_message}}", "values": {"hour": "Midnight"}, "position": "replace"}
PAST = [{"role": line["role"], "content": line["content"]} for line in turn_lines(1)]
ASKED = {"role": "user", "content": "Is the gate shut?"}


@pytest.fixture
def told(service: Service, chat: str) -> str:
    """A chat with a turn."""
    service.say(chat, 1)
    return chat


def post(service: Service, chat: str, **body: Any) -> dict[str, Any]:
    """What a good POST answers."""
    answer = service.post(f"/chats/{chat}/projection", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["tokens"]["total"] == sum(
        found["tokens"][part] for part in ("system", "tools", "memory", "history", "current")
    )
    return found


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        ("replace", [{"role": "user", "content": "Midnight: Is the gate shut?"}]),
        ("before_user", [{"role": "user", "content": "Midnight: "}, ASKED]),
        ("before_system", [{"role": "system", "content": "Midnight: "}, ASKED]),
        ("after_user", [ASKED, {"role": "user", "content": "Midnight: "}]),
        ("after_system", [ASKED, {"role": "system", "content": "Midnight: "}]),
    ],
)
def test_it_stands_around_what_is_asked(
    service: Service, told: str, position: str, expected: list[dict[str, Any]]
) -> None:
    """At its position; the past stays as it was said, and the frame is never stored."""
    found = post(service, told, current=[ASKED], frame={**FRAME, "position": position})
    assert found["messages"] == [*PAST, *expected]
    stored = service.get(f"/chats/{told}/messages").json()["items"]
    assert [message["content"] for message in stored] == [line["content"] for line in PAST]
    assert post(service, told, current=[ASKED])["messages"] == [*PAST, ASKED]


def test_the_line_is_replayed_plain(service: Service, told: str) -> None:
    """A stored line that waits for its reply is framed; with the reply it is past, and as it was said."""
    lines = [{"id": "u2", **ASKED}]
    service.post(f"/chats/{told}/messages", {"messages": lines})
    assert post(service, told, frame=FRAME)["messages"][-1]["content"] == "Midnight: Is the gate shut?"
    service.post(f"/chats/{told}/messages", {"messages": [{"id": "a2", "role": "assistant", "content": "It is."}]})
    found = post(service, told, current=[{"role": "user", "content": "And now?"}], frame=FRAME)["messages"]
    assert [message["content"] for message in found[2:]] == ["Is the gate shut?", "It is.", "Midnight: And now?"]


def test_only_the_last_user_line_is_framed(service: Service, told: str) -> None:
    """The request's one rather than the stored one, and it stays where it is while tools are called."""
    service.post(f"/chats/{told}/messages", {"messages": [{"id": "u2", "role": "user", "content": "Wait."}]})
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    current = [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "A gate.", "tool_call_id": "c1"},
    ]
    found = post(service, told, current=current, frame={**FRAME, "position": "after_system"})["messages"]
    roles = [message["role"] for message in found]
    assert roles == ["user", "assistant", "user", "user", "system", "assistant", "tool"]


@pytest.mark.parametrize("position", ["replace", "before_user", "before_system", "after_user", "after_system"])
@pytest.mark.parametrize("template", ["", "{{missing}}", "{{#no}}Rain.{{/no}} \n"])
def test_an_empty_rendering_adds_nothing(service: Service, told: str, position: str, template: str) -> None:
    """Neither a message nor a token."""
    frame = {"template": template, "values": {"no": False}, "position": position}
    found, plain = (post(service, told, current=[ASKED], frame=used) for used in (frame, None))
    assert (found["messages"], found["tokens"]) == (plain["messages"], plain["tokens"])


@pytest.mark.parametrize("position", ["replace", "before_user", "after_system"])
def test_what_it_adds_costs_tokens(service: Service, told: str, position: str) -> None:
    """As if it were said: in `current`, with the 8 of its own message, and it can push turns out."""
    service.say(told, 2, 3, 4, fold="none")
    text = "Rain falls on the quay. " * 20
    frame = {"template": text, "position": position}
    plain, found = post(service, told, current=[ASKED]), post(service, told, current=[ASKED], frame=frame)
    alone = post(service, f"{told}", current=[{"role": "user", "content": text}])["tokens"]["current"]
    own = 0 if position == "replace" else plain["tokens"]["current"]
    assert found["tokens"]["current"] == alone + own
    size = {"context_size": plain["tokens"]["total"] + 60, "max_tokens": 50}
    assert post(service, told, current=[ASKED], **size)["window"]["dropped_turns"] == 0
    narrow = post(service, told, current=[ASKED], frame=frame, **size)
    assert narrow["window"]["dropped_turns"] > 0
    assert narrow["tokens"]["total"] <= narrow["tokens"]["budget"]


def test_a_frame_that_says_what_was_asked_costs_tokens_too(service: Service, told: str) -> None:
    """The same words twice are two messages."""
    frame = {"template": ASKED["content"], "position": "before_user"}
    plain, found = post(service, told, current=[ASKED]), post(service, told, current=[ASKED], frame=frame)
    assert found["messages"] == [*PAST, ASKED, ASKED]
    assert found["tokens"]["current"] == 2 * plain["tokens"]["current"]


def test_a_view_has_a_frame_of_its_own(service: Service, told: str) -> None:
    """The request fills in the values, or brings another template; what it says goes before the view's."""
    service.put(f"/chats/{told}/views/reply", {"frame": {**FRAME, "position": "before_system"}})
    asked = {"current": [ASKED], "view": "reply"}
    assert post(service, told, **asked)["messages"][2] == {"role": "system", "content": "Midnight: "}
    noon = post(service, told, frame={"values": {"hour": "Noon"}}, **asked)
    assert noon["messages"][2] == {"role": "system", "content": "Noon: "}
    other = post(service, told, frame={"template": "Rain.", "position": "after_user"}, **asked)
    assert other["messages"][3] == {"role": "user", "content": "Rain."}
    shown = service.get(f"/chats/{told}/projection", params={"view": "reply"}).json()
    assert shown["messages"][-1] == {"role": "system", "content": "Midnight: "}


@pytest.mark.parametrize(
    ("frame", "where"),
    [
        ({"template": "{{#a}}x"}, "template"),
        ({"template": "x{{/a}}"}, "template"),
        ({"template": "{{a"}, "template"),
        ({"template": "a" * 100_001}, "template"),
        ({"values": {"a": 1}}, "template"),
        ({"template": "x", "values": [1]}, "values"),
        ({"template": "x", "position": "instead"}, "position"),
        ({"template": "x", "escape": True}, "escape"),
        ({"template": "{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}", "values": {"a": [1] * 1000}}, "template"),
    ],
)
def test_a_frame_that_makes_no_sense_is_refused(service: Service, told: str, frame: dict[str, Any], where: str) -> None:
    """422 that names the place; what a frame multiplies into is bounded."""
    answer = service.post(f"/chats/{told}/projection", {"current": [ASKED], "frame": frame})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert where in answer.json()["errors"][0]["loc"]


def test_values_are_data(service: Service, told: str) -> None:
    """Mustache, HTML and names of Python's in them are only text."""
    values = {"hour": "{{user_message}} <b> {{hour.__class__}}"}
    found = post(service, told, current=[ASKED], frame={**FRAME, "values": values})
    assert found["messages"][-1]["content"] == f"{values['hour']}: Is the gate shut?"


def test_a_frame_costs_what_it_says(service: Service, chat: str) -> None:
    """Also where it says word for word what another message of the turn says."""
    line = "stone " * 200
    current = [{"role": "user", "content": line}, {"role": "user", "content": "And?"}]
    frame = {"template": line, "position": "replace"}
    service.put(f"/chats/{chat}", {"strategy": "none"})
    found = service.post(f"/chats/{chat}/projection", {"current": current, "frame": frame}).json()
    plain = service.post(f"/chats/{chat}/projection", {"current": [current[0]] * 2}).json()
    assert [message["content"] for message in found["messages"]] == [line, line]
    assert found["tokens"] == plain["tokens"]
