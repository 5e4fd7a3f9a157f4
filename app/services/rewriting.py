"""What memory that is one summary folds next: rolling memory and the summary buffer (rolling-and-buffer.md)."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.buffer import plan_buffer
from app.core.model import Strategy, Turn
from app.core.rewrite import Rewrite, Skip, SkipReason
from app.core.rolling import plan_rolling, skipped
from app.core.summary import Connection
from app.services.diagnosing import note_skip
from app.services.reading import ChatState
from app.services.retelling import Retelling

_ALL = ("summarize", "backlog")


@dataclass(frozen=True)
class Rewriting:
    """Plans the folds of a job within what the summarizer's window holds."""

    retelling: Retelling

    def next(self, state: ChatState, kind: str, done: int, connection: Connection) -> Rewrite | Skip:
        """The next fold of a job of a kind that has made `done` of them, or why there is none."""
        room = self.retelling.room(state, state.live[0].text if state.live else "", connection)
        if state.chat.strategy == Strategy.SUMMARY_BUFFER:
            return self._next_of_buffer(state, kind, done, room)
        settings = state.settings.rolling
        if done and not (kind in _ALL or (kind == "fold" and settings.catch_up)):
            return skipped("below_threshold", state.dialog, settings)
        return plan_rolling(state.dialog, settings, room, self.retelling.told, forced=kind != "fold")

    def _next_of_buffer(self, state: ChatState, kind: str, done: int, room: int) -> Rewrite | Skip:
        """Once a fold is due all of it is made, in chunks."""
        forced = kind in _ALL or (kind == "one") != bool(done)
        found = plan_buffer(state.buffered, state.settings.summary_buffer, room, self.retelling.told, forced=forced)
        return (
            Skip("below_threshold", len(state.buffered.turns)) if found is None or (kind == "one" and done) else found
        )


def check(state: ChatState, *, forced: bool = False) -> Rewrite | Skip:
    """The same without a look at the summarizer's window: whether a fold is due at all."""
    if state.chat.strategy == Strategy.ROLLING:
        return plan_rolling(state.dialog, state.settings.rolling, None, _own, forced=forced)
    found = plan_buffer(state.buffered, state.settings.summary_buffer, None, _own, forced=forced)
    return found or Skip("below_threshold", len(state.buffered.turns))


def is_due(state: ChatState, *, forced: bool = False) -> bool:
    """Whether a fold is due."""
    return isinstance(check(state, forced=forced), Rewrite)


def report(state: ChatState) -> Skip | None:
    """Why the last check of rolling memory folded nothing, as it stands now; None if it did, or another memory is."""
    if state.chat.strategy != Strategy.ROLLING:
        return None
    found = check(state)
    if isinstance(found, Skip):
        return found
    failed = (state.chat.last_error or {}).get("skip")
    return skipped(failed, state.dialog, state.settings.rolling) if failed else None


def note_skipped(session: Session, state: ChatState, reason: SkipReason) -> None:
    """Keep why nothing was folded after the newest turn, for who asks for diagnostics."""
    if state.chat.strategy == Strategy.ROLLING:
        told = skipped(reason, state.dialog, state.settings.rolling)
        note_skip(session, state.chat, state.settings, state.dialog.size - 1, told)


def _own(turn: Turn) -> int:
    return turn.tokens
