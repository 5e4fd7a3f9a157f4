"""Every fault of a model server, through the whole service: what it costs, what it says, and that nothing advances."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from tests.end_to_end.fault_stage import Stage, staged
from tests.end_to_end.faults import FAULTS, Fault
from tests.support import fake_replies as replies
from tests.support.checks import assert_promises
from tests.support.fake_exchange import Behaviour

PROVIDERS = ["openai", "ollama"]
TIMEOUT_S = 0.15

BAD = [fault for fault in FAULTS if fault.reads]
GOOD = [fault for fault in FAULTS if not fault.reads]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with staged(tmp_path_factory.mktemp("faults")) as stage:
        yield stage


class Play:
    """One fault in a chat and on a connection of its own."""

    def __init__(self, stage: Stage, fault: Fault, provider: str) -> None:
        self.stage, self.fault, self.provider = stage, fault, provider
        self.name = f"{provider}-{FAULTS.index(fault)}"
        self.connect(self._address())
        stage.open_chat(self.name, self.name)
        self._heard, self._slept = len(stage.model.calls), len(stage.time.sleeps)

    def connect(self, address: str | None = None) -> None:
        """Make the connection, or mend it."""
        timeout_s = TIMEOUT_S if self.fault.slow else 30
        self.stage.connect(self.name, self.provider, address, timeout_s=timeout_s, api_key="sk-secret")

    def acting(self) -> AbstractContextManager[None]:
        """While this lasts, the fault is there."""
        return nullcontext() if isinstance(self.fault.act, str) else self.stage.model.only(self.fault.act)

    def cease(self) -> bool:
        """Mend what was wrong, but let it happen once more where another attempt helps. Whether it does happen."""
        if isinstance(self.fault.act, str):
            self.connect()
            return False
        if self.fault.passes:
            self.stage.model.do(self.fault.act)
        self.stage.time.pass_by(self.fault.rest)
        return self.fault.passes

    def say(self, turn: int) -> int:
        """The calls that an append of this turn costs."""
        self._heard, self._slept = len(self.stage.model.calls), len(self.stage.time.sleeps)
        calls: int = self.stage.service.say(self.name, turn)["usage"]["calls"]
        return calls

    def heard(self) -> int:
        """Calls of the last append that reached the model server."""
        return len(self.stage.model.calls) - self._heard

    def pauses(self) -> tuple[float, ...]:
        """Pauses since the last append."""
        return tuple(self.stage.time.sleeps[self._slept :])

    def status(self) -> dict[str, Any]:
        return self.stage.service.status(self.name)

    def told(self, sentence: str) -> str:
        """The sentence as the table has it."""
        return sentence.replace(repr(self.name), "'default'").replace(f"within {TIMEOUT_S:g} s", "within 120 s")

    def _address(self) -> str | None:
        if self.fault.act == "nobody listens":
            return f"http://127.0.0.1:{self.stage.dead_port}"
        # A name with an empty part: the resolver refuses it by itself, and asks nobody.
        return "http://models..invalid" if self.fault.act == "no such host" else None


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", BAD, ids=lambda fault: fault.name)
def test_a_fault_advances_nothing(stage: Stage, fault: Fault, provider: str) -> None:
    """It costs the calls and pauses of the table, says its sentence, and leaves the chat as it was; then the next
    append folds, though the fault happens once more.
    """
    play = Play(stage, fault, provider)
    with play.acting():
        assert play.say(13) == fault.calls
    assert play.pauses() == fault.pauses
    if not fault.slow:  # a time-out may come before the call is read
        assert play.heard() == (0 if isinstance(fault.act, str) else fault.calls)
    status, job = play.status(), stage.last_job(play.name)
    _says_what_is_wrong(play, status, job)
    _shows_the_connection(play, status)
    _has_advanced_nothing(play, status)
    _folds_once_it_is_over(play)


def _says_what_is_wrong(play: Play, status: dict[str, Any], job: dict[str, Any]) -> None:
    fault, error = play.fault, status["last_error"]
    assert (status["job"], job["state"], job["progress"]["failed"]) == (None, "failed", 1)
    assert play.told(job["reason"]) == play.told(error["detail"]) == fault.reads
    assert (error["code"], error["connection"], error["status"]) == (fault.code, play.name, fault.status)
    assert (error["retry_at"] is None) == (fault.then == "waits")
    for secret in ("sk-secret", "gate"):
        assert secret not in f"{status}{job}"


def _shows_the_connection(play: Play, status: dict[str, Any]) -> None:
    assert status["connection"]["state"] == play.fault.state
    if not play.fault.rest:
        assert status["connection"]["retry_at"] is None
        return
    for retry_at in (status["connection"]["retry_at"], status["last_error"]["retry_at"]):
        assert play.stage.until(retry_at) == play.fault.rest


def _has_advanced_nothing(play: Play, status: dict[str, Any]) -> None:
    counts = status["counts"]
    assert (counts["messages"], counts["visible"], counts["ghosted"], counts["skipped"]) == (26, 26, 0, 0)
    assert (status["memory_version"], status["layers"], status["summarized_through"]) == (0, [], None)
    assert_promises(play.stage.service.database, play.name)


def _folds_once_it_is_over(play: Play) -> None:
    again = play.cease()
    assert play.say(14) == 1 + again
    assert play.pauses() == play.fault.pauses[: int(again)]
    status = play.status()
    assert (status["counts"]["ghosted"], status["memory_version"], status["last_error"]) == (6, 1, None)
    assert (status["connection"]["state"], status["degraded_snippets"]) == ("ok", 0)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", GOOD, ids=lambda fault: fault.name)
def test_what_only_looks_like_a_fault_is_an_answer(stage: Stage, fault: Fault, provider: str) -> None:
    """It becomes a snippet, marked as degraded where it had to be cut."""
    play = Play(stage, fault, provider)
    with play.acting():
        assert play.say(13) == fault.calls
    assert play.pauses() == ()
    status = play.status()
    assert (status["counts"]["ghosted"], status["last_error"], status["connection"]["state"]) == (6, None, "ok")
    assert status["degraded_snippets"] == (fault.then == "degraded")
    [layer] = status["layers"]
    assert 0 < layer["tokens"] <= 120


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "reply",
    [replies.raw(b'data: {"data": []}\n\n', "text/event-stream"), replies.raw(b'{"models"', "application/json")],
    ids=["a stream", "half a body"],
)
def test_a_list_of_models_that_is_none(stage: Stage, provider: str, reply: Behaviour) -> None:
    """Where one JSON body is usual nothing else is taken; the list is asked for once, and says what to check."""
    name = f"list-{provider}"
    stage.connect(name, provider)
    before = len(stage.model.requests)
    with stage.model.only(reply):
        answer = stage.service.get(f"/connections/{name}/models")
    assert answer.status_code == 503
    wrong = "sent something that is no answer of a model; check its base URL"
    assert answer.json()["detail"] == f"Connection '{name}' {wrong}."
    assert len(stage.model.requests) == before + 1
