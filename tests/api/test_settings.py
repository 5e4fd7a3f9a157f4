"""Settings over HTTP, the server's and a chat's."""

from typing import Any

import pytest

from app.core.settings import RANGES
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
    "values",
    [
        {"rolling": {"trigger_turns": 3}},
        {"summary_buffer": {}},
        {"memory_placement": "system_message"},
        {"memory_placement": "in_chat:4"},
    ],
)
def test_what_comes_later_says_so(service: Service, chat: str, values: dict[str, Any]) -> None:
    """Settings of the contract that this version does not serve are a 422 that says it."""
    answer = service.put(f"/chats/{chat}", {"settings": values})
    assert answer.status_code == 422
    assert "not available in this version" in answer.json()["detail"]


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
