"""A worker whose steps a test makes one by one: it plans, and commits or fails later, whatever happened meanwhile."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from app.assembly import Server
from app.core.model import Usage
from app.core.summary import Summary, SummaryRequest
from app.errors import ModelUnavailable
from app.services.failure import Failure
from app.services.folding import Folding
from app.services.planning import Step
from app.services.run import Entry, Run
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
        self._run: Run | None = None
        self.made = dict(made)
        self.most_at_once = 0
        assert isinstance(self._folding, Folding)

    @property
    def is_asking(self) -> bool:
        """Whether a question is out."""
        return self._run is not None and bool(self._run.calls)

    def begin(self) -> None:
        """Take up a job if there is one, and plan its next step, if another one may be under way."""
        run = self._taken_up()
        if run is None or not run.has_room:
            return
        look = self._folding._plan(run)
        if look.step is not None:
            run.width = look.width
            call: Any = Future() if look.step.request else None
            run.entries.append(Entry(look.step, call))
            self.most_at_once = max(self.most_at_once, len(run.calls))
            self._commit(run)
        elif run.lost or not run.entries:
            self._run = None

    def finish(self, place: int = 0) -> None:
        """Answer one of the questions that are out; commit what can be, if its plan still holds."""
        run = self._run
        assert run is not None
        asked = [entry for entry in run.entries if not entry.answered]
        entry = asked[place % len(asked)]
        assert entry.step.request is not None
        call: Any = entry.call
        call.set_result(self._answer(entry.step.request))
        self._commit(run)

    def fail(self) -> None:
        """The model did not answer; the work is to be taken up again at once."""
        run, self._run = self._run, None
        assert run is not None
        error = ModelUnavailable("Away.", connection="default", calls=1)
        step: Step = run.entries[0].step
        failure = Failure.of(error, now_ms(), step.batch)
        failing = self._folding.failing
        failing.note(run.job_id, self._owner, step, failure, "end", Usage(calls=1))
        failing.end(run.job_id, self._owner, failure, Usage(), {})
        self.recover()

    def die(self) -> None:
        """The process ends with its questions unanswered; another one takes the work up."""
        run, self._run = self._run, None
        if run is not None:
            with self._db.write() as session:
                job = jobs.owned(session, run.job_id, self._owner)
                if job is not None:
                    jobs.interrupt(session, job, "The process that ran it ended.")
        self.recover()

    def recover(self) -> None:
        """What the runner's beat does."""
        self._recovery.recover(self._owner)

    def work_off(self) -> None:
        """Do everything there is to do. Fails if it does not end."""
        for _ in range(1000):
            if self.is_asking:
                self.finish()
            elif self._taken_up() is None:
                return
            else:
                self.begin()
        raise AssertionError("the work does not end")

    def _commit(self, run: Run) -> None:
        while (entry := run.take()) is not None:
            if self._folding._commit(entry.step, entry.summary):
                run.note_commit(entry.step, entry.summary)
            else:
                run.note_spoiled(entry.step)

    def _taken_up(self) -> Run | None:
        if self._run is None:
            with self._db.write() as session:
                waiting = jobs.waiting(session)
                job = jobs.claim(session, waiting[0], self._owner, 600_000) if waiting else None
                self._run = Run(job.id, self._owner) if job else None
        return self._run

    def _answer(self, request: SummaryRequest) -> Summary:
        text = f"{request.kind} {len(self.made) + 1}"
        self.made[text] = (request.kind, [line.text for line in request.passage])
        return Summary(text, 2, "default", "by hand", Usage(1, 10, 2))


def now(call: Any) -> Any:
    """The result of a coroutine, at once."""
    return asyncio.run(call)
