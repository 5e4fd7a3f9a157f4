"""The prompt over HTTP."""

from typing import Any

import pytest

from tests.support.service import Service, turn_lines


@pytest.fixture(scope="module")
def folded(service: Service) -> str:
    """A chat of 16 turns whose oldest six are folded."""
    service.say("folded", *range(1, 14))
    service.say("folded", 14, 15, 16)
    return "folded"


def read(service: Service, chat: str, **query: Any) -> dict[str, Any]:
    """What a good GET answers."""
    answer = service.get(f"/chats/{chat}/projection", params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def test_without_memory_it_is_the_plain_history(service: Service, chat: str) -> None:
    """With nothing folded and no budget: same roles, same contents, same order, nothing else in a message."""
    service.say(chat, 1, 2)
    sent = [{"role": line["role"], "content": line["content"]} for turn in (1, 2) for line in turn_lines(turn)]
    found = read(service, chat)
    assert found["messages"] == sent
    assert found["memory"]["text"] == ""
    assert [warning["code"] for warning in found["warnings"]] == ["window_unknown"]


def test_it_has_the_fields_of_the_contract(service: Service, folded: str) -> None:
    """Every part the contract names is there; the total is the sum of its parts."""
    found = read(service, folded, context_size=8192, max_tokens=512, system_prompt="Speak as Tom.")
    assert found.keys() == {
        "messages",
        "system",
        "text",
        "memory",
        "window",
        "tokens",
        "prefix_hash",
        "prefix_changed_by",
        "skipped",
        "left_out",
        "warnings",
        "error",
        "stored_messages",
        "sent",
    }
    assert found["memory"].keys() == {"text", "version", "tokens", "snippets", "covered_through"}
    assert found["memory"]["covered_through"] == {"message_id": "a6", "index": 11}
    assert found["window"] == {"first_index": 12, "turns": 10, "dropped_turns": 0}
    assert found["left_out"] == [{"first_index": 0, "last_index": 11, "reason": "ghosted"}]
    tokens = found["tokens"]
    assert tokens.pop("budget") == 7680
    assert tokens.pop("total") == sum(tokens.values())
    first = found["messages"][0]
    assert first["role"] == "system"
    assert first["content"].startswith("Speak as Tom.\n\n")
    assert first["content"].endswith(found["memory"]["text"])


def test_post_adds_what_is_not_stored(service: Service, folded: str) -> None:
    """`current` stands at the end with only what the format knows, tools cost tokens, and nothing is stored."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    current = [
        {"role": "user", "content": "Look!", "name": "Mira", "mood": "wary"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "content": "A gate.", "tool_call_id": "c1"},
    ]
    body = {"current": current, "tools": [{"type": "function", "function": {"name": "look"}}]}
    found = service.post(f"/chats/{folded}/projection", body).json()
    assert found["messages"][-3:] == [
        {"role": "user", "content": "Look!"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "A gate.", "tool_call_id": "c1"},
    ]
    assert found["tokens"]["tools"] > 0
    assert found["tokens"]["current"] > 0
    named = service.post(f"/chats/{folded}/projection", {**body, "names": "field"}).json()
    assert named["messages"][-3] == {"role": "user", "content": "Look!", "name": "Mira"}
    assert found["messages"][:-3] == read(service, folded)["messages"]


def test_post_and_get_agree(service: Service, folded: str) -> None:
    """The same options give the same prompt, in a query or in a body; no body is no options."""
    options = {"system_prompt": "Speak as Tom.", "context_size": 4096, "max_tokens": 256, "names": "prefix"}
    assert service.post(f"/chats/{folded}/projection", options).json() == read(service, folded, **options)
    assert service.post(f"/chats/{folded}/projection").json() == read(service, folded)


def test_a_budget_drops_whole_turns(service: Service, folded: str) -> None:
    """A small window drops the oldest turns and says so."""
    memory = read(service, folded)["tokens"]["memory"]
    found = read(service, folded, context_size=memory + 300, max_tokens=100)
    assert found["window"]["dropped_turns"] > 0
    assert "uncovered_turns_dropped" in [warning["code"] for warning in found["warnings"]]
    assert {"trimmed", "ghosted"} == {part["reason"] for part in found["left_out"]}


def test_it_says_piece_by_piece_what_is_sent(service: Service, folded: str) -> None:
    """With `explain`, also where the messages themselves are left out; a POST says the same."""
    found = read(service, folded, explain=True, messages=False)
    assert found["messages"] == []
    assert sum(piece["tokens"] for piece in found["sent"]) == found["tokens"]["total"]
    assert [piece["part"] for piece in found["sent"][:3]] == ["system", "memory", "history"]
    assert found["sent"][2] == {
        **{"part": "history", "role": "user", "name": None, "message_id": "u7", "index": 12},
        **{"content": turn_lines(7)[0]["content"], "tokens": found["sent"][2]["tokens"]},
    }
    assert service.post(f"/chats/{folded}/projection", {"explain": True}).json()["sent"] == found["sent"]


def test_it_is_made_with_another_memory(service: Service, folded: str) -> None:
    """To be read only: a POST takes no strategy, and the chat's own is the same as without."""
    assert read(service, folded, strategy="layered") == read(service, folded)
    other = read(service, folded, strategy="none")
    assert (other["memory"]["text"], other["window"]["turns"], other["left_out"]) == ("", 16, [])
    assert service.get(f"/chats/{folded}").json()["strategy"] == "layered"
    assert service.post(f"/chats/{folded}/projection", {"strategy": "none"}).status_code == 422


@pytest.mark.parametrize(
    "query",
    [
        {"strategy": "short"},
        {"strategy": ""},
        {"explain": "perhaps"},
        {"max_tokens": 100},
        {"context_size": 100, "max_tokens": 100},
        {"context_size": 0},
        {"context_size": 1},
        {"context_size": "big"},
        {"context_size": 100, "max_tokens": 0},
        {"names": "all"},
        {"format": "xml"},
        {"memory_placement": "in_chat"},
        {"memory_placement": "in_chat:-1"},
        {"tool_history": "all"},
        {"known_prefix": "abc"},
        {"system_prompt": "a\0b"},
    ],
)
def test_sizes_and_choices_that_do_not_fit_are_refused(service: Service, folded: str, query: dict[str, Any]) -> None:
    """1 ≤ max_tokens < context_size, and no max_tokens alone; a 422 in a query and in a body alike."""
    for answer in (
        service.get(f"/chats/{folded}/projection", params=query),
        service.post(f"/chats/{folded}/projection", query),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        {"colour": "red"},
        {"context_size": "4096"},
        {"current": [{"role": "user"}]},
        {"current": [{"role": "user", "content": ["x"]}]},
        {"current": "x"},
        {"current": [{"role": "user", "content": "x", "tool_calls": [{"id": "k"}]}]},
        {"tools": ["look"]},
        {"frame": {"values": {}}},
        {"frame": {"template": "{{#open}}"}},
        {"frame": {"template": "x", "position": "before"}},
        {"omit_authors": "Tom"},
        {"session_id": "a/b"},
    ],
)
def test_bad_bodies_are_refused(service: Service, folded: str, body: dict[str, Any]) -> None:
    """Unknown fields and wrong types are a 422."""
    assert service.post(f"/chats/{folded}/projection", body).status_code == 422


