"""What a backlog will cost, before and while it is folded."""

from dataclasses import dataclass

from sqlmodel import Session

from app.core.batches import Batch
from app.core.estimate import Estimate, Terms, Written, estimate, factor
from app.core.summary import Connection
from app.errors import NotFound
from app.services.connections import EXTRACTIVE, Connections
from app.services.counters import ChatCounters
from app.services.prompts import Material, PromptLibrary
from app.services.reading import ChatState
from app.store import sizes

_SPEAKER = 4
"""Tokens of a name before a line, a colon and the line's end, about."""

_LINES_TO_LEARN_FROM = 64


@dataclass(frozen=True)
class Estimating:
    """Foresees calls and what they are sent."""

    prompts: PromptLibrary
    counters: ChatCounters
    connections: Connections

    def of(self, session: Session, state: ChatState, batches: list[Batch]) -> Estimate:
        """What these folds of a chat take, the merges they cause included."""
        layers: list[list[int]] = []
        for snippet in state.live:
            layers.extend([] for _ in range(snippet.core.layer + 1 - len(layers)))
            layers[snippet.core.layer].append(snippet.core.tokens)
        return estimate(batches, layers, state.settings.layered, self._terms(session, state)) if batches else Estimate()

    def _terms(self, session: Session, state: ChatState) -> Terms:
        layered, connection = state.settings.layered, self._connection(session, state)
        material = Material("User", "Assistant", "", "", state.settings.output_language)
        count = self.counters.counter_for(session, state.settings)
        fold, merge = (
            count(prompt.system) + count(prompt.user)
            for prompt in (self.prompts.render_fold(layered, material), self.prompts.render_merge(layered, material))
        )
        made = sizes.made_lately(session, state.chat.key, state.chat.strategy, _LINES_TO_LEARN_FROM)
        fold_factor = factor(_written(made, merges=False), layered)
        return Terms(
            fold_prompt=fold,
            merge_prompt=merge,
            speaker=_SPEAKER,
            width=width(connection, layered.backlog_concurrency),
            window=connection.context_size if connection else None,
            fold_factor=fold_factor,
            merge_factor=factor(_written(made, merges=True), layered, fold_factor),
        )

    def _connection(self, session: Session, state: ChatState) -> Connection | None:
        try:
            return self.connections.describe(session, state.settings.connection)
        except NotFound:
            return None


def width(connection: Connection | None, wanted: int) -> int:
    """How many calls run at once (`app.services.planning`)."""
    if connection is None or connection.provider == EXTRACTIVE.provider:
        return 1
    return max(1, min(wanted, connection.concurrency))


def _written(made: list[sizes.Made], *, merges: bool) -> Written:
    chosen = [one for one in made if (one.kind == "merge") is merges]
    return Written([one.tokens for one in chosen], [one.source_tokens for one in chosen])
