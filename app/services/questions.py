"""When the question about a backlog is settled without anybody being asked (layered.md, Backlog)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlmodel import Session

from app.core.folding import most_without_backlog
from app.core.resolving import resolve
from app.core.settings import ChatSettings, LayeredSettings
from app.services.reading import ChatState, read_state
from app.store import sizes
from app.store.tables import Chat


def begin(chat: Chat) -> None:
    """Folding has begun, or goes on by itself: from now on nobody is asked."""
    chat.backlog_answer = chat.backlog_answer or "began"


def note_new_settings(state: ChatState, before: ChatSettings) -> None:
    """A chat that holds a backlog only since its settings were changed did not come in old: it folds unasked."""
    unasked = state.chat.backlog_answer is None and not state.live
    if unasked and state.has_backlog and not replace(state, settings=before).has_backlog:
        begin(state.chat)


def note_new_server_settings(session: Session, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """The same for all chats that follow the server's settings."""
    least, most = (_least_turns(resolve(values, {})[0].layered) for values in (after, before))
    for chat in sizes.unasked(session, least, most) if least < most else ():
        note_new_settings(read_state(session, chat), resolve(before, chat.settings)[0])


def _least_turns(settings: LayeredSettings) -> int:
    """How many turns make a chat that has a backlog."""
    return settings.verbatim_turns + most_without_backlog(settings) + 1
