"""The batches on their way to a model, and what holds them up."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from app.core.health import Pending
from app.core.model import Usage
from app.core.retry import Failure, GiveUp
from app.core.summary import SummaryRequest
from app.llm.http import Clock
from app.llm.lane import Lane


@dataclass(eq=False)
class Batch:
    """One request on its way: the attempts made and what they cost. `since`: when it came; `sent_at`: when its first
    call began, the last of `sent`. `said`: the last answer of the present attempt, as it came.
    """

    request: SummaryRequest
    lane: Lane
    since: datetime
    attempt: int = 0
    used: Usage = field(default_factory=Usage)
    sent_at: datetime | None = None
    sent: int = 0
    said: str = ""

    def pay(self, cost: Usage) -> None:
        """So much more was used."""
        self.used += cost
        if self.request.paid is not None:
            self.request.paid(cost)


class Batches:
    """Those under way in this process. They come and go on one event loop; asked about they may be from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._under_way: tuple[Batch, ...] = ()  # replaced, never changed

    @contextmanager
    def under_way(self, request: SummaryRequest, lane: Lane) -> Iterator[Batch]:
        """A request, as long as it is on its way."""
        batch = Batch(request, lane, self._clock())
        self._under_way += (batch,)
        try:
            yield batch
        finally:
            self._under_way = tuple(one for one in self._under_way if one is not batch)

    def sent(self, batch: Batch) -> None:
        """A call of it begins: nobody else's keeps it waiting any more."""
        batch.sent += 1
        batch.sent_at = batch.sent_at or self._clock()

    def pending(self, chat: str) -> Pending | None:
        """How a chat's oldest request fares."""
        batch = self._of(chat)
        if batch is None:
            return None
        waited = (batch.sent_at or self._clock()) - batch.since
        return Pending(waited.total_seconds(), batch.sent)

    def silent(self, chat: str, seconds: float) -> None:
        """It is given up after so many seconds: that counts as a batch that failed, on the connection asked last."""
        batch = self._of(chat)
        if batch is not None and batch.sent:
            reason = f"gave no summary within the {seconds:g} s that an answer waits"
            batch.lane.failed(batch.request.connection, Failure("timeout", reason=reason), GiveUp())

    def _of(self, chat: str) -> Batch | None:
        asked = (batch for batch in self._under_way if not batch.request.trial)
        return next((batch for batch in asked if batch.request.chat == chat), None)
