"""What a prompt says of the fold that was due before it (rolling-and-buffer.md, `summary_buffer`)."""

from collections.abc import Mapping
from typing import Any

from app.core.breaker import LONGEST_COOLDOWN_S
from app.core.health import Pending
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


def too_long(
    state: ChatState,
    cooldown_s: float,
    pending: Pending | None,
    *,
    begun: bool = True,
    done: bool = False,
    fronted: bool = False,
) -> Failure:
    """Why a fold is not waited for any longer; it names a connection only where that is to blame.

    `pending`: how its summary fares. `begun`: its job runs; `done`: a part of it is stored; `fronted`: a frontend is to
    write it. Unless it was others that held it up, or a part is done, answers do not wait for the next one soon.
    """
    name, seconds = state.settings.summarizer(Strategy.SUMMARY_BUFFER), state.settings.summary_buffer.timeout_s
    limit = f"within {seconds:g} s (summary_buffer.timeout_s)"
    if not begun:
        return _held_up(f"The fold was not begun {limit}: it waited for the server to have time for it.")
    if pending is not None and pending.waited_s >= seconds / 2 and not fronted:
        return _held_up(
            f"The summary was not written {limit}: for {pending.waited_s:.1f} s it waited behind other calls to"
            f" connection {name!r}. Let that make more of them at once (concurrency), or allow more time."
        )
    retry_at = None if done else _rest_until(state.chat, cooldown_s)
    after = f"it is tried again for answers after {from_ms(retry_at):%H:%M:%S} UTC" if retry_at else "the rest follows"
    hint = f"See what POST /v1/connections/{name}/test says, or allow more time."
    if fronted:
        hint = "A frontend writes it, which cannot while it waits for this answer, and may do so afterwards."
    detail = f"Connection {name!r} did not write the summary {limit}: {after}. {hint}"
    return Failure("provider_unavailable", detail, name, retry_at=retry_at, skip="cancelled")


def _held_up(detail: str) -> Failure:
    return Failure("cancelled", f"{detail} The next answer waits for it again.", skip="cancelled")


def _rest_until(chat: Chat, cooldown_s: float) -> int:
    """Until when answers do not wait, in epoch ms; who waited for the same fold has said so already."""
    return chat.retry_at if chat.retry_at and rests(chat) else now_ms() + _rest_ms(chat.last_error, cooldown_s)


def _rest_ms(before: Mapping[str, Any] | None, cooldown_s: float) -> int:
    """How long answers do not wait: twice as long as after the fold before, if that took too long too."""
    told = before or {}
    again = told.get("skip") == "cancelled" and told.get("retry_at") is not None
    doubled_s = 2 * (told["retry_at"] - told["at"]) / 1000 if again else 0.0
    return round(1000 * max(cooldown_s, min(doubled_s, LONGEST_COOLDOWN_S)))
