"""The worked examples of rolling memory through HTTP, with a scripted model behind it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import vectors
from tests.support.fake_model import FakeModel
from tests.support.service import Service, running

Played = dict[str, list[dict[str, int]]]
CASES = {case["name"]: case for case in vectors("rolling.json")["cases"]}


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel() as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Its model is of a family whose tokens are counted exactly."""
    connection = {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "gpt-4o"}
    with running(Path(tmp_path_factory.mktemp("rolling")), **connection) as service:
        yield service


def words(tokens: int) -> str:
    """A text of so many tokens."""
    return "gate" + " gate" * (tokens - 1)


def say(service: Service, chat: str, tokens: int) -> dict[str, Any]:
    """A turn of so many tokens."""
    half = tokens // 2
    lines = [{"role": "user", "content": words(half)}, {"role": "assistant", "content": words(tokens - half)}]
    answer = service.post(f"/chats/{chat}/messages", {"messages": lines, "fold": "wait"})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert sum(item["tokens"] for item in found["items"]) == tokens
    return found


def settings_of(case: dict[str, Any]) -> dict[str, Any]:
    rolling: dict[str, Any] = {name: case[name] for name in ("trigger_tokens", "trigger_turns") if name in case}
    if "keep" in case:
        rolling["keep_recent_turns"] = case["keep"]
    return {"strategy": "rolling", "settings": {"diagnostics": True, "rolling": rolling}}


@pytest.fixture(scope="module")
def played(service: Service) -> Played:
    """The folds of every example, each in a chat of its name."""
    return {name: play(service, name) for name in CASES}


def play(service: Service, name: str) -> list[dict[str, int]]:
    folds: list[dict[str, int]] = []
    covered = 0
    assert service.put(f"/chats/{name}", settings_of(CASES[name])).status_code == 201
    for size, tokens in enumerate(CASES[name]["turn_tokens"], 1):
        calls = say(service, name, tokens)["usage"]["calls"]
        ghosted = service.status(name)["counts"]["ghosted"] // 2
        assert calls == (ghosted > covered)
        if ghosted > covered:
            folds.append({"n": size, "covered_through": ghosted - 1, "folded_turns": ghosted - covered})
        covered = ghosted
    return folds


@pytest.mark.parametrize("name", CASES)
def test_folds_come_and_take_as_they_should(played: Played, name: str) -> None:
    """Each fold comes with the reply that the example says, which pays for it; what it covers is ghosted by then."""
    assert played[name] == CASES[name]["folds"]


@pytest.mark.parametrize("name", CASES)
def test_each_fold_can_be_looked_into(service: Service, played: Played, name: str) -> None:
    """Diagnostics tell of every turn: the fold as the example has it, or why there was none."""
    kept = {item["turn"]: item for item in service.get(f"/chats/{name}/diagnostics?limit=100").json()["items"]}
    assert sorted(kept) == list(range(len(CASES[name]["turn_tokens"])))
    folds = {fold["n"] - 1: fold for fold in played[name]}
    for turn, item in kept.items():
        assert ("last_fold" in item) == (turn in folds)
        assert ("skipped" in item) == (turn not in folds)
        if turn in folds:
            told = {key: item["last_fold"][key] for key in ("covered_through", "folded_turns")}
            assert told == {key: folds[turn][key] for key in told}


@pytest.mark.usefixtures("played")
def test_what_waited_before_the_first_fold(service: Service) -> None:
    """F1 and F6: tokens are counted where turns did not fire, over the turns outside the newest three."""
    skipped = {turn: service.get(f"/chats/F1/diagnostics?turn={turn}").json()["skipped"] for turn in (2, 3, 7, 9)}
    assert skipped == {
        2: {"reason": "hot_window_covers_dialog", "pending_turns": 0, "pending_tokens": 0},
        3: {"reason": "below_threshold", "pending_turns": 1, "pending_tokens": 200},
        7: {"reason": "below_threshold", "pending_turns": 5, "pending_tokens": 1000},
        9: {"reason": "below_threshold", "pending_turns": 1, "pending_tokens": 200},
    }


@pytest.mark.usefixtures("played")
def test_the_prompt_extends_the_summary_before(service: Service, model: FakeModel) -> None:
    """The second fold of F1 is asked with the first one's text and the six turns after it, within the window."""
    first, second = (service.get(f"/chats/F1/diagnostics?turn={turn}").json() for turn in (8, 14))
    assert [message["role"] for message in second["input"]["prompt"]] == ["system", "user"]
    asked = second["input"]["prompt"][1]["content"]
    assert f"<previous_summary>\n{first['output']['text']}\n</previous_summary>" in asked
    assert asked.count("User: ") == asked.count("Assistant: ") == 6
    fold = second["last_fold"]
    assert fold["folded_input_tokens"] == 1200
    assert fold["summarizer_prompt_tokens"] + 256 <= 2048
    assert any(request.user == asked for request in model.calls)
