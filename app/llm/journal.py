"""What the log tells of calls to models: how they went and what they cost. Never texts, keys or addresses."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Literal

import structlog

from app.core.acceptance import Accepted, TooLong, Unusable, Verdict
from app.core.model import Usage
from app.core.retry import FailureKind
from app.core.summary import Connection, SummaryRequest
from app.llm.wire import CallFailed

log = structlog.get_logger()

Outcome = Literal["accepted", "too_long", "cancelled"] | FailureKind

_OUTCOMES: dict[type[Verdict], Outcome] = {Accepted: "accepted", TooLong: "too_long", Unusable: "unusable"}


@dataclass
class Call:
    """One call while it is under way: cut, unless something else is noted; `tokens` is None until they are known."""

    began: float | None = None
    latency_ms: int | None = None
    outcome: Outcome = "cancelled"
    status: int | None = None
    reason: str | None = None
    tokens: Usage | None = None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Around what the server takes its time for."""
        self.begin()
        with self.measured():
            yield

    def begin(self) -> None:
        """The server takes its time from now on."""
        self.began = perf_counter()

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Until the server is done, if it ever begins."""
        try:
            yield
        finally:
            if self.began is not None:
                self.latency_ms = round((perf_counter() - self.began) * 1000)

    @property
    def made(self) -> int:
        """How many calls this was: none where it could not even be made."""
        return int(self.began is not None)

    def judged(self, verdict: Verdict, tokens: Usage | None = None) -> None:
        """The answer was read: what it is worth, and what it cost."""
        self.outcome, self.tokens = _OUTCOMES[type(verdict)], tokens
        self.reason = verdict.reason if isinstance(verdict, Unusable) else None


@contextmanager
def about(request: SummaryRequest) -> Iterator[None]:
    """Every line of the block names the chat and the batch."""
    names = {"chat": request.chat, "batch": request.batch}
    with structlog.contextvars.bound_contextvars(**{name: value for name, value in names.items() if value}):
        yield


@contextmanager
def told(connection: Connection, attempt: int) -> Iterator[Call]:
    """Around one call: tells of it at the end, if it was made at all."""
    call = Call()
    try:
        yield call
    except CallFailed as failed:
        failure = failed.failure
        call.outcome, call.status, call.reason = failure.kind, failure.status, failure.reason or None
        raise
    finally:
        if call.made:
            _tell(connection, attempt, call)


def _tell(connection: Connection, attempt: int, call: Call) -> None:
    log.info(
        "model_called",
        connection=connection.name,
        model=connection.model,
        attempt=attempt,
        outcome=call.outcome,
        status=call.status,
        reason=call.reason,
        latency_ms=call.latency_ms,
        prompt_tokens=call.tokens.prompt_tokens if call.tokens else None,
        completion_tokens=call.tokens.completion_tokens if call.tokens else None,
    )


def retrying(connection: Connection, attempt: int, seconds: float) -> None:
    """Attempt number `attempt` follows after so many seconds."""
    log.info("retry_scheduled", connection=connection.name, attempt=attempt, seconds=round(seconds, 1))


def opened(connection: str, until: datetime, reason: str | None) -> None:
    """A connection is left alone from now on."""
    log.warning("breaker_opened", connection=connection, until=until.isoformat(timespec="seconds"), reason=reason)


def closed(connection: str) -> None:
    """A connection is called again as before."""
    log.warning("breaker_closed", connection=connection)
