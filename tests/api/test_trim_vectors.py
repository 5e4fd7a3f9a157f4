"""The worked examples of trimming (research on rolling summaries, 1.8) over HTTP, replayed and in a view's window."""

from typing import Any

import pytest

from tests.support.builders import vectors
from tests.support.parts import counter
from tests.support.service import Service

CASES = {case["name"]: case for case in vectors("trim.json")["cases"]}
SIZES = {"T1": (4096, 512), "T2": (4096, 512), "T3": (2048, 256), "T4": (1257, 256), "T5": (2048, 256)}
OVERHEAD = 8


def text(tokens: int) -> str:
    """A text of exactly so many tokens."""
    made = "gate" + " gate" * (tokens - 1)
    assert counter()(made) == tokens
    return made


def options(name: str, system: int, current: int) -> dict[str, Any]:
    """What a request says so that its parts cost so much."""
    size, answer = SIZES[name]
    assert size - answer == CASES[name]["budget"]
    return {
        "system_prompt": text(system - OVERHEAD),
        "context_size": size,
        "max_tokens": answer,
        "current": [{"role": "user", "content": text(current - OVERHEAD)}],
    }


def say(service: Service, chat: str, turns: int, tokens: int, current: int) -> None:
    """Turns of a size, of which the user's part is as large as the current one."""
    asked = {"role": "user", "content": text(current - OVERHEAD)}
    reply = {"role": "assistant", "content": text(tokens - current - OVERHEAD)}
    body = {"messages": [asked, reply] * turns, "fold": "none"}
    assert service.post(f"/chats/{chat}/messages", body).status_code == 201


def post(service: Service, chat: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = service.post(f"/chats/{chat}/projection", body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("name", ["T1", "T3"])
def test_the_window_moves_in_steps(service: Service, chat: str, name: str) -> None:
    """At the turns of the example, by as much, to that total; in a view as in a replay."""
    case = CASES[name]
    body = options(name, case["system"], case["current"])
    trims = {trim["past_turns"]: trim for trim in case["trims"]}
    service.put(f"/chats/{chat}", {"strategy": "none"})
    assert service.put(f"/chats/{chat}/views/reply", {}).status_code == 201
    start = 0
    for past in range(1, max(trims) + 1):
        say(service, chat, 1, case["turn"], case["current"])
        found, viewed = post(service, chat, body), post(service, chat, {**body, "view": "reply"})
        start = trims[past]["window_start"] if past in trims else start
        assert found["window"] == {"first_index": 2 * start, "turns": past - start, "dropped_turns": start}
        assert found["tokens"]["total"] == case["system"] + case["current"] + case["turn"] * (past - start)
        assert past not in trims or found["tokens"]["total"] == trims[past]["total"]
        assert viewed["prefix_changed_by"] == ("trim" if past in trims else None)
        assert {**viewed, "prefix_changed_by": None} == found


@pytest.mark.parametrize("row", CASES["T2"]["rows"], ids=lambda row: str(row["total_before"]))
def test_exactly_the_budget_is_no_trim(service: Service, chat: str, row: dict[str, Any]) -> None:
    """T2: one token more than the budget is one."""
    say(service, chat, 9, 300, 50)
    found = post(service, chat, options("T2", row["total_before"] - 9 * 300 - 50, 50))
    assert (found["window"]["dropped_turns"] > 0) == row["trims"]
    assert row["trims"] or found["tokens"]["total"] == row["total_before"] == found["tokens"]["budget"]


def test_landing_on_the_low_mark_stops(service: Service, chat: str) -> None:
    """T2: 2688 is three quarters of 3584."""
    low = CASES["T2"]["low_mark"]
    say(service, chat, 4, 300, 50)
    assert post(service, chat, options("T2", low - 50 - 300, 50))["window"]["dropped_turns"] == 3
    assert post(service, chat, options("T2", low - 50 - 299, 50))["window"]["dropped_turns"] == 4


def test_three_quarters_are_not_rounded_up(service: Service, chat: str) -> None:
    """T4: of 1001 tokens 750 may be left, and 751 may not."""
    stop = CASES["T4"]["stops_at_or_below"]
    say(service, chat, 4, 100, 20)
    assert post(service, chat, options("T4", stop - 20 - 100, 20))["window"]["dropped_turns"] == 3
    assert post(service, chat, options("T4", stop - 20 - 99, 20))["window"]["dropped_turns"] == 4


def test_over_budget_alone(service: Service, chat: str) -> None:
    """T5: without history the prompt is over its budget, and says so."""
    case = CASES["T5"]
    say(service, chat, 3, 100, 40)
    found = post(service, chat, options("T5", case["system"], case["current"]))
    assert found["tokens"]["history"] == case["history"]
    assert found["window"]["turns"] == 0
    assert case["warning"] in {warning["code"] for warning in found["warnings"]}
    assert len(found["messages"]) == 2
