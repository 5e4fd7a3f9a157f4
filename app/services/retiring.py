"""Taking the newest memory back where too few turns are left verbatim. No model is asked."""

from dataclasses import replace

from sqlmodel import Session

from app.core.model import Strategy
from app.core.retirement import turns_to_uncover
from app.services.reading import ChatState, read_state
from app.store import messages, snippets
from app.store.tables import Snippet


def retire(session: Session, state: ChatState) -> ChatState:
    """The state after the newest snippets have given way, if they must; what is planned meanwhile no longer holds."""
    if state.chat.strategy != Strategy.LAYERED:
        return state
    wanted = turns_to_uncover(state.view, state.settings.layered)
    live = [snippet.core.key for snippet in state.live]
    if not wanted or not live:
        return state
    while live and wanted > 0:
        newest = session.get(Snippet, live.pop())
        if newest is None:
            break
        parts = snippets.dissolve(session, newest)
        live += parts
        wanted -= 0 if parts else _uncover(session, newest)
    state.chat.memory_version += 1
    state.chat.epoch += 1
    session.flush()
    return replace(read_state(session, state.chat), warnings=state.warnings)


def _uncover(session: Session, leaf: Snippet) -> int:
    """Make a leaf's messages visible and forget it; how many turns that is."""
    column = messages.leaf_of(leaf.strategy)
    covered = snippets.covers(session, leaf.chat_key, [leaf.key]).get(leaf.key)
    if column is not None:
        messages.uncover(session, leaf.chat_key, column, leaf.key)
    leaf.state = "deleted"
    session.flush()
    return covered.turns if covered else 0
