"""Settings over HTTP, the server's and a chat's."""

from typing import Any

import pytest

from app.core.settings import RANGES, ROLLING_RANGES
from tests.support.service import Service


@pytest.fixture(autouse=True)
def _defaults(service: Service) -> None:
    """Each test begins with the server's settings as they were."""
    answer = service.patch("/settings", dict.fromkeys(["layered", "on_backlog", "paused", "names"]))
    assert answer.status_code == 200


def test_the_defaults_are_shown(service: Service) -> None:
    """What is in force stands at the top, as in a chat's settings; nothing was set yet."""
    found = service.get("/settings").json()
    assert (found["enabled"], found["on_backlog"], found["memory_share"]) == (True, "ask", 0.5)
    assert found["layered"]["verbatim_turns"] == 10
    assert found["settings"] == {}


def test_chats_follow_the_server(service: Service, chat: str) -> None:
    """A change of the server's settings reaches chats that set nothing, and null takes it back."""
    service.put(f"/chats/{chat}", {"settings": {"layered": {"max_layers": 2}}})
    assert service.patch("/settings", {"layered": {"verbatim_turns": 7, "max_layers": 3}}).status_code == 200
    layered = service.get(f"/chats/{chat}").json()["effective_settings"]["layered"]
    assert (layered["verbatim_turns"], layered["max_layers"]) == (7, 2)
    service.patch("/settings", {"layered": {"verbatim_turns": None}})
    assert service.get("/settings").json()["settings"] == {"layered": {"max_layers": 3}}
    assert service.get(f"/chats/{chat}").json()["effective_settings"]["layered"]["verbatim_turns"] == 10


def test_values_left_out_by_a_server_change_are_clamped(service: Service, chat: str) -> None:
    """A chat's value that no longer fits is clamped, and its warnings say so."""
    service.put(f"/chats/{chat}", {"settings": {"layered": {"snippets_per_promotion": 10}}})
    service.patch("/settings", {"layered": {"snippets_per_layer": 5}})
    found = service.get(f"/chats/{chat}").json()
    assert found["effective_settings"]["layered"]["snippets_per_promotion"] == 4
    assert "snippets_per_promotion" in found["warnings"][0]


@pytest.mark.parametrize("name", RANGES)
def test_numbers_keep_to_their_ranges(service: Service, chat: str, name: str) -> None:
    """The ends of a range are taken or refused for what they contradict; beyond them it is a 422 that names it."""
    low, high = RANGES[name]
    for value in (low - 1, high + 1, True, str(low), float(low), low + 0.5, [low], 10**30):
        answer = service.put(f"/chats/{chat}", {"settings": {"layered": {name: value}}})
        assert answer.status_code == 422, (value, answer.text)
        problem = answer.json()
        assert name in problem["detail"]
        assert any(name in error["loc"] for error in problem["errors"]), problem
    assert service.get(f"/chats/{chat}").status_code == 404


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"enabled": 1}, "enabled"),
        ({"on_backlog": "never"}, "on_backlog"),
        ({"names": "yes"}, "names"),
        ({"memory_share": 1.5}, "memory_share"),
        ({"memory_share": "0.5"}, "memory_share"),
        ({"connection": "a/b"}, "connection"),
        ({"volume": 11}, "volume"),
        ({"layered": {"volume": 11}}, "volume"),
        ({"layered": {"window": "loose"}}, "window"),
        ({"layered": {"deepest_layer": "drop"}}, "deepest_layer"),
        ({"layered": {"preset": "poem"}}, "preset"),
        ({"layered": {"injection_template": "Memory:"}}, "injection_template"),
        ({"layered": {"system_prompt": "x" * 100_001}}, "system_prompt"),
        ({"layered": {"strip_patterns": [""]}}, "strip_patterns"),
        ({"layered": {"strip_patterns": ["x"] * 101}}, "strip_patterns"),
        ({"layered": {"strip_patterns": "x"}}, "strip_patterns"),
        ({"layered": {"snippets_per_layer": 3, "snippets_per_promotion": 3}}, "snippets_per_promotion"),
        ({"layered": {"turns_per_batch": 5, "flush_turns": 4}}, "flush_turns"),
    ],
)
def test_bad_values_are_named(service: Service, chat: str, values: dict[str, Any], named: str) -> None:
    """An unknown setting, a wrong value and a contradiction are a 422 that names it, of a chat and of the server."""
    for answer in (service.put(f"/chats/{chat}", {"settings": values}), service.patch("/settings", values)):
        assert answer.status_code == 422
        problem = answer.json()
        assert named in problem["detail"]
        assert any(named in error["loc"] for error in problem["errors"])


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"rolling": {"context": {"gpu_layers": 3}}}, "extra_body"),
        ({"rolling": {"adaptation": []}}, "extra_body"),
        ({"rolling": {"run_inline": False}}, "Must be true"),
        ({"rolling": {"max_summary_tokens": 1985}}, "1984"),
        ({"rolling": {"keep_recent_turns": 513}}, "512"),
        ({"rolling": {"sampling": {"temperature": 2.5}}}, "2"),
        ({"summary_buffer": {"recent_messages_to_keep": 20}}, "less than max_messages_before_summary"),
        ({"summary_buffer": {"llm_source": "external"}}, "connection"),
        ({"memory_placement": "in_chat:-1"}, "in_chat:DEPTH"),
    ],
)
def test_what_cannot_be_is_said(service: Service, chat: str, values: dict[str, Any], says: str) -> None:
    """Settings that cannot work are a 422 that says what to do."""
    answer = service.put(f"/chats/{chat}", {"settings": values})
    assert answer.status_code == 422
    assert says in answer.text


