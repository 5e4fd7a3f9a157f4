"""The turns that wait to be folded, by their sizes: all of them, however long the backlog is."""

from sqlmodel import Session

from app.core.batches import Stretch, sizes_of
from app.core.model import Outline, Role, Strategy
from app.services.reading import ChatState
from app.store import sizes


def read_waiting(session: Session, state: ChatState, *, reopened: int = 0) -> list[Stretch]:
    """The stretches of uncovered turns; none where nothing is ever folded.

    Of a state that holds only the oldest turns, the rest is read too; `reopened`: how many of its last replies end no
    turn after all (layered.md, Words).
    """
    if state.chat.strategy == Strategy.NONE:
        return []
    layers = _layers_behind(state)
    if not state.later:
        return sizes_of(state.view, layers)
    before, first = last_stretch(state)
    turns = sizes.turn_sizes(session, state.chat.key, state.chat.strategy, first)
    return [*sizes_of(before, layers), Stretch(turns[: len(turns) - reopened], preceded=state.last_covered is not None)]


def last_stretch(state: ChatState) -> tuple[Outline, int]:
    """The outline without its last stretch, and the place where the turns of that begin."""
    first = state.uncovered[-1].index
    for message in reversed(state.uncovered):
        if message.index < first - 1:
            break
        first = message.index
    if first == 0:  # no turn holds what stands before the first line
        spoken = (message.index for message in state.uncovered if message.role in (Role.USER, Role.ASSISTANT))
        first = next(spoken, state.total)
    return Outline(runs=tuple(run for run in state.view.runs if run.followed)), first


def _layers_behind(state: ChatState) -> list[int]:
    """The layers of the live snippets right after turns that wait, in order: late folds enter there."""
    between = [snippet.core.layer for snippet in state.live if snippet.core.key in state.apart]
    oldest = next(iter(state.view.runs), None)
    if oldest is None or oldest.preceded or not oldest.followed or not any(turn.coverable for turn in oldest.turns):
        return between
    first = [snippet.core.layer for snippet in state.live[:1]]  # a damaged chat may have none
    return [*first, *between]
