"""What rolling memory decides after each reply, kept for whoever looks into it (setting `diagnostics`)."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session

from app.core.model import Strategy
from app.core.rewrite import Rewrite, Skip
from app.core.settings import ChatSettings
from app.core.summary import Summary, SummaryRequest
from app.errors import NotFound
from app.services.reading import require_chat
from app.store import diagnostics
from app.store.clock import from_ms
from app.store.engine import Database
from app.store.tables import Chat
from app.store.view_tables import Diagnosis


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """What was decided after a turn, as `note_skip` and `note_fold` wrote it. `turn` is the turn's 0-based index."""

    turn: int
    created_at: datetime
    data: dict[str, Any]


@dataclass(frozen=True)
class Diagnosing:
    """Reads what is kept of a chat. Raises NotFound."""

    db: Database

    def page(self, chat_id: str, after: int, limit: int) -> list[DiagnosisView]:
        """What is kept of the turns after one, oldest first."""
        with self.db.read() as session:
            chat = require_chat(session, chat_id)
            return [_show(found) for found in diagnostics.page(session, chat.key, after, limit)]

    def of_turn(self, chat_id: str, turn: int) -> DiagnosisView:
        """What is kept of one turn."""
        with self.db.read() as session:
            found = diagnostics.of_turn(session, require_chat(session, chat_id).key, turn)
            if found is None:
                raise NotFound(
                    f"Nothing is kept of turn {turn} of chat {chat_id!r}: rolling memory keeps its checks while the"
                    f" setting diagnostics is on, for {diagnostics.MOST} turns."
                )
            return _show(found)


def _show(found: Diagnosis) -> DiagnosisView:
    return DiagnosisView(found.turn, from_ms(found.created_at), found.data)


def note_skip(session: Session, chat: Chat, settings: ChatSettings, turn: int, skip: Skip) -> None:
    """Keep why nothing was folded after a turn."""
    if _wanted(chat, settings):
        data = {"parameters": _parameters(settings), "skipped": asdict(skip)}
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
        "parameters": _parameters(settings),
        "input": {"prompt": prompt},
        "output": {"text": summary.text},
        "last_fold": fold,
    }
    diagnostics.put(session, chat.key, turn, data)


def _parameters(settings: ChatSettings) -> dict[str, Any]:
    """The settings as they hold, like those a chat shows as effective."""
    return {**asdict(settings.rolling), "context_size": settings.rolling.window}


def _wanted(chat: Chat, settings: ChatSettings) -> bool:
    return settings.diagnostics and chat.strategy == Strategy.ROLLING
