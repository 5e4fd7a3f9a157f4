"""The published worked examples of layered.md through HTTP, with a scripted model behind it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.checks import assert_promises
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running, turn_lines

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "vectors" / "layered.json").read_text())["cases"]
SCHEDULES: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "vectors" / "layered.json").read_text())[
    "fold_schedule_compat"
]
MOST_FOLDS = 125  # all of them go through the functions (tests/core)
KINDS = sorted({(c["snippets_per_layer"], c["snippets_per_promotion"], c["max_layers"]) for c in CASES})


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture
def service(model: FakeModel, tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path, llm_provider="openai", llm_base_url=model.base_url, llm_model="scripted") as service:
        yield service


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "/".join(map(str, kind)))
def test_layers_after_n_folds(service: Service, model: FakeModel, kind: tuple[int, int, int]) -> None:
    """After n folds each layer holds what layered.md says, by as many merge calls as it says."""
    limit, merge, layers = kind
    layered = {
        "snippets_per_layer": limit,
        "snippets_per_promotion": merge,
        "max_layers": layers,
        "deepest_layer": "keep",
        "memory_tokens": 0,
        "turns_per_batch": 1,
        "verbatim_turns": 1,
    }
    service.put("/chats/c", {"settings": {"on_backlog": "all", "layered": layered}})
    told = 0
    for case in (c for c in CASES if _kind(c) == kind and c["folds"] <= MOST_FOLDS):
        while told < case["folds"] + 1:
            until = min(case["folds"] + 1, told + 400)
            service.say("c", *range(told, until), fold="none")
            told = until
        service.post("/chats/c/summarize")
        status = service.settled("c", 300)
        assert [layer["snippets"] for layer in status["layers"]] == case["layers"]
        assert len(model.calls) == case["folds"] + case["merges"]
        assert status["memory_version"] == case["folds"] + case["merges"]
    assert_promises(service.database, "c", 1)


def _kind(case: dict[str, Any]) -> tuple[int, int, int]:
    return case["snippets_per_layer"], case["snippets_per_promotion"], case["max_layers"]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"{s['verbatim_turns']}/{s['turns_per_batch']}")
def test_compat_schedule(service: Service, schedule: dict[str, Any]) -> None:
    """With window compat folds come at the turns, and leave the turns, that the original's do."""
    layered = {name: schedule[name] for name in ("verbatim_turns", "turns_per_batch")}
    service.put("/chats/c", {"settings": {"layered": {**layered, "window": "compat"}}})
    folds, left = [], 0
    for turn in range(1, schedule["turns"] + 1):
        service.post("/chats/c/messages", {"messages": turn_lines(turn), "fold": "wait"})
        counts = service.status("c")["counts"]
        visible = counts["visible"] // 2
        if visible != left + 1:
            folds.append({"at_turn": turn, "folded": left + 1 - visible, "left": visible})
        left = visible
    assert folds == schedule["folds"]
