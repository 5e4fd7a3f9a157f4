"""How often and how long a failing call is tried again. Source: layered.md, Failing calls."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_PLAIN_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
# Longer than any quota lasts, short enough for every calendar.
_LONGEST_COOL_DOWN_S = 30 * 86_400.0

FailureKind = Literal["connection", "timeout", "status", "unusable", "settings"]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` in all, waits from `base_s` seconds to `max_s` seconds."""

    attempts: int = 6
    base_s: float = 2.0
    max_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt.

    `kind`: "status" is an HTTP error with its `status`; "unusable" an answer that cannot become memory; "settings" a
    call that could not even be made. `retry_after`: what the server asked for, in seconds. `reason` is a phrase for
    people and holds neither keys nor chat text.
    """

    kind: FailureKind
    status: int | None = None
    retry_after: float | None = None
    reason: str = ""

    @property
    def retried(self) -> bool:
        """Whether trying again can help."""
        return self.status in RETRIED_STATUSES if self.kind == "status" else self.kind != "settings"


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CoolDown:
    """Stop trying; the server wants to be left alone for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Stop trying."""


Decision = Wait | CoolDown | GiveUp


def decide(policy: RetryPolicy, failure: Failure, attempt: int, random: Callable[[], float]) -> Decision:
    """What follows after attempt number `attempt` (from 1) failed. `random` gives 0–1."""
    if not failure.retried:
        return GiveUp()
    if failure.retry_after is not None and failure.retry_after > policy.max_s:
        return CoolDown(min(failure.retry_after, _LONGEST_COOL_DOWN_S))
    if attempt >= policy.attempts:
        return GiveUp()
    return Wait(failure.retry_after or backoff_s(policy, attempt + 1, random))


def backoff_s(policy: RetryPolicy, attempt: int, random: Callable[[], float]) -> float:
    """Seconds before attempt number `attempt` (2, 3, …): min(base·2^(attempt-2) + random 0–base, max)."""
    doubled = policy.base_s * 2.0 ** min(attempt - 2, 64)
    return min(doubled + random() * policy.base_s, policy.max_s)


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds asked for by `retry-after-ms` or `Retry-After` (seconds or an HTTP date).

    None if absent, unreadable, past, or not above zero.
    """
    values = {name.lower(): value.strip() for name, value in headers.items()}
    asked = values.get("retry-after", "")
    seconds = _number(values.get("retry-after-ms", ""), 1000) or _number(asked, 1) or _seconds_until(asked, now)
    return seconds if seconds is not None and seconds > 0 else None


def _number(text: str, per_second: int) -> float | None:
    return float(text) / per_second if _PLAIN_NUMBER.fullmatch(text) else None


def _seconds_until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
