"""What a run has planned and not committed yet, and what may be planned beside it (layered.md, Backlog).

Plans are made on what is stored. Where several calls run at once, stored state does not hold what they will bring, so
it is looked at here as if their folds had covered their messages and their merges had taken their sources' place.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from app.core.folding import Fold
from app.core.model import Message, Snippet
from app.core.promotion import Merge, Promotion, Seed, plan_promotion
from app.core.settings import LayeredSettings


@dataclass(frozen=True, slots=True)
class Underway:
    """The steps that are planned and not committed, in the order they were planned.

    `remakes`: how many snippets are being made anew. `left` are the keys of messages that this run does not try to fold
    again, and `promotes` whether it still promotes: a step that failed stops no other.
    """

    folds: tuple[Fold, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    remakes: int = 0
    left: frozenset[int] = field(default_factory=frozenset)
    promotes: bool = True

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self.folds or self.promotions or self.remakes)

    @property
    def taken(self) -> frozenset[int]:
        """The keys of the messages that no further fold may take."""
        return self.left.union(message.key for fold in self.folds for message in fold.covers)


def raw_before(uncovered: Sequence[Message], fold: Fold, taken: Collection[int]) -> tuple[Message, ...]:
    """The messages right before a fold that other folds of the run are to cover, or have failed to, by index.

    `uncovered` ascends by index; what lies before the newest covered message is told by a snippet already.
    """
    first = fold.turns[0].messages[0].index
    found: list[Message] = []
    expected = first - 1
    for message in reversed([message for message in uncovered if message.index < first]):
        if message.index != expected:
            break
        expected -= 1
        if message.key in taken and message.visible and not message.blank:
            found.append(message)
    return tuple(reversed(found))


def newest_within(messages: Sequence[Message], limit: int) -> tuple[Message, ...]:
    """The newest of these that hold no more than `limit` tokens together, by index."""
    start, room = len(messages), limit
    while start and messages[start - 1].tokens <= room:
        start -= 1
        room -= messages[start].tokens
    return tuple(messages[start:])


def promote_beside(
    live: Sequence[Snippet], settings: LayeredSettings, underway: Underway, *, shrink: bool, apart: Collection[int]
) -> Promotion | None:
    """The next promotion, or None also where it must wait for one that is under way.

    The same merges are made as one after the other: only what memory_tokens asks for depends on what merges bring, and
    so waits for all of them.
    """
    if not underway.promotes or any(isinstance(step, Seed) for step in underway.promotions):
        return None
    memory, borders = list(live), set(apart)
    for number, step in enumerate(underway.promotions):
        if isinstance(step, Merge) and not _stand_in(memory, borders, step, -1 - number):
            return None
    plan = plan_promotion(memory, settings, shrink=shrink and not underway.promotions, apart=borders)
    return None if plan is None or any(snippet.key < 0 for snippet in _sources(plan)) else plan


def _stand_in(memory: list[Snippet], borders: set[int], merge: Merge, key: int) -> bool:
    """Put something in the place of a merge's sources; False if these are not there any more."""
    keys = [snippet.key for snippet in memory]
    if any(source.key not in keys for source in merge.sources):
        return False
    start = keys.index(merge.sources[0].key)
    merged = Snippet(key, merge.layer, sum(source.tokens for source in merge.sources))
    if merge.sources[0].key in borders:
        borders.add(key)
    gone = {source.key for source in merge.sources}
    memory[:] = [snippet for snippet in memory if snippet.key not in gone]
    in_place = merge.layer == merge.sources[0].layer
    end = next((place for place, snippet in enumerate(memory) if snippet.layer < merge.layer), len(memory))
    memory.insert(start if in_place else end, merged)
    return True


def _sources(plan: Promotion) -> tuple[Snippet, ...]:
    return (plan.snippet,) if isinstance(plan, Seed) else plan.sources


def first_to_commit(order: Sequence[tuple[str, bool]]) -> int | None:
    """The place of the first step that may be committed now; None if all must wait.

    Each step is a chain it belongs to (folds commit in order among themselves, promotions among themselves) and
    whether its answer is there.
    """
    waiting: set[str] = set()
    for place, (chain, answered) in enumerate(order):
        if answered and chain not in waiting:
            return place
        waiting.add(chain)
    return None
