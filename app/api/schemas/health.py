"""Whether the server lives, and whether it can work."""

from datetime import datetime
from typing import Literal

from app.api.schemas.common import Shown

State = Literal["ok", "cooling_down", "failing"]


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

    state: State
    retry_at: datetime | None


class ConnectionCheck(Shown):
    """How the connection of a name fares. `last_error`: what went wrong last, null once it answers again."""

    name: str
    state: State
    retry_at: datetime | None
    last_error: str | None


class Checks(Shown):
    """What was looked at. `connections`: those that this process has called, and the default one."""

    database: Check
    worker: Check
    default_connection: BreakerCheck
    connections: list[ConnectionCheck]


class Readiness(Shown):
    """Ready when database and worker are."""

    ready: bool
    checks: Checks
