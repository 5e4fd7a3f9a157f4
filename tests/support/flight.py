"""Several steps of a chat under way at once, in plain Python: whoever calls says which answer comes back next."""

from collections.abc import Callable
from dataclasses import replace

from app.core.folding import DRAIN, Fold, plan_fold
from app.core.promotion import Merge, Promotion, Seed
from app.core.turns import outline
from app.core.underway import Underway, first_to_commit, promote_beside
from tests.support.replay import Chat

Pick = Callable[[int], int]
"""From how many things there are to the one that is meant."""


class Flight:
    """A run over a chat with up to `width` calls at once; a merge answers as `Memory.carry_out` does."""

    def __init__(self, chat: Chat, width: int) -> None:
        self.chat, self.width = chat, width
        self.steps: list[Fold | Promotion] = []
        self.answered: list[bool] = []
        self.most_at_once = 0
        self.merges: list[tuple[int, ...]] = []
        self.left: frozenset[int] = frozenset()

    def run(self, pick: Pick, fails: Callable[[Fold], bool] = lambda _: False) -> None:
        """To the end; `fails` says which folds bring nothing."""
        while True:
            self._begin()
            if not self.steps:
                return
            self._answer_one(pick)
            self._commit_ready(fails)

    def cut(self, pick: Pick, answers: int) -> None:
        """So many answers, and then nothing more."""
        for _ in range(answers):
            self._begin()
            if not self.steps:
                return
            self._answer_one(pick)
            self._commit_ready(lambda _: False)

    @property
    def underway(self) -> Underway:
        return Underway(
            folds=tuple(step for step in self.steps if isinstance(step, Fold)),
            promotions=tuple(step for step in self.steps if isinstance(step, Merge | Seed)),
            left=self.left,
        )

    def _begin(self) -> None:
        while self.answered.count(False) < self.width and self._ready() is None and (step := self._next()):
            self.steps.append(step)
            self.answered.append(isinstance(step, Seed))
            self.most_at_once = max(self.most_at_once, self.answered.count(False))

    def _next(self) -> Fold | Promotion | None:
        chat, underway = self.chat, self.underway
        apart = chat.apart()
        promotion = promote_beside(chat.memory.live, chat.settings, underway, shrink=True, apart=apart)
        if promotion or len(underway.folds) >= self.width:
            return promotion
        taken = underway.taken
        uncovered = [message for message in chat.uncovered if message.key not in taken]
        return plan_fold(outline(uncovered, len(chat.messages)), chat.settings, DRAIN)

    def _answer_one(self, pick: Pick) -> None:
        waiting = [place for place, answered in enumerate(self.answered) if not answered]
        if waiting:
            self.answered[waiting[pick(len(waiting))]] = True

    def _ready(self) -> int | None:
        chains = ["fold" if isinstance(step, Fold) else "promotion" for step in self.steps]
        return first_to_commit(list(zip(chains, self.answered, strict=True)))

    def _commit_ready(self, fails: Callable[[Fold], bool]) -> None:
        while (place := self._ready()) is not None:
            step = self.steps.pop(place)
            self.answered.pop(place)
            if isinstance(step, Fold) and fails(step):
                self.left |= {message.key for message in step.covers}
            else:
                self._commit(step)

    def _commit(self, step: Fold | Promotion) -> None:
        if isinstance(step, Fold):
            self.chat.fold(replace(step, late=self.chat.following(step.last_index) is not None), 10)
        elif isinstance(step, Merge):
            self.merges.append(tuple(source.key for source in step.sources))
            self.chat.merge(step, 10)
        else:
            self.chat.memory.carry_out(step)
