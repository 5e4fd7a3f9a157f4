"""What a backlog is said to cost, against what it cost: calls and tokens that reached a model server over real HTTP."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_exchange import Request
from tests.support.fake_model import FakeModel
from tests.support.parts import counter
from tests.support.plays import play_file
from tests.support.service import Service, running

PLAYED = 400
"""So many messages of a play: enough that the first layer overflows."""
DEEP = {"snippets_per_layer": 3, "snippets_per_promotion": 2, "max_layers": 3}


def condense(request: Request) -> str:
    """A line about half as long as what it tells, within the limit of 120 tokens, as most models write."""
    told = re.findall(r"<(?:passage|memory_lines)>\n(.*)\n</", request.user, re.S)[0]
    words = told.split()
    share = min(0.47, 105 / counter()(told))
    return " ".join(words[: max(1, int(len(words) * share))])


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(condense) as model:
        yield model


@pytest.fixture(scope="module")
def service(model: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("estimates")
    with running(folder, llm_provider="openai", llm_base_url=model.base_url, llm_model="gpt-4o") as service:
        yield service


def cost(model: FakeModel, since: int) -> tuple[int, int]:
    """Calls made since so many, and the tokens that they were sent."""
    made = model.calls[since:]
    return len(made), sum(counter()(request.system) + counter()(request.user) for request in made)


def fold_all(service: Service, model: FakeModel, chat: str) -> tuple[dict[str, Any], int, int]:
    """What was said before, and what was needed."""
    said: dict[str, Any] = service.status(chat)["backlog"]
    since = len(model.calls)
    service.post(f"/chats/{chat}/backlog", {"choice": "all"})
    status = service.settled(chat, 200)
    assert status["backlog"]["batches"] == 0
    return said, *cost(model, since)


@pytest.mark.parametrize(
    ("turns", "layered", "calls"),
    [
        (17, {}, 2),
        (40, {}, 10),
        (61, DEEP, 26),
        (60, {"turns_per_batch": 8, "passage_tokens": 100}, 9),
        (60, {"window": "compat"}, 17),
        (60, {"memory_tokens": 700}, 0),
        (60, {"context_tokens": 300}, 16),
        (80, {"backlog_concurrency": 3}, 23),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else str(value),
)
def test_what_is_said_before_is_what_it_takes(
    service: Service, model: FakeModel, turns: int, layered: dict[str, Any], calls: int
) -> None:
    """Calls are exact where limits decide, near where memory_tokens does; tokens are right within 15 %."""
    chat = f"{turns}-{'-'.join(map(str, layered.values()))}"
    service.put(f"/chats/{chat}", {"settings": {"layered": layered}})
    service.say(chat, *range(turns), fold="none")
    said, made, sent = fold_all(service, model, chat)
    if calls:
        assert said["estimated_calls"] == made == calls
    else:
        assert said["estimated_calls"] == pytest.approx(made, rel=0.15)
    assert said["estimated_input_tokens"] == pytest.approx(sent, rel=0.15)


def test_a_model_of_few_words_is_learned(service: Service, model: FakeModel) -> None:
    """After the first batches the rest is told from the lines that came, however short they are."""
    service.put("/chats/terse", {"settings": {"on_backlog": "all"}})
    service.say("terse", *range(61), fold="none")
    model.say(*["Nothing."] * 8)
    service.put("/chats/terse", {"settings": {"layered": {"verbatim_turns": 37}}})
    service.post("/chats/terse/summarize")
    service.settled("terse")
    service.put("/chats/terse", {"settings": {"layered": {"verbatim_turns": 10}}})
    model.say(*["Nothing."] * 9)
    said, made, sent = fold_all(service, model, "terse")
    assert (said["estimated_calls"], made) == (9, 9)
    assert said["estimated_input_tokens"] == pytest.approx(sent, rel=0.15)


def test_tokens_of_turns_that_were_skipped(service: Service, model: FakeModel) -> None:
    """`all` after `skip` tells late turns without what came after them, and is estimated so."""
    service.put("/chats/late", {})
    service.say("late", *range(40), fold="none")
    service.post("/chats/late/backlog", {"choice": "skip"})
    for turn in range(40, 70):
        service.say("late", turn)
    model.hold()
    since = len(model.calls)
    service.post("/chats/late/backlog", {"choice": "all"})
    said = service.status("late")["backlog"]
    model.release()
    service.settled("late")
    made, sent = cost(model, since)
    assert (said["turns"], said["estimated_calls"], made) == (30, 10, 10)
    assert said["estimated_input_tokens"] == pytest.approx(sent, rel=0.15)


def beginning(play: Path) -> str:
    """A play's first messages, as a file."""
    text = play.read_text(encoding="utf-8")
    if play.suffix == ".json":
        return json.dumps(json.loads(text)[:PLAYED])
    return "\n".join(text.splitlines()[: 1 + PLAYED])  # the first line is the header


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "width"), [("play-group-chat.jsonl", 1), ("play-openai.json", 4)])
def test_the_plays(service: Service, model: FakeModel, name: str, width: int) -> None:
    """Two real plays: calls are exact, tokens right within 15 %, one call at a time and several."""
    assert service.http.post(f"/v1/import?chat_id={name}", content=beginning(play_file(name))).status_code == 201
    service.patch(f"/chats/{name}", {"settings": {"layered": {"backlog_concurrency": width}}})
    said, made, sent = fold_all(service, model, name)
    assert service.status(name)["layers"][1]["snippets"]
    assert said["estimated_calls"] == made
    assert said["estimated_input_tokens"] == pytest.approx(sent, rel=0.15)
