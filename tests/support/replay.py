"""A memory and a chat in plain Python, on which plans are carried out one after the other."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from app.core.model import Snippet
from app.core.promotion import Merge, Promotion, Seed, plan_promotion
from app.core.settings import LayeredSettings


class Memory:
    """Live snippets in reading order. Merged answers have `growth` times the tokens of what they merge."""

    def __init__(self, settings: LayeredSettings, live: Sequence[Snippet] = (), growth: float = 0.5) -> None:
        self.settings = settings
        self.live = list(live)
        self.growth = growth
        self.merges = self.seeds = 0
        self._keys = max((snippet.key for snippet in live), default=0)

    def next_key(self) -> int:
        """A key nobody has."""
        self._keys += 1
        return self._keys

    def add(self, snippet: Snippet) -> None:
        """A fold's snippet comes last."""
        self.live.append(snippet)

    def counts(self) -> list[int]:
        """Snippets per layer."""
        sizes = Counter(snippet.layer for snippet in self.live)
        return [sizes[layer] for layer in range(max(sizes, default=-1) + 1)]

    def settle(self, apart: Collection[int] = ()) -> None:
        """Promote until nothing is due."""
        shrink = True
        while plan := plan_promotion(self.live, self.settings, shrink=shrink, apart=apart):
            made = self.carry_out(plan)
            if isinstance(plan, Merge) and plan.for_tokens:
                shrink = made.tokens < sum(source.tokens for source in plan.sources)

    def carry_out(self, plan: Promotion) -> Snippet:
        """Move or merge; gives the snippet that stands there now."""
        if isinstance(plan, Seed):
            self.seeds += 1
            made = replace(plan.snippet, layer=plan.layer)
            self._put(made, [plan.snippet])
            return made
        self.merges += 1
        tokens = max(1, int(self.growth * sum(source.tokens for source in plan.sources)))
        made = Snippet(self.next_key(), plan.layer, tokens)
        self._put(made, plan.sources)
        return made

    def _put(self, made: Snippet, sources: Sequence[Snippet]) -> None:
        """In place within one layer, else at the end of the destination."""
        place = self.live.index(sources[0])
        gone = {source.key for source in sources}
        rest = [snippet for snippet in self.live if snippet.key not in gone]
        if made.layer != sources[0].layer:
            place = sum(1 for snippet in rest if snippet.layer >= made.layer)
        self.live = [*rest[:place], made, *rest[place:]]