def test_defaults_may_be_named(service: Service, folded: str) -> None:
    """To ask for what holds anyway changes nothing, the prefix_hash included."""
    named = read(service, folded, format="openai", memory_placement="system_end", tool_history="pair", names="none")
    assert named == read(service, folded)


def test_an_unknown_view_is_a_404(service: Service, folded: str) -> None:
    """A request cannot use a view that nobody made."""
    assert service.get(f"/chats/{folded}/projection", params={"view": "reply"}).status_code == 404
    assert service.post(f"/chats/{folded}/projection", {"view": "reply"}).status_code == 404


def test_other_parameters_are_ignored(service: Service, folded: str) -> None:
    """A query may hold parameters that mean nothing here."""
    assert read(service, folded, _="1730000000") == read(service, folded)


def test_names_stand_before_the_text(service: Service, chat: str) -> None:
    """With names=prefix every line says who speaks."""
    service.put(f"/chats/{chat}", {"user_name": "Mira", "character_name": "Tom"})
    service.say(chat, 1)
    found = read(service, chat, names="prefix")["messages"]
    assert [message["content"].split(":")[0] for message in found] == ["Mira", "Tom"]


def test_text_of_any_script_is_kept(service: Service, chat: str) -> None:
    """What goes in comes out, byte for byte."""
    text = "チャット 🐉 \u200d “quoted” \\ \t <b>&amp;</b> {{summary}} {% x %}"
    service.post(f"/chats/{chat}/messages", {"messages": [{"role": "user", "content": text}]})
    assert read(service, chat)["messages"][-1]["content"] == text
    assert service.get(f"/chats/{chat}/messages").json()["items"][0]["content"] == text


def test_reading_changes_nothing(service: Service, folded: str) -> None:
    """The same request gets the same bytes, and the chat is as it was."""
    before = service.get(f"/chats/{folded}").json()
    answers = [service.get(f"/chats/{folded}/projection").content for _ in range(3)]
    assert len(set(answers)) == 1
    assert service.get(f"/chats/{folded}").json() == before


def test_it_needs_a_chat(service: Service, chat: str) -> None:
    """An unknown chat is a 404, for GET and POST."""
    assert service.get(f"/chats/{chat}/projection").status_code == 404
    assert service.post(f"/chats/{chat}/projection", {}).status_code == 404


def test_a_projection_without_its_messages_says_all_the_rest(service: Service, chat: str) -> None:
    """`messages=false` answers the same but for the messages, for a frontend that has them."""
    service.say(chat, *range(1, 14))
    whole = service.get(f"/chats/{chat}/projection?context_size=4096").json()
    rest = service.get(f"/chats/{chat}/projection?context_size=4096&messages=false").json()
    assert whole["messages"]
    assert rest == {**whole, "messages": []}
    assert service.post(f"/chats/{chat}/projection", {"messages": False}).status_code == 422
    assert service.get(f"/chats/{chat}/projection?messages=perhaps").status_code == 422
