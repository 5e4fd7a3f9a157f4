"""Chats that a scripted model is folding, and what must hold once somebody says stop."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

from tests.support.checks import assert_promises
from tests.support.fake_exchange import Behaviour
from tests.support.fake_model import FakeModel
from tests.support.fake_replies import answer, hang
from tests.support.service import Service, running

LATER_S = 0.4
"""How long nothing may happen before it counts as nothing."""

AT_ONCE_S = 2.0
"""Some milliseconds, on a machine with nothing else to do."""

SMALL = {"verbatim_turns": 1, "turns_per_batch": 1}
"""Each turn is a batch, and the newest one stays."""


def connected(model: FakeModel, **settings: Any) -> dict[str, Any]:
    """Settings of a server that asks this model."""
    return {"llm_provider": "openai", "llm_base_url": model.base_url, "llm_model": "fake-small", **settings}


@contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[tuple[Service, FakeModel]]:
    """A service and its model, until the block ends."""
    with FakeModel() as model, running(folder, **connected(model, **settings)) as service:
        yield service, model


class Busy:
    """One chat of a service; what is counted are the calls since it was made."""

    def __init__(self, service: Service, model: FakeModel) -> None:
        self.service, self.model = service, model
        self.chat = str(uuid4())
        self.path = f"/chats/{self.chat}"
        self._calls, self._disconnects = len(model.calls), model.disconnects

    def __enter__(self) -> "Busy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing to the next one."""
        self.service.post(f"{self.path}/stop")
        self.model.forget_script()
        self.model.release()

    @property
    def calls(self) -> int:
        return len(self.model.calls) - self._calls

    def fold(self, *behaviours: Behaviour, turns: int = 6, **layered: Any) -> str:
        """Give the chat so many turns, of which all but the last are due; its job's id, once each behaviour was asked
        for.
        """
        asked = len(self.model.requests) + len(behaviours)
        self.model.do(*behaviours)
        self.service.put(self.path, {"settings": {"on_backlog": "all", "layered": {**SMALL, **layered}}})
        job_id: str = self.service.say(self.chat, *range(1, turns + 1), fold="background")["job_id"]
        self.model.wait_for_calls(asked, 20)
        return job_id

    def fold_two(self) -> str:
        """The same with six turns: two batches are done, and the model is silent about the third."""
        return self.fold(answer("Mira asks about gate 1."), answer("Mira asks about gate 2."), hang())

    def stop(self) -> None:
        """Say so, and have it answered at once."""
        began = time.monotonic()
        assert self.service.post(f"{self.path}/stop").json()["stopped"]
        assert time.monotonic() - began < AT_ONCE_S

    def assert_cut(self, calls: int = 1) -> None:
        """So many calls to the model were left in the middle, no more and no less."""
        self.model.wait_for_disconnects(self._disconnects + calls, AT_ONCE_S)
        assert self.model.disconnects == self._disconnects + calls

    def memory(self) -> tuple[int, int]:
        """The version of the chat's memory, and its ghosted messages."""
        status = self.service.status(self.chat)
        return status["memory_version"], status["counts"]["ghosted"]

    def assert_stopped(self, *, ghosted: int, calls: int) -> None:
        """Nothing runs on the chat, and nothing more comes: no call, no snippet. What is there keeps every promise."""
        memory = self.memory()
        assert (self.service.status(self.chat)["job"], memory[1], self.calls) == (None, ghosted, calls)
        time.sleep(LATER_S)
        assert (self.memory(), self.calls) == (memory, calls)
        assert_promises(self.service.database, self.chat, SMALL["verbatim_turns"])

    def state(self, job_id: str) -> tuple[str, str]:
        """How a job stands, and why."""
        job = self.service.get(f"/jobs/{job_id}").json()
        return job["state"], job["reason"]


def until(look: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is so. Raises AssertionError if it takes too long."""
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.01)
