"""A memory and a chat in plain Python, on which plans are carried out one after the other."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from app.core.folding import AUTO, DRAIN, Fold, Mode, plan_fold, turns_over_window
from app.core.model import Message, Outline, Snippet
from app.core.promotion import Merge, Promotion, Seed, plan_promotion
from app.core.settings import LayeredSettings
from app.core.turns import outline

Answer = Callable[[int], int | None]
"""From the tokens of what is summarized to the tokens of the summary; None: the call failed or was cancelled."""


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

    def add(self, snippet: Snippet, before: Snippet | None = None) -> None:
        """A fold's snippet comes last, a late one before the snippet that follows it."""
        self.live.insert(self.live.index(before) if before else len(self.live), snippet)

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

    def carry_out(self, plan: Promotion, tokens: int | None = None) -> Snippet:
        """Move or merge; gives the snippet that stands there now."""
        if isinstance(plan, Seed):
            self.seeds += 1
            made = replace(plan.snippet, layer=plan.layer)
            self._put(made, [plan.snippet])
            return made
        self.merges += 1
        grown = max(1, int(self.growth * sum(source.tokens for source in plan.sources)))
        made = Snippet(self.next_key(), plan.layer, grown if tokens is None else tokens)
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


class Chat:
    """Messages, live snippets, and which of these covers which message (`under`: message key to snippet key)."""

    def __init__(self, settings: LayeredSettings) -> None:
        self.memory = Memory(settings)
        self.messages: list[Message] = []
        self.under: dict[int, int] = {}
        self._keys = 0

    @property
    def settings(self) -> LayeredSettings:
        return self.memory.settings

    @settings.setter
    def settings(self, settings: LayeredSettings) -> None:
        self.memory.settings = settings

    # What is stored, as decisions see it

    @property
    def uncovered(self) -> list[Message]:
        """The messages no live snippet covers."""
        return [message for message in self.messages if message.key not in self.under]

    @property
    def view(self) -> Outline:
        """The uncovered turns."""
        inside = [range(first, last) for first, last in self.ranges().values()]
        enclosed = {m.key for m in self.uncovered if any(m.index in places for places in inside)}
        return outline(self.uncovered, len(self.messages), enclosed=enclosed)

    def ranges(self) -> dict[int, tuple[int, int]]:
        """The first and last index under each live snippet."""
        found: dict[int, tuple[int, int]] = {}
        for message in self.messages:
            if (key := self.under.get(message.key)) is not None:
                found[key] = (found.get(key, (message.index,))[0], message.index)
        return found

    def following(self, index: int) -> Snippet | None:
        """The live snippet over the first covered message after a place."""
        keys = (self.under.get(message.key) for message in self.messages[index + 1 :])
        key = next((key for key in keys if key is not None), None)
        return next((snippet for snippet in self.memory.live if snippet.key == key), None)

    def apart(self) -> set[int]:
        """Snippets right before which turns lie that may still fold."""
        runs = [run for run in self.view.runs if run.preceded and run.followed and not run.enclosed]
        last = [turn.messages[-1].index for run in runs for turn in run.turns if turn.coverable]
        return {snippet.key for index in last if (snippet := self.following(index))}

    # What happens to it

    def append(self, messages: Iterable[Message]) -> None:
        """New messages at the end."""
        for message in messages:
            self.insert(len(self.messages), message)

    def insert(self, place: int, message: Message) -> None:
        """A new message somewhere."""
        self._keys += 1
        self.messages.insert(place, message._replace(key=self._keys))
        self._number()

    def remove(self, place: int) -> None:
        """A message goes; a snippet with nothing left under it goes too."""
        self._uncover(self.messages.pop(place).key)
        self._number()

    def hide(self, place: int, *, hidden: bool) -> None:
        """A hidden message is under no snippet."""
        self._mark(place, self.messages[place]._replace(hidden=hidden), out=hidden)

    def pin(self, place: int, *, pinned: bool) -> None:
        """A pinned message is under no snippet."""
        self._mark(place, self.messages[place]._replace(pinned=pinned), out=pinned)

    def skip(self, keys: Collection[int] = ()) -> None:
        """The turns over the window stay as they are, or these messages do."""
        over = turns_over_window(self.view, self.settings)
        keys = keys or {message.key for turn in over for message in turn.messages}
        self.messages = [
            m._replace(skipped=True) if m.key in keys and m.key not in self.under else m for m in self.messages
        ]

    def take_up_skipped(self) -> None:
        """Nothing is skipped any more."""
        self.messages = [message._replace(skipped=False) for message in self.messages]

    def forget(self, place: int) -> None:
        """A live snippet is deleted: what it covers is visible again."""
        key = self.memory.live.pop(place).key
        self.under = {message: snippet for message, snippet in self.under.items() if snippet != key}

    # What folding does

    def run(self, answer: Answer, mode: Mode = AUTO, check: Callable[[Fold | Promotion], None] | None = None) -> int:
        """A job, as services run it: promotions before the next fold, until nothing is due or a call fails.

        `check` looks at every plan before it is carried out. Gives the number of steps.
        """
        steps, shrink = 0, True
        while plan := self._due(mode, shrink=shrink):
            if check:
                check(plan)
            made = self._carry_out(plan, answer)
            if made is None:
                break
            steps += 1
            if isinstance(plan, Fold):
                mode, shrink = DRAIN if mode == AUTO else mode, True
            elif isinstance(plan, Merge) and plan.for_tokens:
                shrink = made.tokens < sum(source.tokens for source in plan.sources)
        return steps

    def fold_due(self, mode: Mode) -> Fold | None:
        """The next fold."""
        return plan_fold(self.view, self.settings, mode)

    def _due(self, mode: Mode, *, shrink: bool) -> Fold | Promotion | None:
        promotion = plan_promotion(self.memory.live, self.settings, shrink=shrink, apart=self.apart())
        return promotion or self.fold_due(mode)

    def _carry_out(self, plan: Fold | Promotion, answer: Answer) -> Snippet | None:
        if isinstance(plan, Seed):
            return self.memory.carry_out(plan)
        parts = plan.sources if isinstance(plan, Merge) else plan.passage
        tokens = answer(sum(part.tokens for part in parts))
        if tokens is None:
            return None
        return self.merge(plan, tokens) if isinstance(plan, Merge) else self.fold(plan, tokens)

    def merge(self, plan: Merge, tokens: int) -> Snippet:
        """Carry a merge out."""
        made = self.memory.carry_out(plan, tokens)
        sources = {source.key for source in plan.sources}
        self.under = {message: made.key if key in sources else key for message, key in self.under.items()}
        return made

    def fold(self, plan: Fold, tokens: int) -> Snippet:
        """Carry a fold out."""
        following = self.following(plan.last_index) if plan.late else None
        made = Snippet(self.memory.next_key(), following.layer if following else 0, tokens)
        self.memory.add(made, before=following)
        self.under |= {message.key: made.key for message in plan.covers}
        covered = set(self.under)
        self.messages = [m._replace(skipped=False) if m.key in covered else m for m in self.messages]
        return made

    def _mark(self, place: int, message: Message, *, out: bool) -> None:
        self.messages[place] = message
        if out:
            self._uncover(message.key)

    def _uncover(self, key: int) -> None:
        snippet = self.under.pop(key, None)
        if snippet is not None and snippet not in self.under.values():
            self.memory.live = [other for other in self.memory.live if other.key != snippet]

    def _number(self) -> None:
        self.messages = [message._replace(index=index) for index, message in enumerate(self.messages)]
