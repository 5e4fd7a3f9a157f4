"""When a connection that keeps failing is left alone. Source: layered.md, Failing calls (Breaker)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from app.core.health import State
from app.core.retry import Failure

Admission = Literal["pass", "probe", "refuse"]

FAILURES_TO_OPEN = 3
LONGEST_COOLDOWN_S = 900.0
_COUNTED_STATUSES = frozenset({401, 403, 404, 429})


def counts(failure: Failure) -> bool:
    """Whether a failure speaks against the connection rather than against one batch."""
    if failure.kind == "status":
        return failure.status in _COUNTED_STATUSES or (failure.status or 0) >= 500
    return failure.kind in ("connection", "timeout")


@dataclass(frozen=True, slots=True)
class Breaker:
    """The state of one connection; every method gives the next state. Times are aware and in UTC.

    `failures`: batches in a row that failed. `until`: no calls before that; once it has passed one call is let
    through as a probe, and the caller sees to it that it is one. `openings` in a row double the cool-down.
    """

    cooldown_s: float = 60.0
    failures: int = 0
    until: datetime | None = None
    openings: int = 0

    def admits(self, now: datetime) -> Admission:
        """Whether a call may be made now."""
        if self.until is None:
            return "pass"
        return "refuse" if now < self.until else "probe"

    def state(self, now: datetime) -> State:
        """`failing`: calls are let through, but the last thing known of the connection is a failure."""
        if self.admits(now) == "refuse":
            return "cooling_down"
        return "failing" if self.failures or self.until else "ok"

    def retry_at(self, now: datetime) -> datetime | None:
        """When calls are made again, if they are not made now."""
        return self.until if self.admits(now) == "refuse" else None

    def succeeded(self, now: datetime) -> "Breaker":
        """The server answered. An answer that was under way when the cool-down began does not end it."""
        return self if self.admits(now) == "refuse" else Breaker(self.cooldown_s)

    def failed(self, failure: Failure, now: datetime) -> "Breaker":
        """A batch, or the probe, failed for good.

        A failure that does not count shows a server that answers; wrong settings show nothing. What ends late, while
        the connection cools down already, changes nothing.
        """
        if failure.kind == "settings" or self.admits(now) == "refuse":
            return self
        if not counts(failure):
            return self.succeeded(now)
        failures = self.failures + 1
        if failures < FAILURES_TO_OPEN and self.until is None:
            return replace(self, failures=failures)
        # The exponent is bounded so that a server that stays dead for years overflows nothing.
        cooldown_s = max(self.cooldown_s, min(self.cooldown_s * 2.0 ** min(self.openings, 16), LONGEST_COOLDOWN_S))
        return replace(self, failures=failures, until=now + timedelta(seconds=cooldown_s), openings=self.openings + 1)

    def cooled(self, now: datetime, seconds: float) -> "Breaker":
        """The server asked to be left alone for so long."""
        asked = now + timedelta(seconds=seconds)
        return replace(self, until=max(asked, self.until) if self.until else asked)
