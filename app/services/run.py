"""One run of a job: what is under way, and what it remembers between its steps."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from app.core.folding import Fold
from app.core.healing import Remake
from app.core.model import Usage
from app.core.promotion import Merge, Seed
from app.core.summary import Spending, Summary, SummaryRequest, spent_on
from app.core.underway import Underway, first_to_commit
from app.errors import ModelError
from app.services.choosing import Headway, remember
from app.services.failure import CREDIT, Failure, Reaction, is_refusal
from app.services.planning import Standing, Step

_MOST_SPOILED = 20
"""So many answers for one batch that came too late to hold: rather than ask on, a job ends and is taken up later."""

_MOST_COMMITS = 20
"""So many commits of one and the same step: each undid what the one before had done."""

Call = Callable[[Step, SummaryRequest], Coroutine[Any, Any, Summary]]


@dataclass(frozen=True, eq=False)
class Entry:
    """A step under way; a seed move needs no call. `spending`: what the call has cost until now."""

    step: Step
    call: asyncio.Task[Summary] | None
    spending: Spending = field(default_factory=Spending)
    begun: float = field(default_factory=monotonic)

    @property
    def answered(self) -> bool:
        """Whether its call has come back, well or badly."""
        return self.call is None or self.call.done()

    @property
    def came(self) -> bool:
        """Whether there was a call, and it has come back."""
        return self.call is not None and self.call.done()

    @property
    def connection(self) -> str:
        """Which one gave the summary; empty if there is none."""
        return self.summary.connection if self.summary else ""

    @property
    def summary(self) -> Summary | None:
        """What came back; None for a step without a call."""
        return self.call.result() if self.call else None

    @property
    def error(self) -> ModelError | None:
        """Why nothing came back. Raises what nobody foresaw."""
        found = self.call.exception() if self.call and self.call.done() else None
        if found is not None and not isinstance(found, ModelError):
            raise found
        return found


@dataclass(eq=False)
class Run:
    """`width`: how many calls may run at once. `credit`: by connection, see failure.CREDIT. `left` and `promotes`: see
    core.underway. `spoiled`: how often a batch did not hold any more when its answer came. `unnoted`: what was paid for
    something that is not stored yet. `failure`: why the job will have failed; `over`: nothing more is begun; `lost`:
    the job is not ours any more.
    """

    job_id: str
    owner: str
    width: int = 1
    over: bool = False
    lost: bool = False
    promotes: bool = True
    skipped_turns: int = 0
    _no_merges: bool = False
    unnoted: Usage = field(default_factory=Usage)
    failure: Failure | None = None
    headway: Headway = field(default_factory=Headway)
    entries: list[Entry] = field(default_factory=list)
    left: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    commits: Counter[str] = field(default_factory=Counter)
    spoiled: Counter[str] = field(default_factory=Counter)
    credit: Counter[str] = field(default_factory=Counter)

    @property
    def calls(self) -> list[asyncio.Task[Summary]]:
        """The calls that have not come back."""
        return [entry.call for entry in self.entries if entry.call is not None and not entry.call.done()]

    @property
    def has_room(self) -> bool:
        """Whether another step may be planned now. One call at a time, what can be committed is committed first; with
        several, a call begins between two commits, so that none waits for all of them.
        """
        if self.over or len(self.calls) >= self.width or any(map(self._is_open, self.entries)):
            return False
        return self.width > 1 or self._next() is None

    @property
    def standing(self) -> Standing:
        """Where the run stands, for the next plan."""
        plans = [entry.step.plan for entry in self.entries]
        underway = Underway(
            folds=tuple(plan for plan in plans if isinstance(plan, Fold)),
            promotions=tuple(plan for plan in plans if isinstance(plan, Merge | Seed)),
            remakes=sum(isinstance(plan, Remake) for plan in plans),
            left=frozenset(self.left),
            promotes=self.promotes,
        )
        return Standing(self.headway, underway, dict(self.refused))

    def begin(self, step: Step, ask: Call) -> None:
        """Ask for a step."""
        if step.request is None:
            self.entries.append(Entry(step, None))
            return
        spending = Spending()
        asking = ask(step, replace(step.request, paid=spending.add))
        call = asyncio.create_task(asking, name=f"{step.batch} of job {self.job_id}")
        self.entries.append(Entry(step, call, spending))

    async def next_answer(self) -> None:
        """Wait until a call comes back, unless there is something to do already."""
        if self._next() is None:
            await asyncio.wait(self.calls, return_when=asyncio.FIRST_COMPLETED)

    def take(self) -> Entry | None:
        """The next step that failed or can be committed; it is no longer under way."""
        place = self._next()
        return None if place is None else self.entries.pop(place)

    async def cut(self) -> Usage:
        """Cut all calls and wait until they are cut; what was paid for them, and for those that had come back, and now
        go unused.
        """
        for call in self.calls:
            call.cancel()
        came = [(entry.call, entry.spending) for entry in self.entries if entry.call is not None]
        self.entries.clear()
        answers = await asyncio.gather(*(call for call, _ in came), return_exceptions=True)
        return sum((_paid_for(answer, spent) for answer, (_, spent) in zip(answers, came, strict=True)), Usage())

    def credit_of(self, step: Step) -> int:
        """What a step's connection is trusted with; an answer that waits for its turn to be stored counts too."""
        if step.request is None:
            return 0
        name = step.request.connection.name
        accepted = any(entry.error is None and entry.connection == name for entry in self.entries if entry.came)
        return max(self.credit[name], CREDIT if accepted else 0)

    def note_commit(self, step: Step, summary: Summary | None) -> None:
        """A step is stored."""
        remember(self.headway, step.plan, summary)
        self.commits[step.batch] += 1
        if isinstance(step.plan, Fold):
            self.promotes = not self._no_merges
        if summary is None or step.request is None:
            return
        if summary.connection == step.request.connection.name:
            self.credit[summary.connection] = CREDIT
        elif step.refused:
            self._lose_credit(step)

    def note_spoiled(self, step: Step) -> None:
        """A step's plan did not hold any more."""
        self.spoiled[step.batch] += 1

    @property
    def unsettled(self) -> bool:
        """Whether the run gets nowhere."""
        spoiled, commits = max(self.spoiled.values(), default=0), max(self.commits.values(), default=0)
        return spoiled >= _MOST_SPOILED or commits >= _MOST_COMMITS

    def note_failure(self, step: Step, reaction: Reaction, failure: Failure, *, times: int, passes: bool) -> None:
        """A step failed for good. A merge is tried again after the next fold if what it met `passes`."""
        if times:
            self.refused[step.batch] = times
        fold = step.plan if isinstance(step.plan, Fold) else None
        if reaction == "end":
            self.end(failure)
        if reaction not in ("skip", "leave"):
            return
        if failure.refused:
            self._lose_credit(step)
        if reaction == "skip" and fold:
            self.skipped_turns += len(fold.turns)
            return
        self.failure = self.failure or failure
        if fold:
            self.left.update(message.key for message in fold.covers)
        else:
            self.promotes, self._no_merges = False, self._no_merges or not passes

    def end(self, failure: Failure) -> None:
        """Begin nothing more; what is under way may still be committed. The first reason counts."""
        if not self.over:
            self.over, self.failure = True, failure

    def _lose_credit(self, step: Step) -> None:
        if step.request is not None:
            name = step.request.connection.name
            self.credit[name] = max(0, self.credit[name] - 1)

    def _next(self) -> int | None:
        """What failed makes way at once; the rest is committed in order."""
        for place, entry in enumerate(self.entries):
            if entry.error is not None and not self._is_open(entry):
                return place
        return first_to_commit([(entry.step.chain, entry.answered and not entry.error) for entry in self.entries])

    def _is_open(self, entry: Entry) -> bool:
        """Whether it is open what a refusal speaks against, the batch or the settings: the first answer that a call
        beside it brings will tell.
        """
        if entry.error is None or not is_refusal(entry.error) or entry.step.aside or not self.calls:
            return False
        return not self.credit_of(entry.step)


def _paid_for(answer: Summary | BaseException, spending: Spending) -> Usage:
    """What a call cost that came back so; of one that was cut, as far as it had come."""
    if isinstance(answer, Summary):
        return answer.usage
    return spent_on(answer) if isinstance(answer, ModelError) else spending.usage
