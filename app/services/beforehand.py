"""What a prompt says of the fold that was due before it (rolling-and-buffer.md, `summary_buffer`)."""

from collections.abc import Mapping
from typing import Any

from app.core.breaker import LONGEST_COOLDOWN_S
from app.core.model import Strategy
from app.core.rewrite import Rewrite
from app.services.failure import Failure
from app.services.projection_query import Beforehand
from app.services.projection_view import WARNINGS, WarningView
from app.services.reading import ChatState
from app.store.clock import from_ms, now_ms
from app.store.tables import Chat

_TOLD = ("code", "detail", "connection", "status")


def failed(state: ChatState, plan: Rewrite, report: Mapping[str, Any]) -> Beforehand:
    """A fold was due and was not made; `report`: why, as a Failure reports it."""
    error = {name: report.get(name) for name in _TOLD}
    detail = f"{WARNINGS['fold_failed']} {error['detail'] or ''}".rstrip()
    return Beforehand(
        warnings=(WarningView("fold_failed", detail),),
        skipped=skipped(plan, report.get("skip") or "model_error"),
        error=error if state.settings.summary_buffer.expose_error_output else None,
    )


def skipped(plan: Rewrite, reason: str) -> Mapping[str, Any]:
    """Why a fold was not made, and what waits for it."""
    return {
        "reason": reason,
        "pending_turns": len(plan.turns),
        "pending_tokens": sum(turn.tokens for turn in plan.turns),
    }


def rests(chat: Chat) -> bool:
    """Whether answers do not wait for a fold now: the last one that they waited for took too long."""
    return chat.retry_at is not None and chat.retry_at > now_ms()


def too_long(state: ChatState, cooldown_s: float, *, rest: bool) -> Failure:
    """Why a fold that was waited for too long is given up; with `rest`, answers do not wait for the next one soon."""
    name, seconds = state.settings.summarizer(Strategy.SUMMARY_BUFFER), state.settings.summary_buffer.timeout_s
    retry_at = now_ms() + _rest_ms(state.chat.last_error, cooldown_s) if rest else None
    after = f"it is tried again for answers after {from_ms(retry_at):%H:%M:%S} UTC" if retry_at else "the rest follows"
    detail = (
        f"Connection {name!r} did not write the summary within {seconds:g} s (summary_buffer.timeout_s): {after}."
        f" See what POST /v1/connections/{name}/test says, or allow more time."
    )
    return Failure("provider_unavailable", detail, name, retry_at=retry_at, skip="cancelled")


def _rest_ms(before: Mapping[str, Any] | None, cooldown_s: float) -> int:
    """How long answers do not wait: twice as long as after the fold before, if that took too long too."""
    told = before or {}
    again = told.get("skip") == "cancelled" and told.get("retry_at") is not None
    doubled_s = 2 * (told["retry_at"] - told["at"]) / 1000 if again else 0.0
    return round(1000 * max(cooldown_s, min(doubled_s, LONGEST_COOLDOWN_S)))