@pytest.mark.parametrize("connection", [{"connection": "mine"}, {"summary_buffer": {"connection": "mine"}}])
def test_an_external_model_has_a_connection(service: Service, chat: str, connection: dict[str, Any]) -> None:
    """The chat's own, or one that is named for it."""
    buffer = {"llm_source": "external", **connection.get("summary_buffer", {})}
    answer = service.put(f"/chats/{chat}", {"settings": {**connection, "summary_buffer": buffer}})
    assert answer.status_code == 201, answer.text


def test_every_setting_can_be_set(service: Service, chat: str) -> None:
    """All settings with good values are taken and come back as they were set."""
    values = {
        "enabled": True,
        "paused": False,
        "ghosting": True,
        "on_backlog": "all",
        "connection": "default",
        "merge_connection": "extractive",
        "fallback_connection": None,
        "memory_placement": "system_end",
        "memory_share": 1,
        "names": "prefix",
        "output_language": "Deutsch",
        "diagnostics": True,
        "rolling": {
            **{name: low for name, (low, _) in ROLLING_RANGES.items()},
            "model_name": "small",
            "system_prompt": "You write lines.",
            "template": "{{previous_summary}}",
            "notify_client": True,
            "sampling": {
                "temperature": 0.5,
                "top_p": 1,
                "min_p": 0,
                "top_k": 40,
                "max_tokens": 100,
                "repeat_penalty": 1.1,
            },
            "run_inline": True,
            "oversize": "clip",
            "catch_up": True,
        },
        "summary_buffer": {
            "max_messages_before_summary": 30,
            "recent_messages_to_keep": 0,
            "compare": "exceed",
            "scope": "session",
            "llm_source": "external",
            "connection": "extractive",
            "timeout_s": 5,
            "max_summary_tokens": 100,
            "expose_messages_output": True,
            "expose_error_output": True,
            "memory_placement": "in_chat:2",
        },
        "layered": {
            **{name: high for name, (_, high) in RANGES.items()},
            "window": "compat",
            "deepest_layer": "keep",
            "preset": "custom",
            "system_prompt": "You write lines.",
            "user_prompt": "{{story_txt}}",
            "merge_prompt": "{{story_txt}}",
            "injection_template": "[{{summary}}]",
            "strip_patterns": ["Summary:"],
        },
    }
    answer = service.put(f"/chats/{chat}", {"settings": values})
    assert answer.status_code == 201, answer.text
    kept = {name: value for name, value in values.items() if value is not None}
    assert answer.json()["settings"] == kept


def test_a_changed_prompt_makes_the_preset_custom(service: Service, chat: str) -> None:
    """Changing a prompt under a named preset makes it custom; the text stays when one goes back."""
    service.put(f"/chats/{chat}", {"settings": {"layered": {"preset": "game_state"}}})
    changed = service.patch(f"/chats/{chat}", {"settings": {"layered": {"user_prompt": "{{story_txt}}"}}}).json()
    assert changed["effective_settings"]["layered"]["preset"] == "custom"
    back = service.patch(f"/chats/{chat}", {"settings": {"layered": {"preset": "narrative"}}}).json()
    assert back["settings"]["layered"] == {"preset": "narrative", "user_prompt": "{{story_txt}}"}
