"""Calls that wait for a frontend: who may take one, who may answer it, and what becomes of it (decision 29).

Moments are epoch milliseconds.
"""

from dataclasses import dataclass
from typing import Literal

Ending = Literal["answered", "timed_out", "withdrawn", "cut", "orphaned"]
"""How a call ends: `withdrawn` where it is to be asked anew, `cut` where nobody wants it any more, `orphaned` where the
process that asked has died."""

Course = Literal["wait", "free", "timed_out", "ended"]

ALIVE_MS = 10_000
"""How long a call outlives the last sign of the process that asks."""

_ENDED = {
    "answered": "has been answered already",
    "timed_out": "took longer than its connection's timeout_s; if it is still wanted, it waits under another id",
    "withdrawn": "is asked anew, because messages, settings or the connection were changed; it waits under another id",
    "orphaned": "was asked by a process that has ended; if it is still wanted, it waits under another id",
    "cut": "is not wanted any more, because its job was stopped",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a frontend is asked for a chat. `timeout_s`: seconds from the moment somebody takes it."""

    chat: str
    connection: str
    system: str
    user: str
    max_tokens: int
    temperature: float
    attempt: int
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What a frontend's model answered; the token counts are None where the frontend gave none."""

    text: str
    finish_reason: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a frontend has no answer, in its own words. `status`: the HTTP status that its model's server gave."""

    message: str
    status: int | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a call stands. `state`: `waiting`, or how it ended.

    `leased_at`: since when it is held without a break; `client`: who holds it, or held it last.
    """

    state: str
    alive_until: int
    timeout_ms: int
    leased_at: int | None = None
    lease_until: int | None = None
    client: str | None = None

    def is_held(self, now: int) -> bool:
        """Whether somebody answers it now."""
        return self.state == "waiting" and self.lease_until is not None and self.lease_until > now

    @property
    def deadline(self) -> int | None:
        """When whoever holds it has had time enough."""
        return None if self.leased_at is None else self.leased_at + self.timeout_ms


def lease_end(now: int, leased_at: int, lease_ms: int, timeout_ms: int) -> int:
    """Until when a call is held: no lease is longer than the call may take."""
    return min(now + lease_ms, leased_at + timeout_ms)


def refusal(standing: Standing, client: str | None, now: int) -> str | None:
    """Why nobody, or not this client, may answer, hold or give back a call; None if it may.

    A lease that ran out forbids nothing, as long as nobody else has taken the call. A client that does not say who it
    is passes for the one that holds it: the first answer counts.
    """
    if standing.state != "waiting":
        return _ENDED[standing.state]
    if standing.alive_until < now:
        return "is not wanted any more: the process that asked has ended"
    if client is not None and standing.is_held(now) and standing.client != client:
        return "has been taken by another client since"
    return None


def course(standing: Standing, now: int) -> Course:
    """What is to be done about a call that somebody waits for."""
    if standing.state != "waiting":
        return "ended"
    if standing.deadline is not None and standing.deadline <= now:
        return "timed_out"
    return "free" if standing.lease_until is not None and standing.lease_until <= now else "wait"


def quiet_ms(standing: Standing, now: int) -> int | None:
    """For how long the clock alone changes nothing about a call; None if it never does."""
    moments = [moment for moment in (standing.lease_until, standing.deadline) if moment is not None]
    return max(0, min(moments) - now) if moments else None
