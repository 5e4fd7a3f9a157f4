"""What rolling memory decides after each reply, kept for whoever looks into it (setting `diagnostics`)."""

from dataclasses import asdict
from typing import Any

from sqlmodel import Session

from app.core.model import Strategy
from app.core.rewrite import Rewrite, Skip
from app.core.settings import ChatSettings
from app.core.summary import Summary, SummaryRequest
from app.store import diagnostics
from app.store.tables import Chat


def note_skip(session: Session, chat: Chat, settings: ChatSettings, turn: int, skip: Skip) -> None:
    """Keep why nothing was folded after a turn."""
    if _wanted(chat, settings):
        data = {"parameters": asdict(settings.rolling), "skipped": asdict(skip)}
        diagnostics.put(session, chat.key, turn, data)


def note_fold(
    session: Session,
    chat: Chat,
    settings: ChatSettings,
    turn: int,
    plan: Rewrite,
    request: SummaryRequest,
    summary: Summary,
) -> None:
    """Keep how the fold after a turn was asked for, and what it brought."""
    if not _wanted(chat, settings):
        return
    prompt = [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]
    fold: dict[str, Any] = {
        "covered_through": plan.covered_through,
        "folded_turns": len(plan.turns),
        "summary_tokens": summary.tokens,
        "summarizer_prompt_tokens": summary.usage.prompt_tokens,
        "folded_input_tokens": request.source_tokens,
    }
    data = {
        "parameters": asdict(settings.rolling),
        "input": {"prompt": prompt},
        "output": {"text": summary.text},
        "last_fold": fold,
    }
    diagnostics.put(session, chat.key, turn, data)


def _wanted(chat: Chat, settings: ChatSettings) -> bool:
    return settings.diagnostics and chat.strategy == Strategy.ROLLING
