"""Whether the server lives, and whether it can work."""

from datetime import datetime
from typing import Literal

from app.api.schemas.common import Shown


class Alive(Shown):
    """The process answers."""

    status: Literal["ok"]
    version: str


class Check(Shown):
    """One thing that must be well; `detail` says what to do if it is not."""

    ok: bool
    detail: str


class BreakerCheck(Shown):
    """How a connection fares; folding waits for it, the server does not."""

    state: Literal["ok", "cooling_down", "failing"]
    retry_at: datetime | None


class Checks(Shown):
    """What was looked at."""

    database: Check
    worker: Check
    default_connection: BreakerCheck


class Readiness(Shown):
    """Ready when database and worker are."""

    ready: bool
    checks: Checks
