"""How a connection fares, in the words of status, dashboards and tests of a connection."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

State = Literal["ok", "cooling_down", "failing"]


@dataclass(frozen=True, slots=True)
class Health:
    """`failing`: it is asked, but the last thing known of it is a failure. `retry_at`: when it is asked again, if it
    is not asked now.
    """

    state: State
    retry_at: datetime | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """How a test of a connection went; latency in milliseconds."""

    ok: bool
    latency_ms: int
    detail: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A summary that is being asked for: how many seconds it waited behind others' calls, and the calls made for it."""

    waited_s: float
    calls: int
