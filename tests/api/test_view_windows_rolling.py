"""Windows of views over a memory that is written anew: rolling, and the summary buffer."""

from typing import Any

import pytest

from tests.support.service import Service

ROLLING = {"trigger_tokens": 0, "trigger_turns": 6, "keep_recent_turns": 2, "max_summary_tokens": 40}
BUFFER = {"max_messages_before_summary": 16, "recent_messages_to_keep": 6, "max_summary_tokens": 40}
VIEW = {"context_size": 260, "max_tokens": 50}


def post(service: Service, chat: str, **body: Any) -> dict[str, Any]:
    """What a good POST answers."""
    answer = service.post(f"/chats/{chat}/projection", {"view": "reply", **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["tokens"]["total"] <= found["tokens"]["budget"]
    return found


@pytest.mark.parametrize(("strategy", "settings"), [("rolling", ROLLING), ("summary_buffer", BUFFER)])
def test_a_fold_and_nothing_else_begins_the_window_afresh(
    service: Service, chat: str, strategy: str, settings: dict[str, Any]
) -> None:
    """Turn by turn: between folds the window only moves on; a fold is told, and no turn is lost that it left."""
    service.put(f"/chats/{chat}", {"strategy": strategy, "settings": {strategy: settings}})
    service.put(f"/chats/{chat}/views/reply", VIEW)
    folds, trims, before = 0, 0, post(service, chat)
    for turn in range(1, 21):
        service.say(chat, turn)
        found = post(service, chat)
        covered = found["memory"]["covered_through"]
        if found["memory"]["version"] != before["memory"]["version"]:
            folds += 1
            assert found["prefix_changed_by"] == "fold"
            if found["window"]["dropped_turns"] == 0:
                assert found["window"]["first_index"] == covered["index"] + 1
        else:
            trims += found["prefix_changed_by"] == "trim"
            assert found["prefix_changed_by"] in (None, "trim")
            assert found["window"]["first_index"] >= (before["window"]["first_index"] or 0)
        before = found
    assert (folds > 1, trims > 1) == (True, True)


def test_another_model_of_rolling_memory_begins_windows_afresh(service: Service, chat: str) -> None:
    """Its `model_name` and its `context_size`; other settings leave windows alone."""
    service.put(f"/chats/{chat}", {"strategy": "rolling", "settings": {"rolling": {"trigger_tokens": 0}}})
    service.put(f"/chats/{chat}/views/reply", VIEW)
    service.say(chat, *range(1, 16))
    starts = []
    for change in ({"trigger_turns": 500}, {"context_size": 4096}, {"model_name": "small"}):
        assert post(service, chat)["window"]["first_index"] > 0
        service.patch(f"/chats/{chat}", {"settings": {"rolling": change}})
        starts.append(post(service, chat, context_size=5000)["window"]["first_index"])
    assert (starts[0] > 0, starts[1:]) == (True, [0, 0])
