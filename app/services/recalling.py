"""Having waiting calls asked anew when what they tell has changed: one that nobody has taken might wait for ever."""

from sqlmodel import Session

from app.core.settings import ChatSettings
from app.store import client_calls
from app.store.clock import now_ms


def recall(session: Session, chat_key: int | None, before: ChatSettings, after: ChatSettings) -> None:
    """The calls of a chat, or of all chats: those that nobody holds, all of them where others are to be asked now."""
    if before == after:
        return
    recall_untaken(session, chat_key)
    if _asked(before) != _asked(after):
        recall_all(session, chat_key)


def recall_untaken(session: Session, chat_key: int | None) -> None:
    """Those that nobody holds: what was edited, deleted or renamed since is not told any more."""
    client_calls.withdraw(session, client_calls.untaken(chat_key, now_ms()))


def recall_all(session: Session, chat_key: int | None) -> None:
    """Those that somebody answers, too: the answer would be thrown away."""
    client_calls.withdraw(session, client_calls.of_chat(chat_key))


def _asked(settings: ChatSettings) -> tuple[str | None, ...]:
    buffer = settings.summary_buffer
    return (
        *(settings.connection, settings.merge_connection, settings.fallback_connection),
        *(buffer.llm_source, buffer.connection),
    )
