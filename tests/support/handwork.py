"""A worker whose steps a test makes one by one: it plans, and commits or fails later, whatever happened meanwhile."""

import asyncio
from collections.abc import Mapping
from typing import Any

from app.assembly import Server
from app.core.model import Usage
from app.core.summary import Summary, SummaryRequest
from app.errors import ModelUnavailable
from app.services import folding
from app.services.choosing import remember
from app.services.failure import Failure
from app.store import jobs
from app.store.clock import now_ms


class Handworker:
    """Runs jobs of a server whose runner was never started. `made` says what each of its texts was made from."""

    def __init__(self, server: Server, made: Mapping[str, tuple[str, list[str]]]) -> None:
        runner: Any = server.runner
        self._folding: Any = runner._work
        self._recovery: Any = runner._recovery
        self._db = server.db
        self._owner = "handworker"
        self._job: str | None = None
        self._run: Any = None
        self._step: Any = None
        self.made = dict(made)
        assert isinstance(self._folding, folding.Folding)

    @property
    def is_asking(self) -> bool:
        """Whether a question is out."""
        return self._step is not None

    def begin(self) -> None:
        """Take up a job if there is one, and plan its next step."""
        if self._step is not None or not self._has_job():
            return
        self._step = self._folding._plan(self._job, self._owner, self._run)
        if self._step is None:
            self._job = None
        elif self._step.request is None:
            self.finish()

    def finish(self) -> None:
        """Commit the answer to what was asked, if the plan still holds."""
        step, self._step = self._step, None
        summary = self._answer(step.request) if step.request else None
        if self._folding._commit(step, summary):
            remember(self._run.headway, step.plan, summary)

    def fail(self) -> None:
        """The model did not answer; the work is to be taken up again at once."""
        step, self._step = self._step, None
        error = ModelUnavailable("Away.", connection="default", calls=1)
        failure = Failure.of(error, now_ms(), step.batch)
        self._folding._fail(self._job, self._owner, failure, Usage(calls=1), step)
        self._job = None
        self.recover()

    def die(self) -> None:
        """The process ends with its question unanswered; another one takes the work up."""
        self._step = None
        if self._job is not None:
            with self._db.write() as session:
                job = jobs.owned(session, self._job, self._owner)
                if job is not None:
                    jobs.interrupt(session, job, "The process that ran it ended.")
        self._job = None
        self.recover()

    def recover(self) -> None:
        """What the runner's beat does."""
        self._recovery.recover(self._owner)

    def work_off(self) -> None:
        """Do everything there is to do. Fails if it does not end."""
        for _ in range(500):
            if self._step is not None:
                self.finish()
            elif self._has_job():
                self.begin()
            else:
                return
        raise AssertionError("the work does not end")

    def _has_job(self) -> bool:
        if self._job is not None:
            return True
        with self._db.write() as session:
            waiting = jobs.waiting(session)
            job = jobs.claim(session, waiting[0], self._owner, 600_000) if waiting else None
            self._job = job.id if job else None
        self._run = _new_run() if self._job else None
        return self._job is not None

    def _answer(self, request: SummaryRequest) -> Summary:
        text = f"{request.kind} {len(self.made) + 1}"
        self.made[text] = (request.kind, [line.text for line in request.passage])
        return Summary(text, 2, "default", "by hand", Usage(1, 10, 2))


def _new_run() -> Any:
    module: Any = folding
    return module._Run()


def now(call: Any) -> Any:
    """The result of a coroutine, at once."""
    return asyncio.run(call)
