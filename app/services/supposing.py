"""A chat as it would be with another kind of memory, as that is by now. Nothing is stored, and nothing is switched."""

from collections.abc import Sequence
from dataclasses import replace

from sqlmodel import Session

from app.core.model import Strategy
from app.core.retirement import turns_to_uncover
from app.services.reading import ChatState, read_history, read_state
from app.store import messages, snippets, trees
from app.store.snippets import LiveSnippet
from app.store.tables import Chat


def suppose(session: Session, chat: Chat, strategy: str) -> ChatState:
    """What a prompt of the chat would be planned from right after a switch; `memory_version` stays the present one.

    `chat` belongs to no session (`look_at`): nothing of what is only supposed is ever written.
    """
    chat.strategy = strategy
    chat.last_error = chat.retry_at = None
    state = read_history(session, chat, for_prompt=True)
    live = snippets.live(session, chat.key, strategy)
    if strategy != Strategy.LAYERED or state.settings.replays_all:
        return replace(state, supposed=live)
    return _after_retiring(session, state, live)


def _after_retiring(session: Session, state: ChatState, live: Sequence[LiveSnippet]) -> ChatState:
    """What `retire` would leave: layered memory that slept while messages went gives turns back."""
    chat, wanted = state.chat, turns_to_uncover(read_state(session, state.chat).view, state.settings.layered)
    left, leaves = list(live), []
    while left and wanted > 0:
        newest = left.pop().core.key
        parts = trees.parts(session, newest)
        left += [snippets.as_live(part) for part in parts]
        if not parts:
            leaves.append(newest)
            covers = snippets.covers(session, chat.key, [newest]).get(newest)
            wanted -= covers.turns if covers else 0
    column = messages.leaf_of(chat.strategy)
    bare = messages.covered(session, chat.key, column, leaves) if column is not None and leaves else []
    uncovered = sorted([*state.uncovered, *bare], key=lambda message: message.index)
    return replace(state, uncovered=uncovered, supposed=left)
