"""What memory that is one summary folds next: rolling memory and the summary buffer (rolling-and-buffer.md)."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.buffer import plan_buffer
from app.core.model import Strategy, Turn
from app.core.resolving import resolve
from app.core.rewrite import Rewrite, Skip, SkipReason
from app.core.rolling import plan_rolling, skipped
from app.core.summary import Connection
from app.services.choosing import Headway
from app.services.diagnosing import note_skip
from app.services.reading import ChatState, read_state
from app.services.retelling import Retelling
from app.store import chats
from app.store.tables import Chat, Job

_ALL = ("summarize", "backlog")


@dataclass(frozen=True)
class Rewriting:
    """Plans the folds of a job within what the summarizer's window holds."""

    retelling: Retelling

    def next(self, state: ChatState, job: Job, headway: Headway, connection: Connection) -> Rewrite | Skip:
        """The next fold of a job, or why there is none."""
        room = self.retelling.room(state, state.live[0].text if state.live else "", connection)
        if state.chat.strategy == Strategy.SUMMARY_BUFFER:
            return self._next_of_buffer(state, job.kind, headway, room)
        settings = state.settings.rolling
        # Each reply that joined the job has raised its total (starting.queue), and is checked for itself.
        goes_on = job.kind in _ALL or job.done < job.total or (job.kind == "fold" and settings.catch_up)
        if headway.folds and not goes_on:
            return skipped("below_threshold", state.dialog, settings)
        return plan_rolling(state.dialog, settings, room, self.retelling.told, forced=job.kind != "fold")

    def _next_of_buffer(self, state: ChatState, kind: str, headway: Headway, room: int) -> Rewrite | Skip:
        """Once a fold is due all of it is made, in chunks."""
        nothing = Skip("below_threshold", len(state.buffered.turns))
        if kind == "one" and headway.folds:
            return nothing
        forced = kind != "fold" or headway.rest
        if headway.folds and not forced:
            return nothing
        settings = state.settings.summary_buffer
        return plan_buffer(state.buffered, settings, room, self.retelling.told, forced=forced) or nothing


def check(state: ChatState, *, forced: bool = False) -> Rewrite | Skip:
    """The same without a look at the summarizer's window: whether a fold is due at all."""
    if state.chat.strategy == Strategy.ROLLING:
        return plan_rolling(state.dialog, state.settings.rolling, None, _own, forced=forced)
    if not state.rewrites:
        return Skip("empty_dialog")
    found = plan_buffer(state.buffered, state.settings.summary_buffer, None, _own, forced=forced)
    return found or Skip("below_threshold", len(state.buffered.turns))


def is_due(state: ChatState, *, forced: bool = False) -> bool:
    """Whether a fold is due."""
    return isinstance(check(state, forced=forced), Rewrite)


def report(state: ChatState) -> Skip | None:
    """Why the last check of rolling memory folded nothing, as it stands now; None if it did, or another memory is."""
    rolling = state.settings.rolling
    if state.chat.strategy != Strategy.ROLLING or not (rolling.trigger_tokens or rolling.trigger_turns):
        return None
    found = check(state)
    if isinstance(found, Skip):
        return found
    failed = (state.chat.last_error or {}).get("skip")
    return skipped(failed, state.dialog, state.settings.rolling) if failed else None


def note_skipped(session: Session, chat: Chat, reason: SkipReason) -> None:
    """Keep why nothing was folded after the newest turn, for who asks for diagnostics."""
    wanted = chat.strategy == Strategy.ROLLING and resolve(chats.server_settings(session), chat.settings)[0].diagnostics
    if wanted:
        state = read_state(session, chat)
        told = skipped(reason, state.dialog, state.settings.rolling)
        note_skip(session, state.chat, state.settings, state.dialog.size - 1, told)


def _own(turn: Turn) -> int:
    return turn.tokens
