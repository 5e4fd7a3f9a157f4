"""What the model is sent now (rolling-and-buffer.md, Projection): which messages, in which order, at what cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from app.core.blocks import BEGINNING, Block, Mark, blocks_of, cost, mark_of, place_of, sendable
from app.core.leaving import Leaving
from app.core.left_out import LeftOut, Unsent, explain
from app.core.model import Message, Outline
from app.core.notices import Tokens, notices
from app.core.sticky import advance
from app.core.tool_pairs import NOTHING, Coming, is_of_tool, orphans, with_results
from app.core.trim import replay

ToolHistory = Literal["pair", "omit"]


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of what every prompt of this request holds besides history; each part with its messages' overhead."""

    system: int = 0
    memory: int = 0
    tools: int = 0
    current: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """What a request or a view asks for: messages that are not sent, by key; whether past tool calls are; where the
    view's window began, None without a view: then the chat is replayed; and what comes behind the stored messages.
    """

    omitted: frozenset[int] = frozenset()
    tool_history: ToolHistory = "pair"
    window: Mark | None = None
    coming: Coming = NOTHING


PLAIN = Choice()


@dataclass(frozen=True, slots=True)
class Projection:
    """A prompt as a plan: the chat's own system prompt, history in order, and the open turn as `current`. `early`: what
    of the history counts as the system's, pinned messages from before the window.

    `window_turns` counts the visible closed turns sent, `dropped_turns` those a budget left out; `first_index` is
    where the window begins and `window` the same for a view to keep. `turns` are the costs of the uncovered turns.
    Warnings are codes of the contract.
    """

    prompt: tuple[Message, ...]
    history: tuple[Message, ...]
    current: tuple[Message, ...]
    early: tuple[Message, ...]
    first_index: int | None
    window_turns: int
    dropped_turns: int
    window: Mark
    turns: tuple[int, ...]
    tokens: Tokens
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]


def project(
    view: Outline,
    uncovered: Sequence[Message],
    total: int,
    costs: Costs,
    budget: int | None,
    choice: Choice = PLAIN,
) -> Projection:
    """The prompt for `view`, the outline of `uncovered`; `total` counts all messages of the chat.

    `costs.current` is what the request itself brings; the open turn is added here.
    """
    unsent = _unsent(view, uncovered, choice)
    blocks = blocks_of(view, unsent)
    leaving = Leaving(blocks, sendable(view.open, unsent))
    dropped = _dropped(blocks, leaving, costs, budget, choice.window)
    unsent = Unsent(unsent.omitted, unsent.orphans | leaving.torn(dropped))
    sent = _Sent(view, blocks, dropped, unsent)
    tokens = sent.tokens(costs, budget)
    left_out = explain(uncovered, total, sent.keys, unsent)
    return Projection(
        prompt=sent.prompt,
        history=sent.history,
        current=sent.current,
        early=sent.early,
        first_index=sent.first_index,
        window_turns=sum(block.is_turn for block in blocks[dropped:]),
        dropped_turns=sum(block.is_turn for block in blocks[:dropped]),
        window=mark_of(blocks, dropped, view.open[0].index if view.open else total, choice.window or BEGINNING),
        turns=tuple(block.droppable for block in blocks if block.is_turn),
        tokens=tokens,
        left_out=left_out,
        warnings=notices(tokens, {part.reason for part in left_out}),
    )


class _Sent:
    """The messages of a prompt whose oldest blocks are dropped."""

    def __init__(self, view: Outline, blocks: Sequence[Block], dropped: int, unsent: Unsent) -> None:
        numbered = list(enumerate(blocks))
        self.prompt = sendable(view.prompt, Unsent(unsent.omitted))
        self.history = sendable((m for i, block in numbered for m in block.sent(dropped=i < dropped)), unsent)
        self.current = sendable(view.open, unsent)
        self.early = sendable((m for i, block in numbered for m in block.early(dropped=i < dropped)), unsent)
        self._kept = [block for block in blocks[dropped:] if block.is_turn]

    @property
    def keys(self) -> set[int]:
        return {message.key for message in chain(self.prompt, self.history, self.current)}

    @property
    def first_index(self) -> int | None:
        """The first message of the oldest turn sent."""
        if self._kept:
            return self._kept[0].first_index
        return self.current[0].index if self.current else None

    def tokens(self, costs: Costs, budget: int | None) -> Tokens:
        early = cost(self.early)
        return Tokens(
            system=costs.system + early,
            tools=costs.tools,
            memory=costs.memory,
            history=cost(self.history) - early,
            current=costs.current + cost(self.current),
            budget=budget,
        )


def _unsent(view: Outline, uncovered: Sequence[Message], choice: Choice) -> Unsent:
    """What is not sent whatever the budget."""
    unfinished = frozenset(message.key for message in view.open)
    omitted = choice.omitted
    if choice.tool_history == "omit":
        omitted |= {message.key for message in uncovered if is_of_tool(message) and message.key not in unfinished}
    if not omitted:
        return Unsent(frozenset(), orphans(uncovered, unfinished, choice.coming))
    omitted = with_results(uncovered, omitted)
    left = [message for message in uncovered if message.key not in omitted]
    return Unsent(omitted, orphans(left, unfinished, choice.coming))


def open_calls(view: Outline, uncovered: Sequence[Message], choice: Choice) -> frozenset[str]:
    """Ids of the calls in the open turn that are sent: what a request's results can answer."""
    if not any(message.calls for message in view.open):
        return frozenset()
    unsent = _unsent(view, uncovered, choice)
    return frozenset(name for message in sendable(view.open, unsent) for name in message.calls)


def _dropped(blocks: Sequence[Block], leaving: Leaving, costs: Costs, budget: int | None, window: Mark | None) -> int:
    """How many of the oldest blocks are dropped: by a view's own window, else by playing the chat again."""
    start = 0 if window is None else place_of(blocks, window)
    if budget is None:
        return start
    fixed = costs.system + costs.memory + costs.tools + leaving.fixed
    turns, current = leaving.turns, costs.current + leaving.current
    if window is not None:
        return advance(turns, current, fixed, budget, start)
    if fixed + sum(turns) + current <= budget:
        return 0  # then it never was over: what was current in a step is part of that step's turn
    return replay(turns, [*leaving.currents, current], fixed, budget)
